"""A certificate: the verdict on a claim with its evidence, which also answers the next question."""

import json
import math
from typing import Any, Self

from dpaudit.accounting.accountant import bracket_delta, bracket_epsilon
from dpaudit.accounting.curves.hockey_stick import POINTS
from dpaudit.accounting.curves.table import CurveKind, CurveTable
from dpaudit.accounting.fold import fold
from dpaudit.accounting.small_deltas import log10_delta
from dpaudit.certification.curves import curve_of
from dpaudit.certification.evidence import proved_under
from dpaudit.configuration.tables import read_object
from dpaudit.engines import BY_EFFORT
from dpaudit.errors import CertificateError, DPAuditError
from dpaudit.model.bracket import Bracket, Effort
from dpaudit.model.certificate import SCHEMA, CertificateRecord, digest_of
from dpaudit.model.codec import decode_claim, decode_declaration
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.model.readings import Trust, Verdict

_MALFORMED = (DPAuditError, KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What plain data raise that have a right digest and are no certificate."""


class Certificate(CertificateRecord):
    """The verdict on `claim` for `declaration`, with the evidence for it.

    Guarantee: `certified` means that the upper bracket meets the claim, the declared model covers the
    claim's and no condition was seen violated; it holds under the conditions listed as *assumed*.
    `refuted` means that the lower bracket exceeds the claim: the declared releases, seen as they are, break it
    (what a post-processing hides of them is not credited, since it may be replaced). The lower ends belong to
    `witnesses`: one query, whose sensitivity some pair attains by definition, or releases that one checked pair moves
    at once. `stated` means that the claim follows only with what somebody else states, named in `trust`: nothing of
    that was proved or checked. `not_proved` is everything else; `reasons` say why, also where the claim is false if
    one pair attains all sensitivities at once. With a condition seen violated the upper ends are infinity and 1.

    >>> from dpaudit import Certificate, Claim, Release, certify
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> certificate = certify(Release(label="count", mechanism=noise), Claim(epsilon=1.0, neighbours="add_remove"))
    >>> Certificate.from_json(certificate.to_json()) == certificate
    True
    """

    __slots__ = ()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the certificate that `text` spells.

        Raises: CertificateError: not JSON, truncated, another schema, an unknown or missing field, or a digest
            that does not match the rest.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CertificateError(f"The certificate is no JSON (truncated?): {error}.") from None
        if not isinstance(data, dict):
            raise CertificateError("Expected the certificate to be a JSON object.")
        stated = data.pop("digest", None)
        if stated != _digest(data):
            raise CertificateError(
                f"The certificate's digest {stated!r} does not match its content; it was altered or truncated."
            )
        if data.get("schema") != SCHEMA:
            raise CertificateError(
                f"Expected a certificate of schema {SCHEMA!r}; this one has {data.get('schema', 'none')!r}, as another "
                "version of dpaudit wrote it. Certify the configuration again."
            )
        try:
            return read_object(cls, _table(data))
        except _MALFORMED as error:
            raise CertificateError(f"The certificate is malformed: {error}.") from None

    def epsilon_at(self, delta: float, effort: Effort | None = None) -> Bracket:
        """Return a bracket on the smallest epsilon that the declaration meets at `delta`, in nats.

        It is computed from the declaration that the certificate carries, under the same conditions, and at the
        claim's delta it is `tight.epsilon`. Infinity is a possible answer on both sides. `effort` trades time for
        width: "quick", "default" or "sharp"; without one, that of the certificate.
        Guarantee: neither end grows with delta by more than the engines' accuracy; `delta_at` of the upper end is
        not above `delta` where the engines are exact.
        Raises: ValueError: delta outside [0, 1).

        >>> from dpaudit import Claim, Stated, certify
        >>> certificate = certify(Stated(epsilon=0.5, source="a vendor"), Claim(epsilon=1.0, neighbours="add_remove"))
        >>> certificate.epsilon_at(0.0).upper
        0.5
        """
        form = fold(self.declaration, self.claim.neighbours, self.conditions)
        return proved_under(self.conditions, bracket_epsilon(form, delta, BY_EFFORT[effort or self.effort]), math.inf)

    def delta_at(self, epsilon: float, effort: Effort | None = None) -> Bracket:
        """Return a bracket on the smallest delta that the declaration meets at `epsilon`.

        Guarantee: as for `epsilon_at`; at the claim's epsilon it is `tight.delta`.
        Raises: ValueError: epsilon negative or not finite.

        >>> from dpaudit import Claim, Stated, certify
        >>> certificate = certify(Stated(epsilon=0.5, source="a vendor"), Claim(epsilon=1.0, neighbours="add_remove"))
        >>> certificate.delta_at(0.5).upper
        0.0
        """
        form = fold(self.declaration, self.claim.neighbours, self.conditions)
        return proved_under(self.conditions, bracket_delta(form, epsilon, BY_EFFORT[effort or self.effort]), 1.0)

    def curve(self, kind: CurveKind, *, size: int = 2, points: int = POINTS) -> CurveTable:
        """Return a curve of the declaration with both sides, under the same conditions.

        `kind` is "tradeoff" (the errors of any test), "gdp" (mu of the Gaussian mechanism of the same delta), "renyi",
        "zcdp", "tail" (of the privacy loss) or "group" (`size` records of one person changed together); `points` is
        how many rows a curve of errors or of a group has, and at least about how many one of a Gaussian has.
        Guarantee: what is above holds for every pair of neighbours, in either order, with what is named in
        `CurveTable.meaning`; what is below is attained by some pair.
        Raises: ValueError: an unknown kind, a size below 1, or fewer than three points. UnsupportedError: no engine
            covers the declaration.

        >>> from dpaudit import Claim, Release, certify
        >>> from mechanisms import Laplace
        >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
        >>> certificate = certify(Release(label="count", mechanism=noise), Claim(epsilon=1, neighbours="add_remove"))
        >>> rho = certificate.curve("zcdp").ranges[0]
        >>> rho.lower <= math.exp(-1) <= rho.upper
        True
        """
        return curve_of(self, kind, size=size, points=points)

    def log10_delta_at(self, epsilon: float) -> float:
        """Return a number that the base-10 logarithm of delta at `epsilon` does not exceed.

        It is finite also where delta is too small for a float.

        Guarantee: an upper bound, under the conditions of `delta_at`; below 1e-300 by Renyi moments, right to the order
        of magnitude. Edge cases: minus infinity where delta is 0; -300 where a smaller delta has no closed form.
        Raises: ValueError: epsilon negative or not finite.

        >>> from dpaudit import Claim, Release, certify
        >>> from mechanisms import Gaussian
        >>> noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
        >>> certificate = certify(Release(label="sum", mechanism=noise), Claim(epsilon=60.0, neighbours="add_remove"))
        >>> certificate.delta_at(60.0).upper < 1e-300, round(certificate.log10_delta_at(60.0))
        (True, -771)
        """
        form = fold(self.declaration, self.claim.neighbours, self.conditions)
        return log10_delta(form, epsilon, self.delta_at(epsilon).upper)


def _digest(data: dict[str, Any]) -> str:
    """Return the digest of data that was read; an empty text, which is no digest, where they nest too deeply."""
    try:
        return digest_of(data)
    except RecursionError:
        return ""


def _table(data: dict[str, Any]) -> dict[str, Any]:
    """Return plain data as `read_object` takes them: what a certificate writes in a form of its own is read here."""
    claim, tight = decode_claim(data["claim"]), data["tight"]
    if isinstance(claim, MeasuredClaim):
        ends: Any = Ends.read(tight, claim)
    else:
        ends = {side: bracket | {"engines": data["engines"]} for side, bracket in tight.items()}
    declaration = decode_declaration(data["declaration"], claim.neighbours)
    read = {"tight": ends, "declaration": declaration, "versions": dict(sorted(data["versions"].items()))}
    return {key: value for key, value in data.items() if key != "schema"} | read


def verdict_of(objections: tuple[str, ...], trust: Trust | None, *, refuted: bool) -> Verdict:
    """Return refuted above a witnessed lower bound, not proved with objections, stated on trust, else certified."""
    if refuted:
        return "refuted"
    return "not_proved" if objections else "certified" if trust is None else "stated"
