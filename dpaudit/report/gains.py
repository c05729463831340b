"""The gains of an attacker: the largest advantage and true positive rates that claim and certificate allow."""

from dataclasses import dataclass

from dpaudit.model.claim import Claim
from dpaudit.report.curves import FALSE_POSITIVE_RATES, Curve, claimed_advantage, highest_true_positive_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The most that any attacker reaches by one measure, under the claim and under the certificate."""

    measure: str
    claim: float
    certificate: float | None


def gains_of(claim: Claim, curve: Curve) -> tuple[Gain, ...]:
    """Return the advantage, then the true positive rate at each of `FALSE_POSITIVE_RATES`."""
    known = bool(curve.epsilons)
    advantage = Gain(
        measure="advantage (true minus false positive rate)",
        claim=claimed_advantage(claim.epsilon, claim.delta),
        certificate=curve.advantage if known else None,
    )
    rates = (
        Gain(
            measure=f"true positive rate at false positive rate {rate:g}",
            claim=highest_true_positive_rate(claim.epsilon, claim.delta, rate),
            certificate=curve.true_positive_rate(rate) if known else None,
        )
        for rate in FALSE_POSITIVE_RATES
    )
    return (advantage, *rates)
