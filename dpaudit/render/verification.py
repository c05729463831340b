"""What an independent reading of a certificate found, as people read it."""

from typing import Any

from rich.console import Group, RenderableType

from dpaudit.render.layout import headline, inset, section
from dpaudit.render.markup import bullets, cell
from dpaudit.render.outline import outline
from dpaudit.verifier import Verification


def verification_text(held: Verification) -> RenderableType:
    """Return the outcome for a terminal."""
    word, colour = _word(held)
    return Group(
        headline(word, colour, summary(held)),
        *([section("Complaints"), *(inset(f"✗ {line}") for line in held.complaints)] if held.complaints else []),
        *([section("Claim"), inset(_claim(held.claim))] if held.claim else []),
        *([section("Declaration"), *map(inset, outline(held.declaration))] if held.declaration else []),
        *([section("Digest"), inset(held.digest)] if held.digest else []),
        *([section("Notes"), *map(inset, held.notes)] if held.notes else []),
    )


def verification_markdown(held: Verification) -> str:
    """Return the outcome as Markdown."""
    said = [cell(f"Claim: {_claim(held.claim)}.")] if held.claim else []
    if held.declaration:
        said.append("\n".join(["```text", *outline(held.declaration), "```"]))
    if held.digest:
        said.append(f"Digest: {held.digest}")
    parts = [f"## {_word(held)[0]}", cell(summary(held)), bullets(held.complaints), *said, bullets(held.notes)]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary(held: Verification) -> str:
    """Return the outcome in one sentence."""
    verdict = held.verdict.replace("_", " ")
    if held.accepted:
        return (
            f"An independent reading of the certificate comes to the same numbers and the same verdict: {verdict}. "
            "What a run saw (its conditions and findings) is taken from the certificate."
        )
    if held.verdict == "refused":
        return "The file was altered, or has not the form of a certificate; nothing in it is confirmed."
    return f"The certificate says {verdict}, and an independent reading of it does not agree."


def _claim(claim: dict[str, Any]) -> str:
    """Return a claim on one line."""
    order = ("epsilon", "delta", "neighbours", "model", "unit")
    return ", ".join(f"{name} {claim[name]}" for name in order)


def _word(held: Verification) -> tuple[str, str]:
    """Return the outcome's word and colour; a verified certificate of a claim that fails is no good news."""
    if not held.accepted:
        return "REJECTED", "red"
    return "VERIFIED", "green" if held.verdict == "certified" else "yellow"
