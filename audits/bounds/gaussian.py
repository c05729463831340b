"""Bounds under Gaussian privacy, from the accuracy or the error rates of one test.

A mu-Gaussian private mechanism lets no test of a fair coin be right more often than Phi(mu / 2), and no test with
false positive rate a find more than Phi(Phi^-1(a) + mu). Both are inverted here. Differences of
quantiles keep their sign: on identical laws they are negative half of the time, and the bound is 0.
"""

from functools import lru_cache

from scipy.special import ndtri

from audits.bounds.binomial import proportion_lower, proportion_upper
from dpaudit import NormalForm, bracket_epsilon
from dpaudit.model.audit_result import Counts, LowerBound
from dpaudit.model.losses import Composition, GaussianLoss

ASSUMPTION = "the trade-off between neighbours is Gaussian"
"""The assumption of a Gaussian bound against a claim that is not Gaussian."""


def gaussian_bound(counts: Counts, delta: float, significance: float, assumption: str = ASSUMPTION) -> LowerBound:
    """Return the epsilon at `delta` of the smallest mu that explains the accuracy of the threshold test.

    Guarantee: exact refutation of every Gaussian claim below it, for a fair coin and a threshold fixed on other
    runs (one binomial limit, no union bound). For any other claim `assumption` is what it rests on.
    Edge cases: 0 for delta = 0, where no Gaussian loss has a finite epsilon, and when half are right or fewer.
    Source: Dong, Roth and Su (2022), Definition 2.6: FPR + FNR >= 2 Phi(-mu / 2) for every test.

    >>> from audits.examples import COUNTS
    >>> gaussian_bound(COUNTS, 1e-5, 0.05).epsilon > 4
    True
    """
    right = counts.true_positives + counts.negatives - counts.false_positives
    accuracy = float(proportion_lower(right, counts.runs, significance)) if counts.runs else 0.0
    mu = 2 * float(ndtri(min(max(accuracy, 0.5), 1 - 2.0**-53)))
    return _bound("gaussian", mu, delta, significance, assumption)


def gaussian_rate_bound(counts: Counts, delta: float, significance: float) -> LowerBound:
    """Return the epsilon at `delta` of mu = Phi^-1(1 - FPR) - Phi^-1(FNR), each rate at its upper limit.

    Guarantee: as for `gaussian_bound`, but for a fixed number of runs on either side and any threshold, at the
    price of a union of two limits. Sharper than the accuracy where the threshold lies far out.
    Source: Nasr et al. (2023), Section 4, with the sign kept.

    >>> from audits.examples import COUNTS
    >>> gaussian_rate_bound(COUNTS, 1e-5, 0.05).epsilon > 4
    True
    """
    if min(counts.positives, counts.negatives) == 0:
        return _bound("gaussian_rates", 0.0, delta, significance)
    missed = counts.positives - counts.true_positives
    false_positive = float(proportion_upper(counts.false_positives, counts.negatives, significance / 2))
    false_negative = float(proportion_upper(missed, counts.positives, significance / 2))
    mu = -float(ndtri(false_positive)) - float(ndtri(false_negative))
    return _bound("gaussian_rates", mu, delta, significance)


@lru_cache(maxsize=256)
def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return epsilon(delta) of N(mu, 1) against N(0, 1), rounded down; 0 where mu or delta is 0."""
    if mu <= 0 or delta == 0:
        return 0.0
    alternatives = (Composition.of(GaussianLoss(mu=mu)),)
    return bracket_epsilon(NormalForm(upper=alternatives, lower=alternatives), delta).lower


def _bound(name: str, mu: float, delta: float, significance: float, assumption: str = ASSUMPTION) -> LowerBound:
    """Return the bound that a lower limit `mu` gives; a negative mu gives 0."""
    epsilon = gaussian_epsilon(max(0.0, mu), delta)
    return LowerBound(name=name, epsilon=epsilon, significance=significance, assumption=assumption)
