"""A certificate read in epsilon and delta: of a claim in another measure, what follows from it at some delta."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from dpaudit.accounting.curves.implied import implied_claim
from dpaudit.certification.certificate import Certificate
from dpaudit.certification.evidence import evidence_on
from dpaudit.errors import DeclarationError, InternalError, UnsupportedError
from dpaudit.model.bracket import Bracket
from dpaudit.model.claim import Claim
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.model.readings import Tight


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A claim in epsilon and delta with the brackets of the declaration there; it is no certificate of that claim.

    `measured` is the claim that it follows from and `ends` its proved ends, both None where the certificate's own claim
    is in epsilon and delta.
    """

    claim: Claim
    tight: Tight
    measured: MeasuredClaim | None = None
    ends: Ends | None = None

    @property
    def name(self) -> Literal["claimed", "implied"]:
        """What the epsilon of the claim is."""
        return "claimed" if self.measured is None else "implied"

    @property
    def source(self) -> str:
        """The key of a report's JSON below which `claim` and `tight` stand."""
        return "certificate" if self.measured is None else "reading"


def reading_of(certificate: Certificate, delta: float | None = None) -> Reading:
    """Return the claim and the brackets of a certificate in epsilon and delta.

    A claim in another measure is read at `delta`, by default the one of `implied_claim`. Guarantee: the epsilon follows
    from the claim; the upper ends are proved of the declaration under the certificate's conditions, or follow from a
    claim that is certified (or stated: then at the word of others). A declaration that no rule covers has the ends 0
    and infinity, unless the claim itself says more.
    """
    claim, tight = certificate.claim, certificate.tight
    if isinstance(tight, Tight):
        return Reading(claim=claim, tight=tight)
    if not isinstance(claim, MeasuredClaim):
        raise InternalError(f"A certificate with ends in {tight.measure} has a claim in epsilon and delta.")
    implied = implied_claim(claim, delta)
    try:
        proved = evidence_on(certificate.declaration, implied, certificate.conditions, certificate.effort).tight
    except (UnsupportedError, DeclarationError):
        proved = Tight(
            epsilon=Bracket(lower=0.0, upper=math.inf, engines=()), delta=Bracket(lower=0.0, upper=1.0, engines=())
        )
    if certificate.verdict in ("certified", "stated"):
        proved = Tight(epsilon=_within(proved.epsilon, implied.epsilon), delta=_within(proved.delta, implied.delta))
    return Reading(claim=implied, tight=proved, measured=claim, ends=tight)


def _within(bracket: Bracket, limit: float) -> Bracket:
    """Return a bracket with an upper end of at most what follows from a proved claim."""
    return replace(bracket, upper=min(bracket.upper, limit))
