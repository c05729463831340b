"""The calibrated plan, fixed before any data is seen: noise of a message, stages, widths, and the declaration."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms._linear_rl.spreads import matrix_spread
from algorithms._linear_rl.values import value_ranges
from algorithms.lsvi_ucb.printed_scales import tight_scales
from algorithms.replayed_lsvi.settings import ReplayedLsviSettings
from dpaudit import Declaration, Local, Parallel, Recorder, Release
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import tape_of
from mechanisms import JointGaussian

ReleaseStep = Callable[[Recorder, str, JointGaussian, Array, int], Array]
"""release(recorder, label, mechanism, exact sums, users) -> the sums of so many users' messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage: `length` main episodes, after which `users` fresh users replay the past at each step.

    `shift` is added to eigenvalues and `radius` multiplies the bonus of what is learned then.
    """

    length: int
    users: int
    shift: float
    radius: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayPlan:
    """A calibrated learner; `last` is the number of main episodes under the last policy.

    A target is divided by the `bounds` of its step, so that one mechanism serves all steps. The steps `release` and
    `enter` are fields, so that a test can break one and see who notices.
    """

    mechanism: JointGaussian
    stages: tuple[Stage, ...]
    last: int
    bounds: tuple[float, ...]
    ridge: float
    release: ReleaseStep
    enter: Callable[[Array], Array]


def label_of(step: int) -> str:
    """Return the label of a message about one step, the same in the declaration and in the trace."""
    return f"message about step {step + 1}"


def plan_of(settings: ReplayedLsviSettings) -> ReplayPlan:
    """Return the plan; it depends on nothing but the settings."""
    return _plan(settings, release_messages, np.asarray, noisy=True)


def plan_without_noise_of(settings: ReplayedLsviSettings) -> ReplayPlan:
    """Return the plan without noise, and so without privacy."""
    return _plan(settings, exact_sums, np.asarray, noisy=False)


def plan_blind_of(settings: ReplayedLsviSettings) -> ReplayPlan:
    """Return the plan with its noise, where what users met counts 0: nothing is learned."""
    return _plan(settings, release_messages, np.zeros_like, noisy=True)


def _plan(
    settings: ReplayedLsviSettings, release: ReleaseStep, enter: Callable[[Array], Array], *, noisy: bool
) -> ReplayPlan:
    """Return the plan with this release of sums."""
    mechanism = JointGaussian.calibrated(settings.claim(), feature_bound=1.0, target_bound=1.0)
    spread, main = matrix_spread(mechanism) if noisy else 0.0, settings.first_stage
    stages: list[Stage] = []
    for number in range(settings.stages):
        users = main * 2**number  # n_b, the main episodes so far
        scales = tight_scales(
            spread, spread * settings.steps * math.sqrt(users), nodes=users, episodes=settings.episodes,
            steps=settings.steps, d=settings.dimension, fail_prob=settings.fail_prob,
        )  # fmt: skip
        shift, radius = settings.shift_scale * (scales.deviation + scales.extra), settings.bonus_scale * scales.radius
        stages.append(Stage(length=users if number == 0 else users // 2, users=users, shift=shift, radius=radius))
    spent = sum(stage.length + settings.steps * stage.users for stage in stages)
    return ReplayPlan(
        mechanism=mechanism,
        stages=tuple(stages),
        last=settings.episodes - spent,
        bounds=value_ranges(settings.steps, "range_aware"),
        ridge=float(settings.dimension),
        release=release,
        enter=enter,
    )


def release_messages(recorder: Recorder, label: str, mechanism: JointGaussian, exact: Array, users: int) -> Array:
    """Return the sum of `users` messages, each with its own noise; one draw, which is exact in law. Shape of `exact`.

    The noises of m messages sum to one draw of a message's noise times sqrt(m).
    """
    root = math.sqrt(users)
    noisy = root * recorder.release(label, mechanism, exact / root)
    tape = tape_of(recorder.rng)
    if tape is not None:
        tape.total(label, mechanism, users, noisy - exact)
    return noisy


def exact_sums(recorder: Recorder, label: str, mechanism: JointGaussian, exact: Array, users: int) -> Array:
    """Return the sums as they are, for comparison: no privacy."""
    return exact


KEY = "the place in the public schedule at which a user comes"
"""What decides which message a user sends, if any."""


def declaration_of(settings: ReplayedLsviSettings) -> Declaration:
    """Return the message about each step, in parallel over users; a user of a main episode sends nothing.

    The values that a message reads were fixed by earlier users' messages, so that it is one Gaussian release.
    """
    mechanism = plan_of(settings).mechanism
    messages = tuple(Release(label=label_of(step), mechanism=mechanism) for step in range(settings.steps))
    return Local(part=Parallel(parts=messages, key=KEY))
