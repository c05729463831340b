"""A Bayesian credible bound on epsilon from Jeffreys priors on both error rates; not a guarantee."""

import math

import numpy as np
from scipy.special import betainc, betaincinv

from audits.bounds.bisection import bisected
from audits.bounds.error_rates import error_rate_bound, threshold_counts
from dpaudit.model.audit_result import Counts, LowerBound

_PRIOR = 0.5
_NODES = 400
_STEPS = 40


def credible_bound(counts: Counts, delta: float, significance: float) -> LowerBound:
    """Return the epsilon that the posterior puts below the true one with probability 1 - significance.

    Both error rates have independent Jeffreys priors. The bound is the larger posterior quantile of
    ln((1 - delta - FNR) / FPR) and of its mirror image, both with their sign, so that identical laws give 0 about as
    often as they should. No false-alarm rate is guaranteed. The bound never exceeds what the exact bound could show
    with as many runs.
    Source: Zanella-Beguelin et al. (2022), Section 4, un-folded, by one integral instead of two.

    >>> from audits.examples import COUNTS
    >>> 1.2 < credible_bound(COUNTS, 0.0, 0.05).epsilon < 1.4
    True
    """
    name, assumption = "credible", "a Jeffreys prior on both error rates; credible, not a guarantee"
    if min(counts.positives, counts.negatives) == 0:
        return LowerBound(name=name, epsilon=0.0, significance=significance, assumption=assumption)
    missed = counts.positives - counts.true_positives
    rejected = counts.negatives - counts.false_positives
    alarm = (counts.false_positives + _PRIOR, rejected + _PRIOR)
    miss = (missed + _PRIOR, counts.true_positives + _PRIOR)
    epsilon = max(_quantile(alarm, miss, delta, significance), _quantile(miss, alarm, delta, significance))
    best = threshold_counts(counts.positives, 0, counts.positives, counts.negatives)
    limit = error_rate_bound(best, delta, significance).epsilon
    return LowerBound(
        name=name, epsilon=min(max(0.0, epsilon), limit), significance=significance, assumption=assumption
    )


def _quantile(
    denominator: tuple[float, float], numerator: tuple[float, float], delta: float, significance: float
) -> float:
    """Return the `significance` quantile of ln((1 - delta - Y) / X) for two Beta posteriors."""
    nodes = betaincinv(*denominator, (np.arange(_NODES) + 0.5) / _NODES)

    def below(epsilon: float) -> float:
        rate = np.clip(1 - delta - math.exp(epsilon) * nodes, 0, 1)
        return float((1 - betainc(*numerator, rate)).mean())

    return bisected(lambda epsilon: below(epsilon) < significance, -20.0, 40.0, _STEPS)[0]
