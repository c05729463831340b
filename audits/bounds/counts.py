"""Counts of guesses about which neighbour gave an output, from single guesses or from the two error rates."""

import numpy as np

from dpaudit.model.audit_result import Counts
from dpaudit.model.mechanism import Array


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
