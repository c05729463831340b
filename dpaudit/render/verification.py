"""The result of an independent verification as a document, with the outline of what was declared."""

from collections.abc import Iterator
from itertools import groupby, islice
from typing import Any

from dpaudit.documents.document import Branch, Document, Tree, document, items, judged, under
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


_LINES, _LONGEST = 30, 60


def outline(declaration: dict[str, Any]) -> Tree:
    """Return a tree of at most 31 lines that say what was declared; the last one says that more is left out.

    >>> part = {"node": "stated", "epsilon": 0.5, "delta": 0.0, "source": "a supplier"}
    >>> [(line.depth, line.title) for line in outline({"node": "sequential", "parts": [part, part]}).branches]
    [(0, 'sequential'), (1, '2 x stated epsilon=0.5 delta=0.0 source=a supplier')]
    """
    lines = tuple(islice(_lines(declaration, 0, 1), _LINES + 1))
    return Tree(lines if len(lines) <= _LINES else (*lines[:_LINES], Branch(1, "... and more")))


def _lines(node: dict[str, Any], depth: int, times: int, last: str = "") -> Iterator[Branch]:
    """Yield the line of one node and those of its parts; `last` is the label of the last of `times` nodes."""
    parts = [*node.get("parts", []), *(node[key] for key in ("inside", "touched", "part") if key in node)]
    said = {key: value for key, value in node.items() if not isinstance(value, dict) and key not in ("node", "parts")}
    if last and said.get("label") != last:
        said["label"] = f"{said['label']} ... {last}"
    mechanism = node.get("mechanism", {})
    said |= {"mechanism": mechanism["name"]} if "name" in mechanism else {}
    said |= {key: value for key, value in mechanism.items() if key not in ("neighbours", "name")}
    words = one_line(" ".join([node["node"], *(f"{key}={_short(value)}" for key, value in said.items())]))
    yield Branch(depth, f"{f'{times} x ' if times > 1 else ''}{words}")
    for _, group in groupby(parts, key=_without_label):
        alike = list(group)
        yield from _lines(alike[0], depth + 1, len(alike), alike[-1].get("label", ""))


def _short(value: Any) -> str:
    """Return a value as text, cut where it is long."""
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _without_label(node: dict[str, Any]) -> dict[str, Any]:
    """Return a node as its neighbours may repeat it: the label of a release left out."""
    return {key: value for key, value in node.items() if key != "label"}
