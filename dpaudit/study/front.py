"""The front of a study at one horizon, as points and levels that a figure can draw."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """One private contender at one claimed epsilon.

    `epsilon` is the certified one, in nats; `regret`, `lower` and `upper` are of a round (an episode). `visible` says
    that learning is shown, `present` that it is the setting of the report. `bound` is what every method with that
    guarantee loses a round on the worst of some instances; None where it is not known.
    """

    label: str
    model: str
    epsilon: float
    regret: float
    lower: float
    upper: float
    visible: bool
    present: bool
    bound: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontLevel:
    """A floor or a ceiling: its regret of a round does not depend on epsilon."""

    label: str
    role: str
    regret: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """What was measured at one horizon; points in the order of contenders and then of certified epsilon."""

    problem: str
    horizon: int
    points: tuple[FrontPoint, ...] = ()
    levels: tuple[FrontLevel, ...] = ()

    @property
    def bounds(self) -> tuple[tuple[str, tuple[tuple[float, float], ...]], ...]:
        """The lower bounds: a name, and (epsilon, regret) in the order of epsilon, for each trust model."""
        return tuple(
            (bound_name(model), tuple(sorted(places)))
            for model in sorted({point.model for point in self.points})
            if (places := {(p.epsilon, p.bound) for p in self.points if p.model == model and p.bound is not None})
        )

    @property
    def present(self) -> FrontPoint:
        """The point of the present setting."""
        return next(point for point in self.points if point.present)


def front_of(study: Mapping[str, Any], present: Mapping[str, Any]) -> Front:
    """Return the front at the horizon of `present`, a row of the study with a place on the axis.

    Floors are uniform play, play for the largest known immediate reward where rewards are known, and blind runs;
    ceilings are runs without noise. Of several rows of one floor or ceiling the one with the least regret counts.
    """
    here = [row for row in study["rows"] if row["T"] == present["T"]]
    order = list(dict.fromkeys(row["label"] for row in here))
    points = [_point(row, present) for row in here if is_point(row)]
    levels = [FrontLevel(label="uniform play", role="floor", regret=present["uniform"] / present["T"])]
    if present["myopic"] is not None:
        levels.append(FrontLevel(label="myopic play", role="floor", regret=present["myopic"] / present["T"]))
    for label in order:
        means = [row["regret"]["mean"] for row in here if row["label"] == label and row["role"] != "private"]
        if means:
            role = next(row["role"] for row in here if row["label"] == label)
            levels.append(FrontLevel(label=label, role=role, regret=min(means) / present["T"]))
    return Front(
        problem=str(study["problem"]["name"]),
        horizon=int(present["T"]),
        points=tuple(sorted(points, key=lambda point: (order.index(point.label), point.epsilon))),
        levels=tuple(levels),
    )


def bound_name(model: str) -> str:
    """Return what a figure calls the lower bound of a trust model."""
    return f"lower bound ({model}), worst instance"


def is_point(row: Mapping[str, Any]) -> bool:
    """Return whether a row has a place on the axis of certified epsilon."""
    return row["role"] == "private" and not row["remark"] and math.isfinite(float(row["epsilon"]))


def _point(row: Mapping[str, Any], present: Mapping[str, Any]) -> FrontPoint:
    """Return the point of one row; an interval without ends has the length 0."""
    mean = float(row["regret"]["mean"])
    lower, upper = (float(row["regret"][end]) for end in ("lower", "upper"))
    known = math.isfinite(lower) and math.isfinite(upper)
    return FrontPoint(
        label=str(row["label"]),
        model=str(row["model"]),
        epsilon=float(row["epsilon"]),
        regret=mean / row["T"],
        lower=(lower if known else mean) / row["T"],
        upper=(upper if known else mean) / row["T"],
        visible=row["visible"] == "yes",
        present=row is present,
        bound=float(row["lower_bound"]["regret"]) / row["T"] if (row["lower_bound"] or {}).get("regret") else None,
    )
