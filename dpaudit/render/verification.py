"""The result of an independent verification as a document."""

from typing import Any

from dpaudit.documents.document import Document, document, items, judged, under
from dpaudit.render.outline import outline
from dpaudit.verifier import Verification
from dpaudit.wording.escaping import one_line
from dpaudit.wording.verdicts import verdict_label


def verification_document(verification: Verification) -> Document:
    """Return the outcome: the word, what does not agree, what was claimed and declared, the digest and notes."""
    claim, declaration = verification.claim, verification.declaration
    return document(
        judged(_word(verification), summary(verification)),
        under("Complaints", items(verification.complaints, "✗")),
        under("Not confirmed", items(verification.unconfirmed, "?")),
        under("Claim", items([_claim(claim)] if claim else [])),
        under("Declaration", outline(declaration)) if declaration else (),
        under("Digest", items([verification.digest] if verification.digest else [])),
        under("Notes", items(verification.notes)),
    )


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
    return f"The certificate is not confirmed, although it says {verdict}. The complaints name what is wrong."


def _claim(claim: dict[str, Any]) -> str:
    """Return a claim on one line."""
    order = ("epsilon", "delta", "rho", "xi", "mu", "renyi", "profile", "neighbours", "model", "unit")
    return one_line(", ".join(f"{name} {claim[name]}" for name in order if name in claim))


def _word(verification: Verification) -> str:
    """Return the word of the result: that of the certificate where it is confirmed, PASS where that is certified."""
    if verification.complaints:
        return "FINDING"
    if verification.unconfirmed:
        return "INCONCLUSIVE"
    return "PASS" if verification.verdict == "certified" else verdict_label(verification.verdict)
