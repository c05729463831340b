"""The front of a study at one horizon, as points and levels that a figure can draw."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
"""A row of the document of a study, or of its table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontPoint:
    """One private contender at one claimed epsilon.

    `epsilon` is the certified one, in nats; `regret`, `lower` and `upper` are of a round (an episode). `visible` says
    that learning is shown, `present` that it is the setting of the report. `bound` is what every method with that
    guarantee loses a round on the worst of some instances, `proved` the most that this one does; None where it is not
    known. What is proved is less than `most`, or says nothing.
    """

    label: str
    model: str
    epsilon: float
    regret: float
    lower: float
    upper: float
    visible: bool
    present: bool = False
    bound: float | None = None
    proved: float | None = None
    most: float = math.inf

    @property
    def speaks(self) -> bool:
        """Whether what is proved is less than the most that can be lost."""
        return self.proved is not None and self.proved < self.most


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
    def present(self) -> FrontPoint:
        """The point of the present setting."""
        return next(point for point in self.points if point.present)


def front_of(rows: Iterable[Row], problem: str, horizon: int, present: Row | None = None) -> Front:
    """Return the front of the rows at a horizon, of which there is one; `present` is the setting of a report.

    Floors are uniform play, play for the largest known immediate reward where rewards are known, and blind runs;
    ceilings are runs without noise. Of several rows of one floor or ceiling the one with the least regret counts.
    Points of a study, without a present one, are on the worst instance where all instances of the lower bound were run.
    """
    here = [row for row in rows if row["T"] == horizon]
    order = list(dict.fromkeys(row["label"] for row in here))
    first = here[0] if present is None else present
    levels = [FrontLevel(label="uniform play", role="floor", regret=first["uniform"] / horizon)]
    if first["myopic"] is not None:
        levels.append(FrontLevel(label="myopic play", role="floor", regret=first["myopic"] / horizon))
    for label in order:
        others = [row for row in here if row["label"] == label and row["role"] != "private"]
        if others:
            least = min(row["regret"]["mean"] for row in others)
            levels.append(FrontLevel(label=str(label), role=others[0]["role"], regret=least / horizon))
    points = [_point(row, worst=present is None, present=row is present) for row in here if is_point(row)]
    return Front(
        problem=problem,
        horizon=int(horizon),
        points=tuple(sorted(points, key=lambda point: (order.index(point.label), point.epsilon))),
        levels=tuple(levels),
    )


def is_point(row: Row) -> bool:
    """Return whether a row has a place on the axis of certified epsilon."""
    return row["role"] == "private" and not row["remark"] and math.isfinite(float(row["epsilon"]))


def _point(row: Row, *, worst: bool, present: bool) -> FrontPoint:
    """Return the point of one row; an interval without ends has the length 0."""
    bound, proved = row["lower_bound"] or {}, row.get("upper_bound") or {}
    lost = (bound.get("worst") if worst else None) or row["regret"]
    lower, upper = (float(lost[end]) for end in ("lower", "upper"))
    bounded = math.isfinite(lower) and math.isfinite(upper)
    return FrontPoint(
        label=str(row["label"]),
        model=str(row["model"]),
        epsilon=float(row["epsilon"]),
        regret=lost["mean"] / row["T"],
        lower=(lower if bounded else lost["mean"]) / row["T"],
        upper=(upper if bounded else lost["mean"]) / row["T"],
        visible=row["visible"] == "yes",
        present=present,
        bound=bound["regret"] / row["T"] if bound.get("regret") else None,
        proved=proved["regret"] / row["T"] if proved.get("regret") is not None else None,
        most=proved["most"] / row["T"] if proved.get("most") is not None else math.inf,
    )
