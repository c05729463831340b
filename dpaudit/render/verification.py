"""The result of an independent verification on a terminal and as Markdown."""

from rich.console import Group, RenderableType

from dpaudit.render.layout import headline, inset, section
from dpaudit.verifier import Verification
from dpaudit.wording.markdown import bullets, cell


def verification_text(verification: Verification) -> RenderableType:
    """Return the outcome for a terminal."""
    word, colour = _word(verification)
    return Group(
        headline(word, colour, summary(verification)),
        *(
            [section("Complaints"), *(inset(f"✗ {line}") for line in verification.complaints)]
            if verification.complaints
            else []
        ),
        *([section("Notes"), *map(inset, verification.notes)] if verification.notes else []),
    )


def verification_markdown(verification: Verification) -> str:
    """Return the outcome as Markdown."""
    parts = [
        f"## {_word(verification)[0]}",
        cell(summary(verification)),
        bullets(verification.complaints),
        bullets(verification.notes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary(verification: Verification) -> str:
    """Return the outcome in one sentence."""
    verdict = verification.verdict.replace("_", " ")
    if verification.accepted:
        return (
            f"An independent reading of the certificate comes to the same numbers and the same verdict: {verdict}. "
            "What a run saw (its conditions and findings) is taken from the certificate."
        )
    return f"The certificate says {verdict}, and an independent reading of it does not agree."


def _word(verification: Verification) -> tuple[str, str]:
    """Return the word and colour of the result; a verified certificate is green only if it certifies."""
    if not verification.accepted:
        return "REJECTED", "red"
    return "VERIFIED", "green" if verification.verdict == "certified" else "yellow"
