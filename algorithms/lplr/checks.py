"""Conditions that a run of LPLR checks. Each text says what the run saw, and no more.

The check of residuals does not wait for a bad history: privacy is claimed for every history, so the step that the
device runs is tried on predictions of any size.
"""

from dataclasses import dataclass, field

import numpy as np

from algorithms.lplr.accounting import delta_floor
from algorithms.lplr.plan import Plan
from algorithms.lplr.settings import LplrSettings
from dpaudit import Condition
from dpaudit.model.trace import Released

NORMS = Condition(
    kind="clipping",
    about=("features",),
    text="The step that shortens features, tried on a long vector and on one that is not a number, kept norm 1 and 0.",
)
ENTRIES = Condition(kind="clipping", about=("confidence entries",), text="No confidence entry left [0, 1] in any run.")
SCHEDULE = Condition(
    kind="public_schedule",
    about=("users of each phase",),
    text="Every phase took exactly its scheduled number of users.",
)
ONE_PHASE = Condition(
    kind="one_contribution",
    about=("users of all phases",),
    text="The numbers of the people whose answers entered a phase's sums were in no other phase.",
)

_ROUNDING = 1 + 1e-9
_TRIED = (0.0, 1.0, 3.0, 1e6)


def attained_conditions(settings: LplrSettings) -> tuple[Condition, ...]:
    """Return that one pair of records moves all statistics of a message: unit features in two different cells.

    Nothing of shuffled messages, of which no lower side is known.
    """
    if settings.model == "shuffle":
        return ()
    text = "A unit record in one cell and one in another move count, vector and matrix by the whole sensitivities."
    return (Condition(kind="attained", text=text, status="checked"),)


@dataclass(slots=True)
class Outcomes:
    """The outcome of each condition over a run: True where every check of it so far held."""

    by_condition: dict[Condition, bool] = field(default_factory=dict)

    def add(self, condition: Condition, *, holds: bool) -> None:
        """Add one check of `condition`."""
        self.by_condition[condition] = self.by_condition.get(condition, True) and holds


def check_device(plan: Plan) -> Outcomes:
    """Return the checks of the steps of `plan` that run on a device, for every record and every history.

    A printed plan is also held against three premises that only its printed argument needs.
    """
    outcomes = Outcomes()
    residuals = residual_condition(plan)
    bounded = largest_residual(plan) <= plan.deep_bound * _ROUNDING
    outcomes.add(residuals, holds=bounded)
    outcomes.add(NORMS, holds=norms_hold(plan))
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
        both = Condition(kind="printed_premise", about=("outputs of both neighbours",), text=support)
        outcomes.add(both, holds=False)
        outcomes.add(Condition(kind="printed_premise", about=("cells of a message",), text=cells), holds=False)
    return outcomes


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


def message_lines(released: tuple[Released, ...]) -> tuple[Released, ...]:
    """Return one line for each label and mechanism: what a user's one message went through.

    A run has many phases, each with users of its own; every one of them sends one message of either kind.
    """
    lines: dict[tuple[str, object], Released] = {}
    for line in released:
        lines.setdefault((line.label, line.mechanism), line)
    return tuple(lines.values())
