"""Stages of an audit: a public state and the two records that differ most for one leaf of the message."""

import math
from dataclasses import dataclass

import numpy as np

from algorithms.lplr.message import Bin, Record
from algorithms.lplr.plan import Plan

Pair = tuple[Record, Record]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A public state, two records, and the leaves of the message that the audit sees."""

    name: str
    description: str
    bins: tuple[Bin, ...]
    records: Pair
    labels: tuple[str, ...]


def stages_of(plan: Plan) -> tuple[Stage, ...]:
    """Return the worst pair of every leaf, of the residual on the second layer, and of the whole message."""
    update = tuple(label for label, _ in plan.leaves.update)
    layered = (confidence_stage(plan),) if plan.dimension > 1 else ()
    if update == ("message",):
        return (cells_stage(plan, "message", update), *layered)
    deep = (residual_stage(plan),) if plan.dimension > 1 else ()
    return (
        cells_stage(plan, "count", ("count",)),
        flip_stage(plan),
        cells_stage(plan, "matrix", ("matrix",)),
        *deep,
        cells_stage(plan, "message", update),
        *layered,
    )


def cells_stage(plan: Plan, name: str, labels: tuple[str, ...]) -> Stage:
    """Return two records of scaled norm 1 in different bins of the first layer, the second one with index 2."""
    deep = min(2, plan.resolution.depth - 1)
    first, second = (Record(features=spread(plan, plan.resolution.width(k)), reward=1.0) for k in (0, deep))
    return Stage(
        name=name,
        description="The record lies in one of two bins, at full length; the reward is 1.",
        bins=(Bin(indices=(0,)), Bin(indices=(deep,))),
        records=(first, second),
        labels=labels,
    )


def flip_stage(plan: Plan) -> Stage:
    """Return two records in the same bin whose rewards are -1 and +1; in many dimensions the vector is sparse."""
    used = plan.dimension if plan.dimension < 5 else 3 if plan.dimension < 8 else 4
    first, second = (Record(features=spread(plan, 1.0, used), reward=reward) for reward in (-1.0, 1.0))
    return Stage(
        name="vector",
        description="The record's reward is -1 or +1, all else equal.",
        bins=(Bin(indices=(0,)),),
        records=(first, second),
        labels=("vector",),
    )


def residual_stage(plan: Plan, slope: float = 3.0) -> Stage:
    """Return two records in different bins of the second layer, after a history that published a steep first slope.

    Such histories have positive probability, as noise is unbounded, and privacy is claimed for every one.
    """
    indices = (min(1, plan.resolution.depth - 1), min(2, plan.resolution.depth - 1))
    steep = tuple(float(i == 0) for i in range(plan.dimension))
    across = np.array([0.0, *([1 / math.sqrt(plan.dimension - 1)] * (plan.dimension - 1))])
    records: list[Record] = []
    for index in indices:
        length = plan.resolution.width(index) * (1 - 1e-12)
        features = math.sqrt(1 - length**2) * np.asarray(steep) + length * across
        records.append(Record(features=tuple(map(float, features)), reward=-1.0))
    return Stage(
        name="residual",
        description=f"Two bins of the second layer, after a first slope of {slope:g} was published.",
        bins=tuple(Bin(indices=(0, index), directions=(steep,), slopes=(slope,)) for index in indices),
        records=(records[0], records[1]),
        labels=("vector",),
    )


def confidence_stage(plan: Plan, half_width: float = 1.0) -> Stage:
    """Return two records in different active bins of the second layer, whose entries are as large as can be."""
    base = residual_stage(plan)
    own = tuple(float(i == 1) for i in range(plan.dimension))
    bins: list[Bin] = []
    records: list[Record] = []
    for base_bin in base.bins:
        length = plan.resolution.width(base_bin.indices[-1]) * (1 - 1e-12)
        features = math.sqrt(1 - length**2) * np.asarray(base_bin.directions[0]) + length * np.asarray(own)
        records.append(Record(features=tuple(map(float, features)), reward=1.0))
        bins.append(
            Bin(
                indices=base_bin.indices,
                directions=base_bin.directions,
                slopes=(0.5,),
                half_width=half_width,
                direction=own,
            )
        )
    return Stage(
        name="confidence",
        description="The record lies in one of two active bins, where the width so far is 1.",
        bins=tuple(bins),
        records=(records[0], records[1]),
        labels=("width",),
    )


def spread(plan: Plan, norm: float, used: int | None = None) -> tuple[float, ...]:
    """Return features of `norm`, equal in the first `used` coordinates (all, where None) and 0 in the others."""
    many = plan.dimension if used is None else used
    each = norm * (1 - 1e-12) / math.sqrt(many)
    return tuple(each if axis < many else 0.0 for axis in range(plan.dimension))
