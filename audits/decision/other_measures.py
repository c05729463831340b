"""The test of a claim in rho, mu, Renyi divergences or points of a profile: one event against the whole claim.

Two Clopper-Pearson limits of an event's rates hold together. A pair of coins with these rates is what the outputs are
at least, by data processing; so one pair of limits tests every number of the claim at once: all orders, all points,
and both orders of the data sets. The event is fixed on other runs.
"""

import math

import numpy as np
from scipy.special import ndtr

from audits.bounds.binomial import proportion_lower, proportion_upper, tail_quantile
from audits.bounds.bisection import least_count
from audits.bounds.error_rates import threshold_counts
from audits.bounds.one_event import event_rates, shown_by
from dpaudit import implied_claim
from dpaudit.model.audit_result import Counts, MeasuredNumber, MeasureTest
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, RenyiClaim, RhoClaim
from dpaudit.model.mechanism import Array

CHOOSING = 0.1
"""The part of the counted runs that chooses the threshold; it decides nothing."""

_MOST_CUTS = 200
_QUANTILE = 0.025
"""The probability with which a control's count of either kind falls beyond its limit; twice this, and 2.3 % for halves
of unequal size, stay below the .1 that a control may miss."""


def judged_by_event(claim: MeasuredClaim, counts: Counts, delta: float, significance: float) -> MeasureTest:
    """Return the test of a claim by the threshold test of `counts`.

    Guarantee: a true claim is refuted with probability at most `significance`, for a threshold and a direction that
    other runs fixed. `delta` is where the claim's epsilon is told.
    """
    b, q, numbers = _bounded(claim, counts, significance)
    return MeasureTest(
        measure=claim.measure,
        numbers=numbers,
        true_positive_rate=b,
        false_positive_rate=q,
        significance=significance,
        implied_epsilon=implied_claim(claim, delta).epsilon,
    )


def _bounded(
    claim: MeasuredClaim, counts: Counts, significance: float
) -> tuple[float, float, tuple[MeasuredNumber, ...]]:
    """Return the limits of both rates, and each number of the claim with what they show."""
    hits, alarms = counts.true_positives, counts.false_positives
    b, q = event_rates(hits, counts.positives, alarms, counts.negatives, significance)
    lower = (float(value[0]) for value in shown_by(claim, np.array([b]), np.array([q])))
    rows = (
        MeasuredNumber(at=at, claimed=claimed, lower=low) for (at, claimed), low in zip(claim.rows, lower, strict=True)
    )
    return b, q, tuple(rows)


def cut_against(claim: MeasuredClaim, scores: Array, labels: Array, counted: int, significance: float) -> float:
    """Return the threshold at which `counted` further runs are to show the most against a claim, from choosing runs.

    Rates are shrunk by one run each. Edge cases: 0 where one score, or one label, is all that was seen.
    """
    values = np.unique(scores)
    ins, outs = int(labels.sum()), int((~labels).sum())
    if len(values) < 2 or min(ins, outs) == 0:
        return 0.0
    cuts = np.unique(np.quantile(values, np.linspace(0, 1, min(len(values), _MOST_CUTS)), method="nearest"))[1:]
    reached = [1 - np.searchsorted(np.sort(scores[side]), cuts) / side.sum() for side in (labels, ~labels)]
    b, q = reached[0] * ins / (ins + 1), (reached[1] * outs + 1) / (outs + 1)
    half = max(1, counted // 2)
    low = np.maximum(proportion_lower(np.floor(b * half), float(half), significance / 2), 1e-300)
    high = proportion_upper(np.ceil(q * half), float(half), significance / 2)
    for first, second in ((low, high), (b, q)):  # what the limits show; where they show nothing, what the rates do
        shares = [
            value / max(claimed, 1e-12)
            for value, (_, claimed) in zip(shown_by(claim, first, second), claim.rows, strict=True)
        ]
        best = np.max(shares, axis=0)
        if best.max() > 0:
            break
    return float(cuts[int(np.argmax(best))])


def would_refute_measure(control: Counts, runs: int, claim: MeasuredClaim, significance: float, error: float) -> bool:
    """Return whether the threshold test on a control shows that `runs` runs of it refute the claim.

    Guarantee: where they refute it with probability below .9, the answer is true with probability at most `error`.
    """
    if min(control.positives, control.negatives) == 0:
        return False
    hits, alarms = control.true_positives, control.false_positives
    b, q = event_rates(hits, control.positives, alarms, control.negatives, error)
    half = int(runs / 2 - math.sqrt(runs))
    return half >= 1 and _refuted_by(claim, b, q, half, significance)


def runs_to_refute(claim: MeasuredClaim, significance: float) -> int | None:
    """Return how many counted runs refute a claim with probability of about .9 where half its Gaussian noise is added.

    The claim is kept by Gaussian noise of some size; half of it moves the answer by twice as many standard deviations.
    None where no such number is found, as for a claim that allows every event.

    >>> from dpaudit import Claim
    >>> runs_to_refute(Claim(rho=0.5, neighbours="replace_one"), 0.009)
    652
    """
    mu = 2 * gaussian_of(claim)
    halves = [1 << power for power in range(4, 40)]
    rates = _rates(mu)

    def refuted(half: int) -> bool:
        return any(_refuted_by(claim, b, q, half, significance) for b, q in zip(*rates, strict=True))

    high = next(filter(refuted, halves), None) if 0 < mu < math.inf else None
    return None if high is None else 2 * least_count(refuted, high // 2, high)


_CUTS = np.linspace(0, 1, 25)
_TAIL = 3.0


def _rates(mu: Array | float) -> tuple[Array, Array]:
    """Return the probabilities that N(mu, 1) and N(0, 1) exceed 25 thresholds, from below both means to above both."""
    cuts = _CUTS * (mu + 2 * _TAIL) - _TAIL
    return ndtr(mu - cuts), ndtr(-cuts)


def gaussian_of(claim: MeasuredClaim) -> float:
    """Return about the largest mu whose Gaussian release keeps a claim, by its own formula or by events."""
    match claim:
        case RhoClaim():
            return min(math.sqrt(2 * claimed) for _, claimed in claim.rows)
        case MuClaim():
            return min(claimed for _, claimed in claim.rows)
        case RenyiClaim():
            return min(math.sqrt(2 * claimed / float(at or 1.0)) for at, claimed in claim.rows)
        case _:
            sizes = np.geomspace(1e-3, 100, 400)[:, None]
            shown = shown_by(claim, *_rates(sizes))
            within = [value.max(axis=1) <= claimed for value, (_, claimed) in zip(shown, claim.rows, strict=True)]
            return float(sizes[np.all(within, axis=0), 0].max(initial=0.0))


def _refuted_by(claim: MeasuredClaim, b: float, q: float, half: int, significance: float) -> bool:
    """Return whether `half` runs of each data set refute a claim by an event of these rates, at unlucky counts."""
    fewest = half - tail_quantile(half, 1 - b, _QUANTILE)
    most = tail_quantile(half, q, _QUANTILE)
    counts = threshold_counts(fewest, most, half, half)
    return any(number.refuted for number in _bounded(claim, counts, significance)[2])
