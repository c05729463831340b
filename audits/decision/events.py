"""Events: which neighbour to guess at which scores, chosen on runs that are not counted.

An event is a pair of thresholds: guess the second neighbour at `high` or above, the first at `low` or below, abstain
between; either side may be empty. The chosen event has the largest expected bound on the counted runs. The estimate of
that bound is lowered by some standard errors, because the best of many small tails is best partly by chance. Where
the score itself, or a simple curve of it, fits the labels as log odds, these odds are combined with the label counts.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from audits.bounds.error_rates import guess_counts
from audits.decision.score_calibration import calibrated_odds
from dpaudit.model.audit_result import Counts
from dpaudit.model.mechanism import Array

LIKELIHOOD, LEARNED = 10.0, 3.0
"""The weight of a score's own odds relative to the labels: for a given statistic, and for a learned one."""

_CUTS = 200
_CAUTION = 3.0
_KEPT_BITS = 33
_MOST_ODDS = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Guess the second neighbour for scores >= high, the first for scores <= low; `cut` never abstains."""

    low: float
    high: float
    cut: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"Expected low={self.low} below high={self.high}: a run is guessed once.")


def rounded(scores: Array) -> Array:
    """Return scores with ten significant digits, so that rounding errors do not split an atom.

    Raises: ValueError: a score is NaN.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"Expected one score a run, got an array of shape {values.shape}.")
    if np.isnan(values).any():
        raise ValueError("Expected scores without NaN; let the score map a NaN in the output to a number.")
    mantissa, exponent = np.frexp(values)
    with np.errstate(over="ignore"):
        result: Array = np.ldexp(np.round(np.ldexp(mantissa, _KEPT_BITS)), exponent - _KEPT_BITS)
    return np.where(np.isfinite(values), result, values)


def rated_event(
    scores: Array, labels: Array, counted: int, significance: float, trust: float = LEARNED
) -> tuple[float, Event]:
    """Return (promise, event): the event with the largest promised bound on `counted` further runs.

    Shape: `scores` and `labels` are (choosing runs,). `trust` is the weight of the score's own odds, where they fit the
    labels, relative to the labels. Edge cases: with a single distinct score, the event abstains and cuts at 0.
    """
    if len(np.unique(scores)) < 2:
        return -np.inf, Event(low=-np.inf, high=np.inf, cut=0.0)
    cuts = np.unique(np.concatenate([[-np.inf], _candidates(scores), [np.inf]]))
    order = np.argsort(scores, kind="stable")
    under, until = (np.searchsorted(scores[order], cuts, side=side) for side in ("left", "right"))
    second = _summed(labels[order])
    up, up_right = len(scores) - under, second[-1] - second[under]
    down, down_right = until, until - second[until]
    middle = _best_cut(cuts, up_right + under - second[under])
    odds, own = calibrated_odds(scores, labels)
    weight = 0.0 if odds is None else trust if own else LEARNED
    if odds is not None:
        share = _summed(1 / (1 + np.exp(-odds[order])))
        up_right = up_right + weight * (share[-1] - share[under])
        down_right = down_right + weight * (until - share[until])
    guesses = (1 + weight) * (up[:, None] + down[None, :])
    right = up_right[:, None] + down_right[None, :]
    disjoint = cuts[:, None] > cuts[None, :]
    growth = counted / len(scores) / (1 + weight)
    prospects = np.where(disjoint, _prospect(right, guesses, growth, significance), -np.inf)
    high, low = np.unravel_index(int(np.argmax(prospects)), prospects.shape)
    cut = 0.0 if own else middle
    return float(prospects[high, low]), Event(low=float(cuts[low]), high=float(cuts[high]), cut=cut)


