"""Rare events that refute a claim: a few runs whose scores are extreme, and nearly all of one neighbour.

The event with the largest promised bound may promise less than the claim, while a rarer one, such as one value in
hundreds of runs, already refutes the claim on the runs that teach and choose. Then the rarer one is counted.
"""

import numpy as np
from scipy.special import bdtrc

from audits.decision.events import Event
from dpaudit.model.mechanism import Array

_LARGEST_SHARE, _LEAST_RUNS = 0.02, 2
_TOGETHER, _CHOOSING = 1e-4, 0.35
_MOST = 200


def rare_event(
    taught: tuple[Array, Array], chosen: tuple[Array, Array], epsilon: float, delta: float, cut: float
) -> Event | None:
    """Return the rare event that refutes `epsilon` most surely on runs that are not counted, or None.

    Shape: each pair is (scores, labels) of runs; those that taught the score, then those that choose. An event is a
    tail of the scores with at least two and at most 2 % of the choosing runs. All runs together must refute epsilon at
    level 1e-4, and the choosing runs alone, which the score was not fitted to, at .35; leaks of probability
    `delta` explain some. Guarantee: none; the event is counted on other runs.

    >>> scores = np.concatenate([np.zeros(2_000), np.full(12, 5.0)])
    >>> labels = np.concatenate([np.arange(2_000) % 2 == 0, np.ones(12, dtype=bool)])
    >>> rare_event((scores, labels), (scores, labels), 0.3, 0.0, 0.0).high
    5.0
    """
    best, best_event = _TOGETHER, None
    for sign in (1.0, -1.0):
        second = sign > 0
        for threshold in _thresholds(sign * chosen[0]):
            taught_runs, taught_right = _counted(sign * taught[0], taught[1] == second, threshold)
            runs, right = _counted(sign * chosen[0], chosen[1] == second, threshold)
            leaks = delta * (len(chosen[0]) + len(taught[0]))
            alone = rare_p_value(runs, right, epsilon, delta * len(chosen[0]))
            together = rare_p_value(runs + taught_runs, right + taught_right, epsilon, leaks)
            if alone < _CHOOSING and together < best:
                best = together
                best_event = (
                    Event(low=-np.inf, high=threshold, cut=cut)
                    if second
                    else Event(low=-threshold, high=np.inf, cut=cut)
                )
    return best_event


def _thresholds(scores: Array) -> list[float]:
    """Return distinct scores whose upper tail has at least two runs, and at most 2 % of the runs."""
    values, counts = np.unique(scores, return_counts=True)
    tail = np.cumsum(counts[::-1])[::-1]
    usable = values[(tail >= _LEAST_RUNS) & (tail <= _LARGEST_SHARE * len(scores))]
    return [float(value) for value in usable[-_MOST:]]


def _counted(scores: Array, right: Array, threshold: float) -> tuple[int, int]:
    """Return how many runs are in a tail, and how many of them are right."""
    inside = scores >= threshold
    return int(inside.sum()), int((inside & right).sum())


def rare_p_value(runs: int, right: int, epsilon: float, leaks: float) -> float:
    """Return the chance of so many right guesses at the largest share that epsilon allows, beside expected leaks."""
    counted = right - round(leaks)
    if counted <= 0:
        return 1.0
    return float(bdtrc(counted - 1, runs, 1 / (1 + np.exp(-epsilon))))
