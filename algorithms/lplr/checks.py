"""What a run of LPLR can look at, and the looking. Each text says what was seen, and no more.

The look at residuals does not wait for a bad history to come up: privacy is claimed for every history, so the step
that the device runs is tried on predictions of any size.
"""

from dataclasses import dataclass, field

import numpy as np

from algorithms.lplr.accounting import delta_floor
from algorithms.lplr.plan import Plan
from dpaudit import Condition, Released, Streams
from dpaudit.model.mechanism import Array

SENSITIVITY = Condition(kind="sensitivity")
NORMS = Condition(
    kind="clipping",
    about=("features",),
    text="The device shortens features longer than 1 and turns what is not a number into no record.",
)
ENTRIES = Condition(kind="clipping", about=("confidence entries",), text="No confidence entry left [0, 1] in any run.")
SCHEDULE = Condition(
    kind="public_schedule",
    about=("users of each phase",),
    text="Every phase took exactly its scheduled number of users, and nobody was in two phases.",
)
FRESH = Condition(kind="distinct_noise")

_ROUNDING = 1 + 1e-9
_TRIED = (0.0, 1.0, 3.0, 1e6)


@dataclass(slots=True)
class Looks:
    """Whether each condition held throughout a run, so far."""

    held: dict[Condition, bool] = field(default_factory=dict)

    def see(self, condition: Condition, *, holds: bool) -> None:
        """Write down that `condition` held here, or not."""
        self.held[condition] = self.held.get(condition, True) and holds

    def conditions(self) -> tuple[Condition, ...]:
        """Return each condition that was looked at, as checked or violated."""
        return tuple(condition.seen(holds=held) for condition, held in self.held.items())


def look_at_device(plan: Plan) -> Looks:
    """Return what the steps of `plan` that run on a device hold for every record and every history.

    A printed plan is also held against three premises that only its printed argument needs.
    """
    looks = Looks()
    residuals = residual_condition(plan)
    bounded = largest_residual(plan) <= plan.deep_bound * _ROUNDING
    shortened = norms_hold(plan)
    looks.see(residuals, holds=bounded)
    looks.see(NORMS, holds=shortened)
    looks.see(SENSITIVITY, holds=bounded and shortened)
    if plan.first_confidence:
        floor = delta_floor(plan.strength)
        support = (
            f"Both neighbours can produce every output (the printed matrix noise lies in a cone: with probability "
            f"{floor:.6g} its output is impossible for the other one, at every epsilon)."
        )
        cells = (
            "A replaced record changes one cell of a message (it empties one and fills another, so that counts and "
            "vectors cost twice the printed budget)."
        )
        looks.see(Condition(kind="printed_premise", about=("outputs of both neighbours",), text=support), holds=False)
        looks.see(Condition(kind="printed_premise", about=("cells of a message",), text=cells), holds=False)
    return looks


def residual_condition(plan: Plan) -> Condition:
    """Return the condition on residuals, with the bound that the noise is calibrated to."""
    text = f"Residuals beyond the first layer are at most {plan.deep_bound:g}, whatever was published before."
    return Condition(kind="clipping", about=("residuals beyond the first layer",), text=text)


def largest_residual(plan: Plan) -> float:
    """Return the largest residual that the device computes at predictions up to 10^6."""
    predictions = np.array([sign * size for size in _TRIED for sign in (-1.0, 1.0)])
    return max(float(np.abs(plan.residual(np.full(len(predictions), reward), predictions)).max()) for reward in (-1, 1))


def norms_hold(plan: Plan) -> bool:
    """Return whether the device shortens long features and takes what is not a number for no record."""
    long = plan.normalise(np.full(plan.dimension, 3.0))
    nothing = plan.normalise(np.full(plan.dimension, np.nan))
    return bool(np.linalg.norm(long) <= _ROUNDING and not np.any(nothing))


def noise_is_fresh(streams: Streams, released: tuple[Released, ...]) -> bool:
    """Return whether noise has a stream of its own and no two releases carry the same noise."""
    others = (streams.actions, streams.environment, streams.public)
    fingerprints = [line.fingerprint for line in released if line.fingerprint is not None]
    return all(streams.noise is not other for other in others) and len(set(fingerprints)) == len(fingerprints)


def phase_is_full(counts: Array, users: int) -> bool:
    """Return whether as many users took part as the schedule says, in every run. Shape: counts (R, A, K)."""
    return bool((counts.sum(axis=(1, 2)) == users).all())


def message_lines(released: tuple[Released, ...]) -> tuple[Released, ...]:
    """Return one line for each label and mechanism: what a user's one message went through.

    A run has many phases, each with users of its own; every one of them sends one message of either kind.
    """
    held: dict[tuple[str, object], Released] = {}
    for line in released:
        held.setdefault((line.label, line.mechanism), line)
    return tuple(held.values())
