"""Epsilon from both error rates of a fixed threshold test: a Clopper-Pearson limit on each, joined by a union bound."""

import math

import numpy as np

from audits.bounds.binomial import proportion_upper
from dpaudit.model.audit_result import Counts, LowerBound
from dpaudit.model.mechanism import Array


def error_rate_bound(counts: Counts, delta: float, significance: float) -> LowerBound:
    """Return the larger of the two logarithms that the error rates of one test allow.

    Guarantee: a mechanism is (epsilon, delta)-private only if every test has FPR + e^epsilon FNR >= 1 - delta and
    the same with the rates exchanged. Both logarithms use the same two limits, each wrong with probability at
    most significance / 2, so taking the larger one costs nothing. The test must be fixed on other runs.
    Edge cases: no error at all gives a finite bound; no run on one side gives 0.
    Source: Jagielski, Ullman and Oprea (2020), Section 4; Kairouz, Oh and Viswanath (2015), Theorem 2.1.

    >>> from audits.examples import COUNTS
    >>> round(error_rate_bound(COUNTS, 0.0, 0.05).epsilon, 2)
    1.23
    """
    if min(counts.positives, counts.negatives) == 0:
        return LowerBound(name="clopper_pearson", epsilon=0.0, significance=significance)
    missed = counts.positives - counts.true_positives
    false_positive = float(proportion_upper(counts.false_positives, counts.negatives, significance / 2))
    false_negative = float(proportion_upper(missed, counts.positives, significance / 2))
    epsilon = max(
        0.0,
        _log_ratio(1 - delta - false_negative, false_positive),
        _log_ratio(1 - delta - false_positive, false_negative),
    )
    return LowerBound(name="clopper_pearson", epsilon=epsilon, significance=significance)


def _log_ratio(numerator: float, denominator: float) -> float:
    """Return ln(numerator / denominator), or minus infinity where the numerator is not positive."""
    return math.log(numerator / denominator) if numerator > 0 else -math.inf


def guess_counts(labels: Array, guesses: Array, positive: Array) -> Counts:
    """Return the counts of one guess a run: above 0 for the second neighbour, below 0 for the first, 0 for none.

    Shape: (runs,) each. `labels` is true where the second neighbour gave the output, `positive` where a test that
    never abstains takes it for the second one's.

    >>> counts = guess_counts(np.array([True, False]), np.array([1, 0]), np.array([True, True]))
    >>> counts.guesses, counts.correct, counts.false_positives
    (1, 1, 1)
    """
    return Counts(
        runs=len(labels),
        guesses=int(np.count_nonzero(guesses)),
        correct=int(((guesses > 0) & labels).sum() + ((guesses < 0) & ~labels).sum()),
        true_positives=int((positive & labels).sum()),
        false_positives=int((positive & ~labels).sum()),
        positives=int(labels.sum()),
        negatives=int((~labels).sum()),
    )


def threshold_counts(true_positives: int, false_positives: int, positives: int, negatives: int) -> Counts:
    """Return the counts of one threshold at which every run is a guess.

    >>> threshold_counts(3, 1, 4, 4).correct
    6
    """
    return Counts(
        runs=positives + negatives,
        guesses=positives + negatives,
        correct=true_positives + negatives - false_positives,
        true_positives=true_positives,
        false_positives=false_positives,
        positives=positives,
        negatives=negatives,
    )


def perfect_counts(runs: int) -> Counts:
    """Return the counts of an attack that is always right in `runs` runs; of no run, no guess."""
    half = runs // 2
    return threshold_counts(runs - half, 0, runs - half, half)
