"""The plan of a run, fixed before any data is seen: schedule, calibrated mechanism, release and the steps of an epoch.

The query is the sum of reward times h_w over an epoch, over its public bound `scale`; so its sensitivity is
2 reward_bound in every epoch, and one mechanism object serves all of them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms._growth import Epoch
from algorithms.capri.design import Design, Factors, draw_design, factorise
from algorithms.capri.elimination import HalfWidth, survivors
from algorithms.capri.settings import CapriSettings, epochs_of
from algorithms.capri.users import Played, clipped_sums
from dpaudit import Mechanism, Recorder
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian


def release_sum(recorder: Recorder, label: str, mechanism: Mechanism, value: Array, users: int) -> Array:
    """Return the epoch's normalised sum with the learner's noise (joint model; Algorithm 1, line 17).

    Shape: value (n_runs, D). `users` does not matter: one release, however many users it sums.
    """
    return recorder.release(label, mechanism, value)


def release_messages(recorder: Recorder, label: str, mechanism: Mechanism, value: Array, users: int) -> Array:
    """Return the sum of `users` messages, each with its own noise (local model; Algorithm 1, line 14).

    Shape: value (n_runs, D), the sum of the messages before noise. The noises of m independent messages sum
    to one draw of the message's noise times sqrt(m): exact in law, and the sampled mechanism stays the one
    that each user runs.
    """
    root = math.sqrt(users)
    return root * recorder.release(label, mechanism, value / root)


def message(recorder: Recorder, label: str, mechanism: Mechanism, vectors: Array, rewards: Array) -> Array:
    """Return what single users upload: reward times the normalised h_w, noised on the device.

    Shape: vectors (users, D), rewards (users,), already clipped.
    """
    return recorder.release(label, mechanism, np.asarray(rewards)[:, None] * vectors)


_SAFETY = 1 + 1e-9
"""A relative excess of noise, so that no rounding puts the certified epsilon above the claim."""

Draw = Callable[[Array, int, np.random.Generator], Design]
Factorise = Callable[[Array, Design, Array, float], Factors]
Collect = Callable[[Played, float], Array]
ReleaseStep = Callable[[Recorder, str, Mechanism, Array, int], Array]
Eliminate = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A calibrated algorithm: what runs, in the order in which it runs.

    `mechanism` noises the normalised sum of one epoch (joint) or one user's normalised message (local); its
    sensitivity is 2 reward_bound and `stddev` its noise. The steps are fields, so that a test can replace
    one of them by a broken copy and see who notices.
    """

    model: str
    epochs: tuple[Epoch, ...]
    noise_multiplier: float
    stddev: float
    mechanism: Mechanism
    reward_bound: float
    ridge: float
    release: ReleaseStep
    draw: Draw = draw_design
    factorise: Factorise = factorise
    collect: Collect = clipped_sums
    eliminate: Eliminate = survivors

    def releases(self, epoch: Epoch) -> bool:
        """Return whether `epoch` ends in a release: always in the local model, else only when complete."""
        return epoch.complete or self.model == "local"

    def label(self, epoch: Epoch) -> str:
        """Return the label of the epoch's release, the same in the declaration and in the trace."""
        return f"message in epoch {epoch.number}" if self.model == "local" else f"epoch {epoch.number}"


def plan_of(settings: CapriSettings) -> Plan:
    """Return the schedule, the calibrated mechanism and the steps; they depend on nothing but the settings.

    The query is an epoch's sum over its public bound, so that its sensitivity is 2 reward_bound in every epoch.
    """
    multiplier = settings.noise_multiplier()
    sensitivity = 2 * settings.reward_bound  # Lemma 6.6, Step 5
    mechanism = Gaussian(
        l2_sensitivity=sensitivity, stddev=multiplier * sensitivity * _SAFETY, neighbours="replace_one"
    )
    return Plan(
        model=settings.model,
        epochs=epochs_of(settings.horizon),
        noise_multiplier=multiplier,
        stddev=mechanism.stddev,
        mechanism=mechanism,
        reward_bound=settings.reward_bound,
        ridge=settings.ridge,
        release=release_messages if settings.model == "local" else release_sum,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
    """The public geometry a plan runs on: features of every cell, the law of contexts, and the width rule.

    Shape: features (C * X, D), context_probabilities (C,).
    """

    features: Array
    context_probabilities: Array
    n_actions: int
    half_width: HalfWidth
