"""What an independent reading of a certificate found, as people read it."""

from rich.console import Group, RenderableType

from dpaudit.render.layout import headline, inset, section
from dpaudit.verifier import Verification
from dpaudit.wording.markdown import bullets, cell


def verification_text(held: Verification) -> RenderableType:
    """Return the outcome for a terminal."""
    word, colour = _word(held)
    return Group(
        headline(word, colour, summary(held)),
        *([section("Complaints"), *(inset(f"✗ {line}") for line in held.complaints)] if held.complaints else []),
        *([section("Notes"), *map(inset, held.notes)] if held.notes else []),
    )


def verification_markdown(held: Verification) -> str:
    """Return the outcome as Markdown."""
    parts = [f"## {_word(held)[0]}", cell(summary(held)), bullets(held.complaints), bullets(held.notes)]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary(held: Verification) -> str:
    """Return the outcome in one sentence."""
    verdict = held.verdict.replace("_", " ")
    if held.accepted:
        return (
            f"An independent reading of the certificate comes to the same numbers and the same verdict: {verdict}. "
            "What a run saw (its conditions and findings) is taken from the certificate."
        )
    return f"The certificate says {verdict}, and an independent reading of it does not agree."


def _word(held: Verification) -> tuple[str, str]:
    """Return the outcome's word and colour; a verified certificate of a claim that fails is no good news."""
    if not held.accepted:
        return "REJECTED", "red"
    return "VERIFIED", "green" if held.verdict == "certified" else "yellow"
