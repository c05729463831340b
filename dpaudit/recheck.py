"""Checking a certificate again from its own text: the digest, and every number computed anew."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpaudit.certificate import Certificate
from dpaudit.certifier import certify

_COMPARED = ("verdict", "tight", "printed", "slack", "conditions", "findings")
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A place where a certificate and its recomputation disagree."""

    place: str
    stated: str
    recomputed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck:
    """A certificate, and where it disagrees with what its own declaration gives; nowhere, if it is sound.

    `notes` say what differs without being wrong, such as the source that computed it.
    """

    certificate: Certificate
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    @property
    def confirmed(self) -> bool:
        """Whether everything the certificate states was computed again."""
        return not self.differences


def recheck(text: str) -> Recheck:
    """Return the certificate in `text`, checked: its digest, its verdict, and each of its numbers.

    What a run saw (conditions, findings) is taken from the certificate; only a new run can check that.
    Guarantee: numbers agree within a relative 1e-6.
    Raises: CertificateError: malformed, or the digest does not match.
    """
    certificate = Certificate.from_json(text)
    again = certify(
        certificate.declaration,
        certificate.claim,
        conditions=certificate.conditions,
        findings=certificate.findings,
    )
    stated, recomputed = certificate.to_dict(), again.to_dict()
    differences = (d for key in _COMPARED for d in _differences(key, stated.get(key), recomputed.get(key)))
    return Recheck(certificate=certificate, differences=tuple(differences), notes=tuple(_notes(certificate, again)))


def _differences(place: str, stated: Any, recomputed: Any) -> Iterator[Difference]:
    """Yield each leaf at which two trees of plain data differ by more than rounding."""
    if isinstance(stated, dict) and isinstance(recomputed, dict):
        for key in dict.fromkeys((*stated, *recomputed)):
            yield from _differences(f"{place}.{key}", stated.get(key), recomputed.get(key))
    elif isinstance(stated, list) and isinstance(recomputed, list) and len(stated) == len(recomputed):
        for index, (left, right) in enumerate(zip(stated, recomputed, strict=True)):
            yield from _differences(f"{place}[{index}]", left, right)
    elif not _equal(stated, recomputed):
        yield Difference(place=place, stated=_shown(stated), recomputed=_shown(recomputed))


def _equal(stated: Any, recomputed: Any) -> bool:
    """Return whether two leaves agree, numbers within the tolerance."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (stated, recomputed))
    if numbers:
        return math.isclose(stated, recomputed, rel_tol=_TOLERANCE, abs_tol=1e-300)
    return bool(stated == recomputed)


def _shown(value: Any) -> str:
    """Return a leaf as text, "nothing" where it is absent."""
    return "nothing" if value is None else f"{value}"[:200]


def _notes(certificate: Certificate, again: Certificate) -> Iterator[str]:
    """Yield what differs between then and now without being wrong."""
    if certificate.source_digest != again.source_digest:
        yield f"Other source code computed it: {certificate.source_digest[:12]}, here {again.source_digest[:12]}."
    now = dict(again.versions)
    for name, version in certificate.versions:
        if now.get(name) != version:
            yield f"{name} {version} was beneath it, here {now.get(name, 'not installed')}."
