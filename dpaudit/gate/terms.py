"""The terms of an issue: the claim and the numbers for which an acceptance of the issue holds."""

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

from dpaudit.certification.certificate import Certificate
from dpaudit.checks import Natural, PositiveShare, settle
from dpaudit.model.claim import Claim
from dpaudit.model.codec import encode
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.report.attacks import Attack

_TOLERANCE = 1e-6
"""A relative growth that counts as none: engines of two versions may differ by so much."""

_NO_EPSILON, _NO_DELTA = 700.0, 1.0
"""From here on a ceiling bounds nothing: e^700 exceeds every ratio of probabilities that a run can show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an issue is about, so that its acceptance lapses when any of it changes or gets worse.

    `up_to` holds ceilings by name: `proved_epsilon` and `proved_delta` are the upper bounds of the certificate,
    `refuted_epsilon` its lower bound, `audited_epsilon` the lower bound of an audit, of code or of scores. `runs` and
    `significance` say how hard an audit looked (0 and 1 without an audit); the runs of scores are their number. `seen`
    is the text of what no number measures. A ceiling that bounds nothing (epsilon of 700, delta of 1) holds for that
    very number alone, as no acceptance of a smaller number has such a ceiling.
    Raises: ValueError: a ceiling that is negative or no number, or a negative number of runs.
    """

    claim: Claim
    up_to: tuple[tuple[str, float], ...]
    runs: Natural
    significance: PositiveShare
    seen: str

    def __post_init__(self) -> None:
        for name, ceiling in self.up_to:
            if not ceiling >= 0:
                raise ValueError(f"Expected up_to.{name}={ceiling} to be zero or positive.")
        settle(self)

    def lapsed(self, now: "Terms") -> str:
        """Return why an acceptance on these terms does not hold for an issue of today, or an empty text."""
        before, after = encode(self.claim), encode(now.claim)
        for name in {**before, **after}:
            if after.get(name) != before.get(name):
                return f"accepted for {name} = {before.get(name)}, now {after.get(name)}"
        ceilings = dict(self.up_to)
        for name, value in now.up_to:
            ceiling = ceilings.get(name)
            if ceiling is None:
                return f"accepted without {name}, now {value:.6g}"
            same = math.isclose(value, ceiling, rel_tol=_TOLERANCE)
            if value > ceiling and not same:
                return f"accepted up to {name} {ceiling:.6g}, now {value:.6g}"
            if ceiling >= (_NO_DELTA if name == "proved_delta" else _NO_EPSILON) and not same:
                return f"accepted up to {name} {ceiling:.6g}, which bounds nothing, now {value:.6g}; accept it anew"
        if set(ceilings) - {name for name, _ in now.up_to}:
            return f"accepted with {', '.join(sorted(ceilings))}, which was not measured now"
        if now.runs < self.runs:
            return f"accepted on {self.runs} runs, now {now.runs}"
        if now.significance < self.significance:
            return f"accepted at significance {self.significance:g}, now {now.significance:g}"
        return "" if now.seen == self.seen else "what was seen is not what was accepted"

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as plain data."""
        plain: dict[str, Any] = encode(self)
        return plain | {"up_to": encode(dict(self.up_to))}


def terms_of_claim(certificate: Certificate) -> Terms:
    """Return the terms of an issue of the claim itself.

    Where no finite number measures the issue, the terms hold the declaration; where the numbers are within the claim,
    they hold the reasons.
    """
    seen, ends = "", _uppers(certificate)
    if any(math.isinf(upper) for upper, _ in ends):
        text = json.dumps(encode(certificate.declaration), sort_keys=True)
        seen = f"declaration {hashlib.sha256(text.encode()).hexdigest()}"
    elif all(upper <= claimed for upper, claimed in ends) or certificate.trust is not None:
        seen = " ".join(certificate.reasons)
    return terms_of(certificate, seen)


def terms_of(certificate: Certificate, seen: str) -> Terms:
    """Return the terms of an issue that a text describes."""
    return Terms(claim=certificate.claim, up_to=_proved(certificate), runs=0, significance=1.0, seen=seen)


def terms_of_attack(certificate: Certificate, attack: Attack) -> Terms:
    """Return the terms of an issue of an attack; the runs of scores are the scores of both sides."""
    return Terms(
        claim=certificate.claim,
        up_to=(*_proved(certificate), ("audited_epsilon", attack.result.epsilon_lower)),
        runs=attack.looked_at,
        significance=attack.result.significance,
        seen="",
    )


def _proved(certificate: Certificate) -> tuple[tuple[str, float], ...]:
    """Return the numbers of a certificate that may not grow."""
    tight = certificate.tight
    if isinstance(tight, Ends):
        rows = [(f"{tight.measure}{'' if row.at is None else f'_{row.at:g}'}", row) for row in tight.rows]
        ends = ((f"proved_{name}", row.upper, f"refuted_{name}", row.lower) for name, row in rows)
        return tuple(pair for high, upper, low, lower in ends for pair in ((high, upper), (low, lower)))
    return (
        ("proved_delta", tight.delta.upper),
        ("proved_epsilon", tight.epsilon.upper),
        ("refuted_epsilon", tight.epsilon.lower),
    )


def _uppers(certificate: Certificate) -> list[tuple[float, float]]:
    """Return the proved upper end of each number of the claim, beside what is claimed."""
    claim, tight = certificate.claim, certificate.tight
    if isinstance(claim, MeasuredClaim) and isinstance(tight, Ends):
        claimed = (number for _, number in claim.rows)
        return [(row.upper, number) for row, number in zip(tight.rows, claimed, strict=True)]
    return [(tight.epsilon.upper, claim.epsilon)]
