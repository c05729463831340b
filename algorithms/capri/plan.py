"""The plan of a run, fixed before any data is seen: schedule, calibrated mechanism and the steps of an epoch."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algorithms._growth import Epoch
from algorithms.capri.design import Design, Factors, draw_design, factorise
from algorithms.capri.elimination import HalfWidth, survivors
from algorithms.capri.releases import release_messages, release_sum
from algorithms.capri.settings import CapriSettings, epochs_of
from algorithms.capri.users import Played, clipped_sums
from dpaudit import Mechanism, Recorder
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian

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
