"""The calibrated plan of UCRL-VTR, fixed before any data is seen: noise, ranges, confidence, steps of an episode."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from algorithms._linear_rl.values import Clip, clip_both, value_ranges
from algorithms.ucrl_vtr.confidence import Confidence, confidence_of, ridge_of
from algorithms.ucrl_vtr.noise import noisy_regressions, regressions_of
from algorithms.ucrl_vtr.planning import Regressed, solve
from algorithms.ucrl_vtr.regressions import Regression
from algorithms.ucrl_vtr.settings import UcrlVtrSettings
from algorithms.ucrl_vtr.sums import Sums, open_exact, open_messages, open_trees
from dpaudit import Recorder
from dpaudit.model.mechanism import Array

Open = Callable[[Regression, Recorder, int], Sums]
"""open(regression, recorder, horizon) -> the stream that adds noise"""

Enter = Callable[[tuple[Regression, ...], Array, Array], Array]
"""enter(regressions, features, targets) -> what enters the statistics"""

Solve = Callable[[Array, float, Array, float], Regressed]
"""solve(statistics, ridge, shifts, floor) -> regressions"""


def contributions(regressions: tuple[Regression, ...], features: Array, targets: Array) -> Array:
    """Return x x^T, and y x as last column, with every norm and target clipped to its regression's bounds.

    Shape: features (n_runs, G, d), targets (n_runs, G) to (n_runs, G, d, d + 1). What is not a number becomes 0, so
    that a broken record cannot reach past its bounds.
    """
    x_bounds = np.array([regression.feature_bound for regression in regressions])
    y_bounds = np.array([regression.target_bound for regression in regressions])
    x, y = np.nan_to_num(features, posinf=0.0, neginf=0.0), np.nan_to_num(targets, posinf=0.0, neginf=0.0)
    norms = np.linalg.norm(x, axis=-1)
    x = x * np.minimum(1.0, x_bounds / np.maximum(norms, x_bounds))[..., None]
    return products(x, np.clip(y, 0.0, y_bounds))


def products(features: Array, targets: Array) -> Array:
    """Return x x^T, and y x as last column. Shape: (..., d) and (...) to (..., d, d + 1)."""
    columns = np.concatenate([features, targets[..., None]], axis=-1)
    outer: Array = features[..., :, None] * columns[..., None, :]
    return outer


@dataclass(frozen=True, slots=True, kw_only=True)
class MixturePlan:
    """A calibrated UCRL-VTR.

    The steps are fields, so that a test can replace one of them by a broken copy and assert which audit notices.
    """

    model: str
    episodes: int
    ridge: float
    regressions: tuple[Regression, ...]
    ranges: tuple[float, ...]
    confidence: Confidence
    planning_period: int
    open: Open
    clip: Clip = clip_both
    enter: Enter = contributions
    solve: Solve = solve

    @property
    def kinds(self) -> int:
        """How many regressions there are a step: 1, or 2 with weighted ones."""
        return self.confidence.kinds

    def shifts(self, episode: int) -> Array:
        """Return what is added to the eigenvalues of every regression's matrix. Shape: (G,)."""
        return np.array([self.confidence.shift(index % self.kinds, episode) for index in range(len(self.regressions))])


def plan_of(settings: UcrlVtrSettings) -> MixturePlan:
    """Return the plan with the noise of the settings' calibration."""
    return _plan(settings, noisy_regressions(settings), open_trees if settings.model == "joint" else open_messages)


def plan_without_noise_of(settings: UcrlVtrSettings) -> MixturePlan:
    """Return the plan without noise, and so without privacy."""
    return _plan(settings, regressions_of(settings), open_exact)


def plan_blind_of(settings: UcrlVtrSettings) -> MixturePlan:
    """Return the plan with its noise, where no episode enters the statistics: nothing is learned."""
    return replace(plan_of(settings), enter=no_contributions)


def no_contributions(regressions: tuple[Regression, ...], features: Array, targets: Array) -> Array:
    """Return 0 in place of every contribution. Shape: as for `contributions`."""
    return np.zeros((*features.shape, features.shape[-1] + 1))


def _plan(settings: UcrlVtrSettings, regressions: tuple[Regression, ...], opened: Open) -> MixturePlan:
    """Return the plan with these regressions."""
    return MixturePlan(
        model=settings.model,
        episodes=settings.episodes,
        ridge=ridge_of(settings),
        regressions=regressions,
        ranges=value_ranges(settings.steps, settings.clipping),
        confidence=confidence_of(settings, regressions),
        planning_period=settings.planning_period,
        open=opened,
    )
