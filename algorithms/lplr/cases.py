"""Audits of single messages, leaf by leaf: everything but one user's record is known to the adversary.

Server sums are not audited: the noise of all other users hides everything there. Each case fixes the public state and
two records that differ most for one leaf, and scores the messages by the likelihood ratio of the declared noise.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from algorithms.lplr.message import Bin, Record, confidence_answers, sent, update_answers
from algorithms.lplr.plan import Plan, plan_of
from algorithms.lplr.settings import LplrSettings
from dpaudit import AuditCase, Mechanism, Recorder
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian, SymmetrisedWishart

Pair = tuple[Record, Record]
_CERTAIN = 60.0
"""What an impossible output scores: e^60 to one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A public state, two records, and the leaves of the message that the audit sees."""

    name: str
    description: str
    bins: tuple[Bin, ...]
    records: Pair
    labels: tuple[str, ...]


def cases_of(settings: LplrSettings) -> tuple[AuditCase, ...]:
    """Return the audits of every kind of message that the settings allow."""
    plan = plan_of(settings)
    return tuple(case_of(plan, stage) for stage in stages_of(plan))


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
        rest = plan.resolution.width(index) * (1 - 1e-12)
        features = math.sqrt(1 - rest**2) * np.asarray(steep) + rest * across
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
        rest = plan.resolution.width(base_bin.indices[-1]) * (1 - 1e-12)
        features = math.sqrt(1 - rest**2) * np.asarray(base_bin.directions[0]) + rest * np.asarray(own)
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


def case_of(plan: Plan, stage: Stage) -> AuditCase:
    """Return the audit of one stage under `plan`."""
    first, second = (answers_of(plan, stage, record) for record in stage.records)

    def run(record: Record, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        return sent(plan, Recorder(rng), answers_of(plan, stage, record), n_runs)

    leaves = tuple((label, plan.leaves.of(label)) for label in stage.labels)
    return AuditCase(
        name=f"lplr {stage.name}",
        view="message",
        description=stage.description,
        neighbours=stage.records,
        relation="replace_one",
        run=run,
        score=MessageRatio(leaves=leaves, first=first, second=second),
        gaussian=all(isinstance(mechanism, Gaussian) for _, mechanism in leaves),
    )


def answers_of(plan: Plan, stage: Stage, record: Record) -> dict[str, Array]:
    """Return the exact entries of the leaves that `stage` audits."""
    compute = confidence_answers if stage.labels == ("width",) else update_answers
    answers = compute(plan, stage.bins, record)
    return {label: answers[label] for label in stage.labels}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MessageRatio:
    """The log likelihood ratio of a message, second record over first, summed over leaves and bins.

    An output that one record cannot have caused scores 60 either way: this is the support test that printed matrix
    noise fails. Ratios are rounded to nine digits, so that the last bits of equal densities tell nothing apart. From
    dimension 3 on the repaired matrix noise has no density here, and what is scored is whether an output lies above
    or below both answers, where the ratio is exact.
    """

    leaves: tuple[tuple[str, Mechanism], ...]
    first: Mapping[str, Array]
    second: Mapping[str, Array]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run. Shape (n_runs,)."""
        total = np.zeros(len(next(iter(view.values()))))
        for label, mechanism in self.leaves:
            output = np.asarray(view[label])
            ratio = cone_ratio if _has_no_density(mechanism) else density_ratio
            each = ratio(mechanism, output, self.first[label], self.second[label])
            total = total + each.reshape(len(output), -1).sum(axis=1)
        return np.clip(np.round(total, 9), -_CERTAIN, _CERTAIN)


def density_ratio(mechanism: Mechanism, output: Array, first: Array, second: Array) -> Array:
    """Return log density differences, impossible outputs counted as nearly so."""
    above, below = mechanism.log_density(output, second), mechanism.log_density(output, first)
    certain: Array = np.maximum(above, -1e4) - np.maximum(below, -1e4)
    return np.where(np.isneginf(above) | np.isneginf(below), np.sign(certain) * 4 * _CERTAIN, certain)


def cone_ratio(mechanism: Mechanism, output: Array, first: Array, second: Array) -> Array:
    """Return the log ratio of outputs that lie above, or below, both answers of a bin; 0 for all others."""
    rate = 1 / (2 * float(getattr(mechanism, "scale", math.inf)))
    far = np.stack([np.linalg.eigvalsh(output - answer) for answer in (first, second)])
    above, below = (far[..., 0] >= 0).all(axis=0), (far[..., -1] <= 0).all(axis=0)
    traces = np.trace(second - first, axis1=-2, axis2=-1)
    ratio: Array = rate * traces * (above.astype(np.float64) - below)
    return ratio


def _has_no_density(mechanism: Mechanism) -> bool:
    """Return whether a mechanism's density has no formula everywhere."""
    return isinstance(mechanism, SymmetrisedWishart) and mechanism.dimension > 2
