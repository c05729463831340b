"""Audits of LPLR's messages: each shipped case flags a leaf with too little noise, and never the repaired one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from algorithms.lplr import Lplr
from algorithms.lplr.cases import case_of
from algorithms.lplr.device_steps import as_given, printed_residual
from algorithms.lplr.leaves import printed_leaves
from algorithms.lplr.message import Bin, Record
from algorithms.lplr.plan import Plan
from algorithms.lplr.stages import Stage, cells_stage, confidence_stage, flip_stage, residual_stage, spread
from audits import audit
from dpaudit import AuditCase, AuditResult, Claim, Sequential, certify
from mechanisms import OneSidedWishart, SymmetrisedWishart

CONFIG = Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=2)
HONEST = CONFIG.plan()
THIRD = 1 / 3


@dataclass(frozen=True, kw_only=True)
class Defect:
    """A change of the plan, the stage that is audited, the claim of its leaf, and the runs a side that must do."""

    plant: Callable[[Plan], Plan]
    stage: Callable[[Plan], Stage]
    epsilon: float = THIRD
    runs: int

    def result(self, case: AuditCase, seed: int, significance: float) -> AuditResult:
        """An audit with twice the runs a side that closed forms ask for, of a claim 1e-9 above the leaf's."""
        claim = Claim(epsilon=self.epsilon * (1 + 1e-9), neighbours="replace_one")
        rng = np.random.default_rng(seed)
        return audit(case, claim=claim, runs=4 * self.runs, rng=rng, significance=significance)


def leaf(label: str, change: Callable[..., Any]) -> Callable[[Plan], Plan]:
    """A plan whose mechanism `label` is changed by `change(mechanism)`."""

    def plant(plan: Plan) -> Plan:
        def swapped(pairs: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
            return tuple((name, change(sound) if name == label else sound) for name, sound in pairs)

        leaves = replace(plan.leaves, update=swapped(plan.leaves.update), confidence=swapped(plan.leaves.confidence))
        return replace(plan, leaves=leaves)

    return plant


def printed(label: str) -> Callable[[Plan], Plan]:
    """The printed noise on one leaf."""
    return leaf(label, lambda sound: printed_leaves(1.0, CONFIG.dimension, sound.neighbours).of(label))


def scale(label: str, value: float) -> Callable[[Plan], Plan]:
    """Another scale of the noise on one leaf."""
    return leaf(label, lambda sound: replace(sound, scale=value))


def device(**steps: Any) -> Callable[[Plan], Plan]:
    """Other steps of the device."""
    return lambda plan: replace(plan, **steps)


def one_sided(sound: Any) -> OneSidedWishart:
    """The printed Wishart noise, which never lowers a matrix."""
    return OneSidedWishart(dimension=sound.dimension, scale=4.5, trace_sensitivity=1.0, neighbours=sound.neighbours)


def root_of_scale(sound: SymmetrisedWishart) -> SymmetrisedWishart:
    """Wishart noise of the root of its scale."""
    return replace(sound, scale=sound.scale**0.5)


def counts(plan: Plan) -> Stage:
    return cells_stage(plan, "count", ("count",))


def matrices(plan: Plan) -> Stage:
    return cells_stage(plan, "matrix", ("matrix",))


def deep_flip(plan: Plan) -> Stage:
    """A reward flip in the bin of index 2: in that of index 0 noise that shrinks with the index cannot be told."""
    features = spread(plan, plan.resolution.width(2))
    records = Record(features=features, reward=-1.0), Record(features=features, reward=1.0)
    return replace(flip_stage(plan), bins=(Bin(indices=(2,)),), records=records)


def long_flip(plan: Plan) -> Stage:
    """A reward flip of a record of norm 3."""
    features = spread(plan, 3.0)
    records = Record(features=features, reward=-1.0), Record(features=features, reward=1.0)
    return replace(flip_stage(plan), records=records)


DEFECTS = {
    "one-sided Wishart noise": Defect(plant=leaf("matrix", one_sided), stage=matrices, runs=169, epsilon=1.0),
    "printed scale of counts": Defect(plant=printed("count"), stage=counts, runs=721),
    "printed scale of vectors": Defect(plant=printed("vector"), stage=flip_stage, runs=721),
    "printed scale of widths": Defect(plant=printed("width"), stage=confidence_stage, runs=205, epsilon=1.0),
    "epsilon not split in three": Defect(plant=scale("count", 2.0), stage=counts, runs=249),
    "vectors without the root of d": Defect(plant=scale("vector", 6.0), stage=flip_stage, runs=3_400),
    "residuals neither clipped nor halved": Defect(
        plant=device(residual=printed_residual, deep_bound=1.0), stage=residual_stage, runs=400
    ),
    "the same after an exact first slope": Defect(
        plant=device(residual=printed_residual, deep_bound=1.0),
        stage=lambda plan: residual_stage(plan, slope=1.0),
        runs=3_300,
    ),
    "the root of the scale": Defect(plant=scale("count", 6**0.5), stage=counts, runs=350),
    "precision for scale": Defect(plant=scale("width", 0.5), stage=confidence_stage, runs=60, epsilon=1.0),
    "the root of the Wishart scale": Defect(plant=leaf("matrix", root_of_scale), stage=matrices, runs=20_000),
    "noise that shrinks with the bin": Defect(
        plant=scale("vector", 6 * 2**0.5 * HONEST.resolution.width(2)), stage=deep_flip, runs=100
    ),
    "widths not clamped": Defect(
        plant=device(clamp=as_given), stage=lambda plan: confidence_stage(plan, half_width=3.0), runs=93, epsilon=1.0
    ),
    "features of norm 3 accepted": Defect(plant=device(normalise=as_given), stage=long_flip, runs=249),
}
"""Plans with one defect each; `runs` are those that closed forms ask for."""


@pytest.mark.parametrize("name", DEFECTS)
def test_a_leaf_with_too_little_noise_is_a_violation_and_the_repaired_leaf_is_none(name: str) -> None:
    """At significance 0.05, with a fixed seed; the repaired leaf on the same runs, at 1e-8."""
    defect = DEFECTS[name]
    stage = defect.stage(HONEST)
    assert defect.result(case_of(defect.plant(HONEST), stage), 3, 0.05).verdict == "violation"
    assert defect.result(case_of(HONEST, stage), 3, 1e-8).verdict != "violation"


def test_users_on_two_layers_cost_twice_by_the_accountant() -> None:
    """Both messages of one user in sequence are refuted, one or the other certified."""
    declaration = CONFIG.declaration()
    both = Sequential(parts=declaration.parts)
    assert certify(both, CONFIG.claim(), conditions=CONFIG.conditions()).verdict == "refuted"
    assert certify(declaration, CONFIG.claim()).verdict == "certified"
    assert certify(both, CONFIG.claim(), conditions=CONFIG.conditions()).tight.epsilon.lower > 1.8


def test_the_largest_leaf_is_not_their_sum() -> None:
    """A third is what each leaf costs; the message costs three of them."""
    third = replace(CONFIG.claim(), epsilon=THIRD)
    assert certify(CONFIG.declaration(), third, conditions=CONFIG.conditions()).verdict == "refuted"
