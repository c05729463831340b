"""Checks of a run of UCRL-VTR: norms of features and targets where they entered the statistics."""

import numpy as np

from algorithms.ucrl_vtr.regressions import Regression
from dpaudit.model.mechanism import Array


def norm_ratios(contributions: Array, regressions: tuple[Regression, ...]) -> tuple[Array, Array]:
    """Return how large features and targets are against their bounds, as they entered. Shape: both (n_runs,).

    ||x||^2 is the trace of x x^T, and |y| is ||y x|| over ||x||; where x is 0, y entered nowhere. The sign of y does
    not matter: (x, -y) enters as (-x, y) does.
    """
    x_bounds = np.array([regression.feature_bound for regression in regressions])
    y_bounds = np.array([regression.target_bound for regression in regressions])
    norms = np.sqrt(np.maximum(np.trace(contributions[..., :-1], axis1=-2, axis2=-1), 0.0))
    targets = np.linalg.norm(contributions[..., -1], axis=-1) / np.where(norms > 0, norms, np.inf)
    return (norms / x_bounds).max(axis=1), (targets / y_bounds).max(axis=1)
