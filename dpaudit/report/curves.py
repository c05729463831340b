"""The curve delta(epsilon) of a certificate, its trade-off curve, and bounds on an attacker's rates."""

import math
from dataclasses import dataclass

from dpaudit.accounting.accountant import bracket_delta, bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.certification.certificate import Certificate
from dpaudit.certification.reading import Reading, reading_of
from dpaudit.checks import Share
from dpaudit.engines import QUICK
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.bracket import Bracket
from dpaudit.model.claim import Claim, Neighbours
from dpaudit.model.declaration import Declaration

FALSE_POSITIVE_RATES = (0.001, 0.01, 0.1)
_NEAR, _FAR, _LONGEST = 20, 12, 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Points of delta(epsilon), an increasing epsilon and a bracket each, or the reason why there are none."""

    points: tuple[tuple[float, Bracket], ...] = ()
    unavailable: str = ""

    def true_positive_rate(self, false_positive_rate: float) -> float:
        """Return the most that any test can reach at `false_positive_rate`, as far as these points tell.

        Guarantee: an upper bound, the least of those from each (epsilon, delta) on the curve.
        Source: Kairouz, Oh and Viswanath (2015), Theorem 2.1.
        """
        rates = (highest_true_positive_rate(e, delta.upper, false_positive_rate) for e, delta in self.points)
        return min(rates, default=1.0)

    @property
    def advantage(self) -> float:
        """The most by which any test's true positive rate exceeds its false positive rate: delta(0)."""
        return self.points[0][1].upper if self.points else 1.0


def highest_true_positive_rate(epsilon: float, delta: float, false_positive_rate: float) -> float:
    """Return the highest true positive rate that (epsilon, delta)-privacy allows at a false positive rate.

    Source: Wasserman and Zhou (2010); Kairouz, Oh and Viswanath (2015), Theorem 2.1.

    >>> highest_true_positive_rate(0.0, 0.25, 0.5)
    0.75
    """
    first = delta + math.exp(min(epsilon, 700.0)) * false_positive_rate
    second = 1 - math.exp(-epsilon) * (1 - delta - false_positive_rate)
    return max(false_positive_rate, min(1.0, first, second))


def claimed_advantage(epsilon: float, delta: float) -> float:
    """Return the most by which a test's two rates can differ under (epsilon, delta)-privacy.

    Source: Kairouz, Oh and Viswanath (2015), Theorem 2.1, at the corner of the region.
    """
    return delta + (1 - delta) * math.tanh(epsilon / 2)


def delta_curve(certificate: Certificate, reading: Reading | None = None) -> Curve:
    """Return brackets on delta(epsilon) of the declaration, from 0 to somewhat beyond the claim and bracket as read.

    Points are dense up to the proved epsilon and spread beyond it. A declaration that no engine covers gives
    an empty curve with the reason.
    """
    epsilons = _grid(reading or reading_of(certificate))
    try:
        form = fold(certificate.declaration, certificate.claim.neighbours, certificate.conditions)
        return Curve(points=tuple((epsilon, bracket_delta(form, epsilon, QUICK)) for epsilon in epsilons))
    except (UnsupportedError, DeclarationError) as error:
        return Curve(unavailable=str(error))


def own_epsilon(node: Declaration, neighbours: Neighbours, delta: float) -> Bracket | None:
    """Return a bracket on the epsilon of a declaration by itself at `delta`, or None where no rule covers it."""
    try:
        return bracket_epsilon(fold(node, neighbours), delta, QUICK)
    except (UnsupportedError, DeclarationError):
        return None


def _grid(reading: Reading) -> tuple[float, ...]:
    """Return increasing epsilons, the claimed one (where it is finite) and the proved ones among them."""
    tight = reading.tight.epsilon
    proved = [value for value in (tight.lower, tight.upper) if 0 < value < _LONGEST]
    claimed = [reading.claim.epsilon] if reading.claim.epsilon < math.inf else []
    reach = min(_LONGEST, 1.3 * max((*claimed, *proved), default=0.0) or 1.0)
    near = min(reach, 1.6 * max(proved, default=reach))
    steps = {near * step / _NEAR for step in range(_NEAR + 1)}
    steps |= {near + (reach - near) * step / _FAR for step in range(_FAR + 1)}
    return tuple(sorted(steps | {*claimed, *proved}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The most that any attacker reaches by one measure, under the claim and under the certificate."""

    measure: str
    claim: Share
    certificate: Share | None


def gains_of(claim: Claim, curve: Curve) -> tuple[Gain, ...]:
    """Return the advantage, then the true positive rate at each of `FALSE_POSITIVE_RATES`."""
    epsilon, delta, has_curve = claim.epsilon, claim.delta, bool(curve.points)
    advantage = Gain(
        measure="advantage (true minus false positive rate)",
        claim=claimed_advantage(epsilon, delta),
        certificate=curve.advantage if has_curve else None,
    )
    rates = (
        Gain(
            measure=f"true positive rate at false positive rate {rate:g}",
            claim=highest_true_positive_rate(epsilon, delta, rate),
            certificate=curve.true_positive_rate(rate) if has_curve else None,
        )
        for rate in FALSE_POSITIVE_RATES
    )
    return (advantage, *rates)
