"""The logistic log likelihood of labels given log odds, and log odds for labels that are fair coins."""

import numpy as np

from dpaudit.model.mechanism import Array

_STEPS, _FITTING_STEPS, _MOST = 20, 12, 30.0


def log_likelihood(odds: Array, labels: Array) -> Array:
    """Return the log probability of the labels, summed over the last axis.

    Shape: `labels` is (runs,), true for the second neighbour; `odds` is (..., runs), its log odds in each run.

    >>> float(log_likelihood(np.zeros(2), np.array([True, False])).round(4))
    -1.3863
    """
    return -np.logaddexp(0, np.where(labels, -odds, odds)).sum(axis=-1)


def log_ratio(labels: Array) -> float:
    """Return the log of the runs of the second neighbour over those of the first, each with half a run more.

    >>> round(log_ratio(np.array([True, True, False])), 3)
    0.511
    """
    return float(np.log((labels.sum() + 0.5) / ((~labels).sum() + 0.5)))


def balanced(odds: Array, labels: Array) -> float:
    """Return what to add to log odds so that runs of both neighbours have a mean share of one half together.

    True odds have it, as both neighbours run equally often; an intercept that is fitted to labels has their error.
    Shape: `odds` and `labels` are (runs,), with runs of both neighbours.

    >>> round(balanced(np.array([1.0, 3.0]), np.array([False, True])), 6)
    -2.0
    """
    shift, weights = -float(np.median(odds)), np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())
    for _ in range(_STEPS):
        share = np.tanh(np.clip(odds + shift, -_MOST, _MOST) / 2)
        shift -= float(np.clip(2 * (weights @ share) / (weights @ (1 - share**2)), -1.0, 1.0))
    return shift


def ridge_weights(inputs: Array, labels: Array, ridge: float) -> Array:
    """Return the weights of log odds that are linear in centred `inputs`, beside an intercept that is left out.

    Newton steps on the logistic loss, penalised by half of `ridge` for each squared weight.
    """
    design = np.column_stack([inputs - inputs.mean(axis=0), np.ones(len(inputs))])
    penalty = np.full(design.shape[1], ridge)
    penalty[-1] = 1e-6
    line = np.zeros(design.shape[1])
    for _ in range(_FITTING_STEPS):
        share = 1 / (1 + np.exp(-np.clip(design @ line, -_MOST, _MOST)))
        gradient = design.T @ (labels - share) - penalty * line
        curvature = (design * (share * (1 - share))[:, None]).T @ design + np.diag(penalty)
        line = line + np.clip(np.linalg.solve(curvature, gradient), -2, 2)
    return line[:-1]
