"""What all records of one person attain together, against the law of every view that the person moves."""

import json
import math
from collections import Counter
from functools import reduce
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

import dpaudit as dp
from dpaudit.accounting.derivation.groups import from_a_poisson_sample
from dpaudit.model.codec import encode
from dpaudit.model.declaration import Declaration, Group, Local, Release, Repeat, Subsample
from dpaudit.model.losses import Composition, SampledGaussianLoss
from dpaudit.verifier.curve import Worst
from mechanisms import Gaussian
from tests.checker.proofs.folds import attained

SUM = Release(label="sum", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove"))
CHECKED = dp.Condition(kind="attained", about=("sum",), text="A replay saw it.", status="checked")
PLACES = np.linspace(-9.0, 13.0, 441)
GRID = 1e-3  # relative; more than a sum over the grid is off by
Shifts = dict[tuple[int, ...], float]
"""The probability of each number of records that the answers add up."""


def sampled(part: Declaration, rate: float) -> Subsample:
    """A Poisson sample."""
    return Subsample(part=part, rate=rate)


NESTS: dict[str, Declaration] = {
    "records on a sample": Group(part=sampled(SUM, 0.3), size=2),
    "messages on a sample": Group(part=sampled(Local(part=SUM), 0.3), size=2),
    "messages of all": Group(part=sampled(Local(part=SUM), 1.0), size=2),
    "messages of a person on a sample": sampled(Group(part=Local(part=SUM), size=2), 0.3),
    "records of a message": sampled(Local(part=Group(part=SUM, size=2)), 0.3),
    "persons who send records": Group(part=sampled(Local(part=Group(part=SUM, size=2)), 0.5), size=2),
    "two looks at a sample": Group(part=sampled(Repeat(part=SUM, times=2), 0.3), size=2),
    "two samples": Group(part=Repeat(part=sampled(SUM, 0.3), times=2), size=2),
}


def shown(node: Declaration, present: tuple[int, ...]) -> Shifts:
    """Return how many records every answer of a node adds up, where some slots of a person are filled."""
    match node:
        case Local(part=part):
            return joined([shown(part, (slot,)) for slot in present])
        case Group(part=part, size=size):
            return shown(part, tuple(slot for slot in present for _ in range(size)))
        case Repeat(part=part, times=times):
            return joined([shown(part, present)] * times)
        case Subsample(part=part, rate=rate):
            found: Counter[tuple[int, ...]] = Counter()
            for drawn in product((0, 1), repeat=len(present)):
                chance = math.prod(rate if hit else 1 - rate for hit in drawn)
                kept = tuple(slot * hit for slot, hit in zip(present, drawn, strict=True))
                found.update({view: chance * p for view, p in shown(part, kept).items()})
            return dict(found)
        case _:
            return {(sum(present),): 1.0}


def joined(views: list[Shifts]) -> Shifts:
    """Return the law of independent views, one after another."""
    return reduce(lambda one, two: {a + b: p * q for a, p in one.items() for b, q in two.items()}, views)


def value(node: Declaration, epsilon: float) -> float:
    """Return the largest P(S) - e^epsilon Q(S) in either order, with one answer or two, by a sum over a grid."""
    present, absent = (
        sum(
            p * reduce(np.multiply.outer, [norm.pdf(PLACES, loc=moved) for moved in view])
            for view, p in shown(node, slots).items()
        )
        for slots in ((1,), (0,))
    )
    cell = (PLACES[1] - PLACES[0]) ** np.ndim(present)
    orders = (present, absent), (absent, present)
    return max(float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum() * cell) for p, q in orders)


@pytest.mark.parametrize("name", NESTS)
def test_no_more_is_attained_than_the_records_of_a_person_show(name: str) -> None:
    """The lower ends of accountant and checker lie at or below the value of the pair that they stand for."""
    pair = {"labels": [], "plan": [], "attained": "assumed"}
    tree = json.loads(json.dumps(encode(NESTS[name])))
    checked = Worst(attained(tree, "add_remove", pair, []))
    form = dp.fold(NESTS[name], "add_remove", (CHECKED,))
    for epsilon in (0.0, 0.5, 2.0):
        truth = value(NESTS[name], epsilon)
        for low in (dp.bracket_delta(form, epsilon).lower, checked.delta(epsilon)[0]):
            assert low <= truth * (1 + GRID), (epsilon, low, truth)


def test_moves_that_add_up_are_more_than_two_messages_show() -> None:
    """A twin that adds the moves of two messages up in one answer is found out at every epsilon."""
    one = Composition.of(SampledGaussianLoss(mu=1.0, rate=0.3))
    form = dp.NormalForm(upper=(added := from_a_poisson_sample(one, 2),), lower=(added,))
    for epsilon in (0.0, 0.5, 2.0):
        assert dp.bracket_delta(form, epsilon).lower > 1.2 * value(NESTS["messages on a sample"], epsilon)
