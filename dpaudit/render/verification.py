"""The result of an independent verification on a terminal and as Markdown."""

from typing import Any

from rich.console import Group, RenderableType

from dpaudit.render.layout import headline, inset, section
from dpaudit.render.outline import outline
from dpaudit.verifier import Verification
from dpaudit.wording.escaping import one_line
from dpaudit.wording.markdown import bullets, cell


def verification_text(verification: Verification) -> RenderableType:
    """Return the outcome for a terminal."""
    word, colour = _word(verification)
    claim, declaration = verification.claim, verification.declaration
    sections = [
        ("Complaints", [f"✗ {line}" for line in verification.complaints]),
        ("Not confirmed", [f"? {line}" for line in verification.unconfirmed]),
        ("Claim", [_claim(claim)] if claim else []),
        ("Declaration", outline(declaration) if declaration else []),
        ("Digest", [verification.digest] if verification.digest else []),
        ("Notes", verification.notes),
    ]
    body = [part for title, lines in sections if lines for part in (section(title), *map(inset, lines))]
    return Group(headline(word, colour, summary(verification)), *body)


def verification_markdown(verification: Verification) -> str:
    """Return the outcome as Markdown."""
    claim, declaration = verification.claim, verification.declaration
    parts = [
        f"## {_word(verification)[0]}",
        cell(summary(verification)),
        bullets(verification.complaints),
        bullets([f"Not confirmed: {line}" for line in verification.unconfirmed]),
        cell(f"Claim: {_claim(claim)}.") if claim else "",
        _tree(outline(declaration)) if declaration else "",
        f"Digest: {verification.digest}" if verification.digest else "",
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
    if not verification.complaints:
        return (
            f"The certificate says {verdict}. An independent reading contradicts nothing in it, and cannot confirm all "
            "of it."
        )
    if verification.verdict == "refused":
        return "The file was altered, or has not the form of a certificate; nothing in it is confirmed."
    return f"The certificate says {verdict}; the complaints name what does not agree with it."


def _claim(claim: dict[str, Any]) -> str:
    """Return a claim on one line."""
    order = ("epsilon", "delta", "rho", "xi", "mu", "renyi", "profile", "neighbours", "model", "unit")
    return one_line(", ".join(f"{name} {claim[name]}" for name in order if name in claim))


def _tree(lines: list[str]) -> str:
    """Return indented lines as a nested list, in which foreign text cannot become markup."""
    return "\n".join(f"{' ' * (len(line) - len(line.lstrip()))}- {cell(line)}" for line in lines)


def _word(verification: Verification) -> tuple[str, str]:
    """Return the word and colour of the result; a verified certificate is green only if it certifies."""
    if verification.complaints:
        return "REJECTED", "red"
    if verification.unconfirmed:
        return "NOT CONFIRMED", "yellow"
    if verification.verdict == "stated":
        return "STATED", "yellow"
    return "VERIFIED", "green" if verification.verdict == "certified" else "yellow"
