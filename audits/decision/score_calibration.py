"""Calibration of a score: log odds of the second neighbour at each score.

A score may be a log likelihood ratio, an estimate of one, or any statistic. The log odds are the score itself where it
fits the labels, else a line in the score that is constant beyond two bends: privacy makes log odds saturate, and four
parameters can be estimated from few runs. Where neither fits, there are no odds.
"""

import numpy as np

from audits.attacks.logistic import log_likelihood
from dpaudit.model.mechanism import Array

_BINS = 96
_BENDS = 12
_STEPS = 12
_SETTLED = 1e-9  # a step so short is the last one: the next would be as long as its square
_FIT_BINS = 8
_DEVIATIONS = 3.0
_FOUR_PARAMETERS, _ONE_PARAMETER = 6.0, 3.0
_MOST = 40.0
_LARGEST = 1e100


def calibrated_odds(scores: Array, labels: Array) -> tuple[Array | None, bool]:
    """Return log odds of the second neighbour for each run, and whether they are the scores themselves.

    Shape: `scores` and `labels` are (runs,), two distinct scores at least. None where neither fits the labels.
    Guarantee: none; the odds choose an event on runs that are not counted.
    """
    own, bent = np.clip(scores, -_MOST, _MOST), _bent(scores, labels)
    if _fits(own, labels) and log_likelihood(bent, labels) < log_likelihood(own, labels) + _FOUR_PARAMETERS:
        return own, True
    return (bent if _fits(bent, labels) else None), False


def _bent(scores: Array, labels: Array) -> Array:
    """Return the most likely log odds that are linear in the score between two bends and flat beyond them.

    The line's two numbers are fitted by Newton's method for all pairs of bends at once, on runs in bins. Odds that are
    opposite beyond the bends, as those of many pairs are, have one number less and are taken where they fit as well.
    """
    finite = scores[np.abs(scores) < _LARGEST]
    if len(finite) < 2:
        return np.zeros(len(scores))
    own = np.clip(scores, finite.min(), finite.max())
    edges = np.unique(np.quantile(own, np.linspace(0, 1, _BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, own, side="right")
    runs = np.bincount(bins, minlength=len(edges) + 1).astype(float)
    second = np.bincount(bins, labels, minlength=len(edges) + 1)
    middle = np.bincount(bins, own, minlength=len(edges) + 1) / np.maximum(runs, 1)
    bends = np.quantile(own, np.linspace(0, 1, _BENDS + 1))
    pairs = np.array([(low, high) for i, low in enumerate(bends) for high in bends[i + 1 :] if low < high])
    if len(pairs) == 0:
        return np.zeros(len(scores))
    unit = _between(middle[None, :], pairs)
    line = _fitted(unit, runs, second)
    best, likelihood = _likeliest(line, unit, runs, second)
    opposite = _fitted_opposite(unit, runs, second)
    other, opposite_likelihood = _likeliest(opposite, unit, runs, second)
    if opposite_likelihood > likelihood - _ONE_PARAMETER:
        best, line = other, opposite
    return line[best, 0] + line[best, 1] * _between(own, pairs[best : best + 1])


def _likeliest(line: Array, unit: Array, runs: Array, second: Array) -> tuple[int, float]:
    """Return the pair of bends whose line is the likeliest, and its log likelihood."""
    odds = line[:, :1] + line[:, 1:] * unit
    likelihood = (second * odds - runs * np.logaddexp(0, odds)).sum(axis=1)
    best = int(np.argmax(likelihood))
    return best, float(likelihood[best])


def _fitted_opposite(unit: Array, runs: Array, second: Array) -> Array:
    """Return intercept and slope of each pair's logistic line whose ends are opposite, by Newton's method."""
    centred, end = 2 * unit - 1, np.zeros((len(unit), 1))
    for _ in range(_STEPS):
        share = 1 / (1 + np.exp(-np.clip(end * centred, -_MOST, _MOST)))
        gradient = ((second - runs * share) * centred).sum(axis=1, keepdims=True) - 0.5 * end
        weight = (runs * share * (1 - share) * centred**2).sum(axis=1, keepdims=True) + 0.5
        end = np.clip(end + np.clip(gradient / weight, -4, 4), -_MOST, _MOST)
    return np.concatenate([-end, 2 * end], axis=1)


def _between(scores: Array, pairs: Array) -> Array:
    """Return scores between the bends of each pair, as 0 at the lower and 1 at the higher one."""
    low, high = pairs[:, :1], pairs[:, 1:]
    inside: Array = (np.clip(scores, low, high) - low) / (high - low)
    return inside if scores.ndim > 1 else inside[0]


def _fitted(unit: Array, runs: Array, second: Array) -> Array:
    """Return intercept and slope of each pair's logistic line, with half a run of either neighbour as a prior."""
    line = np.zeros((len(unit), 2))
    for _ in range(_STEPS):
        odds = line[:, :1] + line[:, 1:] * unit
        share = 1 / (1 + np.exp(-np.clip(odds, -_MOST, _MOST)))
        left, weight = second - runs * share, runs * share * (1 - share)
        gradient = np.stack([left.sum(axis=1), (left * unit).sum(axis=1)], axis=1) - 0.5 * line
        a, b, c = weight.sum(axis=1) + 0.5, (weight * unit).sum(axis=1), (weight * unit**2).sum(axis=1) + 0.5
        determinant = a * c - b * b
        step = np.stack([c * gradient[:, 0] - b * gradient[:, 1], a * gradient[:, 1] - b * gradient[:, 0]], axis=1)
        before, line = line, np.clip(line + np.clip(step / determinant[:, None], -4, 4), -_MOST, _MOST)
        if np.abs(line - before).max() <= _SETTLED:
            break
    return line


def _fits(odds: Array, labels: Array) -> bool:
    """Return whether the odds fit the labels, bin by bin, within three standard deviations."""
    share = 1 / (1 + np.exp(-odds))
    bins = np.searchsorted(np.quantile(odds, np.linspace(0, 1, _FIT_BINS + 1)[1:-1]), odds, side="right")
    surplus = np.bincount(bins, labels - share, minlength=_FIT_BINS)
    variance = np.bincount(bins, share * (1 - share), minlength=_FIT_BINS)
    misfit = float((surplus**2 / (variance + 1e-9)).sum())
    return misfit <= _FIT_BINS + _DEVIATIONS * float(np.sqrt(2 * _FIT_BINS))
