"""The calibrated plan of LSVI-UCB, fixed before any data is seen: schedule, noise, ranges, shift, radius, steps."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from algorithms._linear_rl.spreads import matrix_spread, vector_spread
from algorithms._linear_rl.values import Clip, clip_both, value_ranges
from algorithms._traced_tree import TracedTree
from algorithms.lsvi_ucb.noise import (
    StepNoise,
    look_length,
    noises_of,
    releases_of,
    schedule_of,
    target_bounds,
    tree_horizon,
)
from algorithms.lsvi_ucb.printed_scales import BatchScales, Schedule, batch_scales, tight_scales
from algorithms.lsvi_ucb.settings import RULES, LsviUcbSettings
from algorithms.lsvi_ucb.switching import Grown, determinant_grown, spectrum_grown
from dpaudit import Recorder
from dpaudit.model.mechanism import Array

Sums = Callable[[Array], Array]
"""sums(element) -> the noisy sum of all elements so far"""


def open_tree(noise: StepNoise, recorder: Recorder, horizon: int) -> Sums:
    """Return the noisy prefix sums of one step's Gram matrices."""
    return TracedTree(label=noise.matrix_label, mechanism=noise.matrix, recorder=recorder, horizon=horizon)


def draw_vectors(noise: StepNoise, recorder: Recorder, shape: tuple[int, ...], times: int) -> Array:
    """Return the noise of all of one step's target vectors, drawn ahead. Shape: (times, *shape)."""
    draws = [noise.vector.release(np.zeros(shape), recorder.rng) for _ in range(times)]
    for draw in draws:
        recorder.record(noise.vector_label, noise.vector, np.zeros(shape), draw)
    return np.stack(draws) if draws else np.zeros((0, *shape))


def noisy_only(noisy: Array, exact: Array) -> Array:
    """Return what the switching rule looks at: the noisy matrices, which everybody sees, never the exact ones."""
    return noisy


def as_met(counts: Array) -> Array:
    """Return the transitions of a batch as they were met."""
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """A calibrated LSVI-UCB.

    The steps are fields, so that a test can replace one of them by a broken copy and assert which audit notices.
    """

    episodes: int
    schedule: Schedule
    switching: bool
    releases: int
    horizon: int
    noises: tuple[StepNoise, ...]
    bounds: tuple[float, ...]
    ranges: tuple[float, ...]
    ridge: float
    shift: float
    radius: float
    open: Callable[[StepNoise, Recorder, int], Sums] = open_tree
    draw: Callable[[StepNoise, Recorder, tuple[int, ...], int], Array] = draw_vectors
    clip: Clip = clip_both
    grown: Grown = determinant_grown
    threshold: float = math.inf
    look_every: int = 1
    rule_reads: Callable[[Array, Array], Array] = noisy_only
    enter: Callable[[Array], Array] = as_met

    @property
    def lengths(self) -> tuple[int, ...]:
        """The episodes of every batch: k_i = i ceil(K / B) + 1 begins one, or each look of the switching rule."""
        starts = tuple(range(0, self.episodes, self.look_every)) if self.switching else self.schedule.starts
        return tuple(stop - start for start, stop in pairwise((*starts, self.episodes)))

    @property
    def noisy(self) -> bool:
        """Whether anything is released with noise."""
        return bool(self.noises)


def plan_of(settings: LsviUcbSettings) -> BatchPlan:
    """Return the plan with the noise of the settings' calibration; without noise where nothing is released."""
    return _plan(settings, noises_of(settings) if releases_of(settings) else ())


def plan_without_noise_of(settings: LsviUcbSettings) -> BatchPlan:
    """Return the plan without noise, and so without privacy: its shift is 0, and its radius that of no noise."""
    return _plan(settings, ())


def plan_blind_of(settings: LsviUcbSettings) -> BatchPlan:
    """Return the plan with its noise, where no transition enters the statistics: nothing is learned."""
    return replace(plan_of(settings), enter=np.zeros_like)


def _plan(settings: LsviUcbSettings, noises: tuple[StepNoise, ...]) -> BatchPlan:
    """Return the plan with this noise."""
    scales = _scales(settings, noises)
    return BatchPlan(
        episodes=settings.episodes,
        schedule=schedule_of(settings),
        switching=settings.schedule == "switching",
        releases=releases_of(settings),
        horizon=tree_horizon(settings),
        noises=noises,
        bounds=target_bounds(settings),
        ranges=value_ranges(settings.steps, settings.clipping),
        ridge=float(settings.dimension),
        shift=settings.shift_scale * (scales.deviation + scales.extra),
        radius=settings.bonus_scale * scales.radius,
        grown=spectrum_grown if settings.switching_rule == "spectral" else determinant_grown,
        threshold=settings.limit,
        look_every=look_length(settings),
    )


def _scales(settings: LsviUcbSettings, noises: tuple[StepNoise, ...]) -> BatchScales:
    """Return shift and radius: the printed ones with printed noise, else by the noise's own operator norm."""
    matrix = matrix_spread(noises[0].matrix) if noises else 0.0
    vector = vector_spread(noises[0].vector) if noises else 0.0
    if settings.calibration == "paper" and noises:
        return batch_scales(matrix, vector, B=schedule_of(settings).planned, **settings.sizes())
    nodes = max(tree_horizon(settings).bit_length(), 1)
    by_determinant = settings.schedule == "switching" and settings.switching_rule == "determinant"
    extra = settings.dimension if by_determinant else 1
    return tight_scales(matrix, vector, nodes=nodes, extra=extra, **settings.sizes())


def most_switches(settings: LsviUcbSettings) -> float:
    """Return how often the policy changes at most, with probability 1 - fail_prob; infinity where that is unproved.

    A switch is set off by a step whose exact determinant, or one of whose exact forms, has grown since the last one:
    its logarithm by threshold - 2, or by ln(threshold / 3). Exact log determinants grow by d ln(1 + K / (d c)) in all.
    """
    if settings.regret_unproved:
        return math.inf
    plan, d = plan_of(settings), settings.dimension
    least = RULES[settings.switching_rule][0]
    growth = d * math.log1p(settings.episodes / (d * (plan.ridge + plan.shift / 2)))
    spectral = settings.switching_rule == "spectral"
    each = math.log(plan.threshold / least) if spectral else plan.threshold - least
    return settings.steps * growth / each