def event_by_odds(scores: Array, counted: int, significance: float, caution: float = 0.0) -> tuple[float, Event]:
    """Return (promise, event) where each score is the log odds of its run; no label is needed.

    Promises are lowered by `caution` standard errors of the share of right guesses, where the odds are estimates.
    Edge cases: with a single distinct score, the event abstains and cuts at 0.
    """
    values, runs = np.unique(scores, return_counts=True)
    if len(values) < 2:
        return -np.inf, Event(low=-np.inf, high=np.inf, cut=0.0)
    share = 1 / (1 + np.exp(-np.clip(values, -_MOST_ODDS, _MOST_ODDS)))
    size = len(values)
    lows, highs = _ends(runs), _ends(runs[::-1])
    up, up_right = (_summed(x[::-1])[highs] for x in (runs, runs * share))
    down, down_right = (_summed(x)[lows] for x in (runs, runs * (1 - share)))
    prospects = _prospect(
        up_right[:, None] + down_right, up[:, None] + down, counted / len(scores), significance, caution
    )
    prospects = np.where(highs[:, None] + lows[None, :] <= size, prospects, -np.inf)
    high, low = np.unravel_index(int(np.argmax(prospects)), prospects.shape)
    ends = np.concatenate([[-np.inf], values, [np.inf]])
    event = Event(low=float(ends[lows[low]]), high=float(ends[size + 1 - highs[high]]), cut=0.0)
    return float(prospects[high, low]), event


def count_guesses(event: Event, scores: Array, labels: Array) -> Counts:
    """Return the counts of the event's guesses on runs that were not used to choose it."""
    up, down = scores >= event.high, scores <= event.low
    positive = scores >= event.cut
    return guess_counts(labels, up.astype(int) - down, positive)


def roc_points(scores: Array, labels: Array) -> tuple[tuple[float, float], ...]:
    """Return (false, true) positive rates at 100 evenly spread thresholds, from (0, 0) to (1, 1)."""
    if labels.all() or not labels.any():
        return ()
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    last_of_tie = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(order) - 1)
    hits = np.cumsum(labels[order])[last_of_tie]
    alarms = last_of_tie + 1 - hits
    keep = np.unique(np.linspace(0, len(last_of_tie) - 1, 100).astype(int))
    pairs = zip(alarms[keep] / (~labels).sum(), hits[keep] / labels.sum(), strict=True)
    return ((0.0, 0.0), *((float(x), float(y)) for x, y in pairs))


def _best_cut(cuts: Array, right: Array) -> float:
    """Return the threshold with most right guesses; among ties the middle one."""
    best = cuts[right == right.max()]
    return float(best[len(best) // 2])


def _summed(values: Array) -> Array:
    """Return the sums of the first 0, 1, 2, ... values."""
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])


def _candidates(scores: Array) -> Array:
    """Return up to `_CUTS` thresholds, all of them observed scores."""
    values = np.unique(scores)
    if len(values) <= _CUTS:
        return values
    ordered = np.sort(scores)
    tails = np.unique(np.geomspace(1, len(scores) // 2, _CUTS // 3).astype(int)) - 1
    inner = np.linspace(0, len(scores) - 1, _CUTS // 3).astype(int)
    return np.unique(ordered[np.concatenate([tails, inner, len(scores) - 1 - tails])])


def _ends(runs: Array) -> Array:
    """Return how many of the distinct scores to cut off at one end, given the runs of each."""
    if len(runs) <= _CUTS:
        return np.arange(len(runs) + 1)
    seen = np.cumsum(runs)
    shares = np.unique(np.concatenate([np.geomspace(1, seen[-1], _CUTS // 2), np.linspace(0, seen[-1], _CUTS // 2)]))
    return np.unique(np.searchsorted(seen, shares, side="right"))


def _prospect(right: Array, guesses: Array, growth: float, significance: float, caution: float = _CAUTION) -> Array:
    """Return the bound to expect on `growth` times the runs, lowered by `caution` standard errors of the estimate.

    Source: Wilson (1927), whose limit is valid for tails without a wrong guess, too.
    """
    limit = -float(ndtri(significance)) / np.sqrt(growth) if growth > 0 else 0.0
    square = (caution + limit) ** 2
    number = np.maximum(guesses, 0.25)
    share = (right + 0.5) / (guesses + 1)
    spread = np.sqrt(square * (number * share * (1 - share) + square / 4))
    lowest = (number * share + square / 2 - spread) / (number + square)
    return np.log(lowest / (1 - lowest))
