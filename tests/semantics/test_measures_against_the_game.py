"""What is certified in rho, mu and Renyi divergences of a nest, against adversaries whose whole law is counted out."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.random_nestings import random_tables
from dpaudit import certify
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.condition import conditions_of
from dpaudit.model.declaration import Declaration
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, RenyiClaim, RhoClaim
from dpaudit.semantics import MOVE_OF, REVERSE, Table, UndefinedInstanceError, pairs
from dpaudit.semantics.seeds import TABLES, leaf
from tests.semantics.certified import as_table, stated_for
from tests.semantics.judging import most_records, releases
from tests.semantics.replays import replay_at_random
from tests.semantics.seeds import seeds
from tests.semantics.test_accountant_against_the_game import random_trees

ORDERS = (1.25, 2.0, 8.0)
LAW = tuple[tuple[float, float], ...]
"""The probabilities of each view under the first and under the second data set."""


def renyi(law: LAW, order: float) -> float:
    """Return the Renyi divergence of that order."""
    if any(p and not q for p, q in law):
        return math.inf
    return math.log(math.fsum(q * (p / q) ** order for p, q in law if q)) / (order - 1)


def rho(law: LAW) -> float:
    """Return the largest divergence over its order; at order 1 it is that of Kullback and Leibler."""
    if any(p and not q for p, q in law):
        return math.inf
    nearest = math.fsum(p * math.log(p / q) for p, q in law if p)
    return max(nearest, *(renyi(law, order) / order for order in (1.05, 1.5, *ORDERS, 32.0)))


def mu(law: LAW) -> float:
    """Return the mu that the tests of largest ratio need."""
    ratios = sorted(law, key=lambda row: -(row[0] / row[1] if row[1] else math.inf))
    points = np.cumsum(ratios, axis=0)[:-1]
    inner = points[(points[:, 0] < 1 - 1e-12) | (points[:, 1] < 1 - 1e-12)]
    with np.errstate(invalid="ignore"):
        gaps = norm.ppf(np.minimum(inner[:, 0], 1)) - norm.ppf(np.minimum(inner[:, 1], 1))
    return float(np.max(gaps, initial=0.0))


Of = Callable[[LAW], float]


def claims(relation: Neighbours) -> Iterator[tuple[MeasuredClaim, tuple[Of, ...]]]:
    """Yield a claim in each measure, with what a law has of each of its numbers."""
    yield RhoClaim(rho=0.5, neighbours=relation), (rho,)
    yield MuClaim(mu=1.0, neighbours=relation), (mu,)
    orders = tuple((order, 1.0) for order in ORDERS)
    yield RenyiClaim(renyi=orders, neighbours=relation), tuple(partial(renyi, order=order) for order in ORDERS)


def laws(
    tree: Declaration, tables: Mapping[str, Table], relation: Neighbours, rng: np.random.Generator
) -> Iterator[LAW]:
    """Yield the laws of four adversaries on each pair of a relation, in both directions."""
    for move in dict.fromkeys((MOVE_OF[relation], REVERSE[MOVE_OF[relation]])):
        for pair in pairs(move):
            if max(map(len, pair)) <= most_records(tree):
                for _ in range(4):
                    with suppress(UndefinedInstanceError):
                        views = replay_at_random(tree, tables, pair, rng)
                        yield tuple((float(p), float(q)) for p, q in views.values())


def compared(tree: Declaration, relation: Neighbours, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Return each proved number of a nest with the largest one that an adversary has; none where it is refused."""
    return of_tables(tree, relation, random_tables(rng), rng)


def of_tables(
    tree: Declaration, relation: Neighbours, tables: Mapping[str, Table], rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Return the same of given tables."""
    proved: list[tuple[float, Of]] = []
    try:
        declared = stated_for(tree, tables, relation, as_table)
        for claim, measures in claims(relation):
            rows = certify(declared, claim).tight.rows
            proved += [(row.upper, of) for row, of in zip(rows, measures, strict=True)]
    except (DeclarationError, UnsupportedError):
        return []
    if any(condition.kind == "zeroed_as_absent" for condition in conditions_of(declared, relation)):
        tables = {name: Table(held.laws, held.bounds | {"drop": 0}, held.reads_slots) for name, held in tables.items()}
    played = [*laws(tree, tables, relation, rng)]
    return [(upper, max(map(of, played), default=0.0)) for upper, of in proved]


@pytest.mark.parametrize("number", [60, pytest.param(2_000, marks=pytest.mark.slow)], ids=["some", "many"])
def test_no_proved_number_is_below_what_an_adversary_has(number: int) -> None:
    """Two fifths of the finite numbers are reached within a thousandth, so that a looser rule would be seen."""
    small = ((seed, tree, rng) for seed, tree, rng in random_trees() if releases(tree) <= 4)
    pairs_of_ends: list[tuple[float, float]] = []
    for seed, tree, rng in islice(small, number):
        ends = compared(tree, NEIGHBOURS[seed // 2 % 3], rng)
        assert [(upper, had) for upper, had in ends if upper < had * (1 - 1e-9) - 1e-12] == [], seed
        pairs_of_ends += ends
    finite = [(upper, had) for upper, had in pairs_of_ends if 0 < had < math.inf]
    assert len(finite) > number / 2
    assert sum(upper <= had * 1.001 for upper, had in finite) > 0.4 * len(finite)


PLAYED = (
    "best of 2 over sharp",
    "best of 2 over skew",
    "best of many over sharp",
    "best of many over skew",
    "shuffle 3",
    "shuffle 3 over skew",
    "shuffle 2 over three",
    "filter over two queries",
)
"""Seeds whose divergences have rules of their own."""


@pytest.mark.parametrize("name", PLAYED)
def test_no_proved_number_of_a_seed_is_below_what_an_adversary_has(name: str) -> None:
    """Of the best of several runs, of shuffled tables and of a budget. Twin: one release has less than they have."""
    relation: Neighbours = "replace_one" if name.startswith("shuffle") else "add_remove"
    ends = of_tables(seeds()[name], relation, TABLES, np.random.default_rng(3))
    assert len(ends) == 5
    assert [(upper, had) for upper, had in ends if upper < had * (1 - 1e-9) - 1e-12] == []
    if name.startswith("best of 2"):
        alone = of_tables(leaf(name.rsplit(maxsplit=1)[-1]), relation, TABLES, np.random.default_rng(3))
        assert all(once < had for (once, _), (_, had) in zip(alone, ends, strict=True))
