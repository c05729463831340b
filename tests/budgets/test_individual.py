"""Individual budgets, counted out: every adaptive site against every set of records, and the premises that break them.

The noise is geometric, so that the odds of each answer are exact. A site asks three queries, each for last-touch
attribution: the latest record that takes part reports its value.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpaudit.budgets.individual import IndividualFilter, gaussian_cost, individual_claim, laplace_cost, squared_mu_cost
from dpaudit.model.measures.claims import MuClaim, RhoClaim

Records = dict[int, int]
"""The value of one person's record by epoch."""

Cost = Callable[[int, Records, tuple[int, ...]], Fraction]
"""cost(epoch, records, asked) -> what the record of an epoch pays for a query of these epochs."""

STEP = Fraction(1, 2)
"""Epsilon of a sum that moves by 1."""

VALUES, EPOCHS, QUERIES = (1, 2), (0, 1), 3
REACH = 4


def attributed(records: Records) -> tuple[int, int]:
    """The report of last-touch attribution: the value of the latest record, in the bucket of its epoch."""
    if not records:
        return 0, 0
    latest = max(records)
    return (records[latest], 0) if latest == 0 else (0, records[latest])


def whole_cost(epoch: int, records: Records, asked: tuple[int, ...]) -> Fraction:
    """The right cost: the largest move of the report over all other records, which the record alone decides."""
    mine = records[epoch]
    others = [
        dict(zip(held, values, strict=True))
        for size in range(len(asked))
        for held in [tuple(e for e in asked if e != epoch)[:size]]
        for values in product(VALUES, repeat=len(held))
    ]
    moves = (distance(attributed(other | {epoch: mine}), attributed(other)) for other in others)
    return max(moves) * STEP


def own_value_cost(epoch: int, records: Records, asked: tuple[int, ...]) -> Fraction:
    """A wrong one: the value that the record itself reports. It forgets the older record that a removal brings back."""
    del asked
    return records[epoch] * STEP


def distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    """The L1 distance of two reports."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def reports(records: Records, cost: Cost, limit: float, asked: tuple[tuple[int, ...], ...]) -> list[tuple[int, int]]:
    """The reports to a fixed list of queries; each record's own filter decides whether it takes part."""
    filters = {epoch: IndividualFilter(limit=limit) for epoch in records}
    found = []
    for epochs in asked:
        present: Records = {}
        for epoch in epochs:
            if epoch in records:
                filters[epoch], takes_part = filters[epoch].charged(cost(epoch, records, epochs))
                present |= {epoch: records[epoch]} if takes_part else {}
        found.append(attributed(present))
    return found


def largest_loss(cost: Cost, limit: float) -> Fraction:
    """The largest loss of all neighbours and all lists of queries, exactly: geometric noise loses its step a unit.

    Costs here do not look at answers, so that the worst list of queries is the worst site.
    """
    return max(loss for loss in _losses(cost, limit))


def _losses(cost: Cost, limit: float) -> Iterator[Fraction]:
    """Yield the loss of each pair of neighbours and each list of queries."""
    choices = [(0,), (1,), (0, 1)]
    for asked in product(choices, repeat=QUERIES):
        for held in product((None, *VALUES), repeat=len(EPOCHS)):
            records = {epoch: value for epoch, value in zip(EPOCHS, held, strict=True) if value is not None}
            for removed in records:
                fewer = {epoch: value for epoch, value in records.items() if epoch != removed}
                pairs = zip(reports(records, cost, limit, asked), reports(fewer, cost, limit, asked), strict=True)
                yield STEP * sum(distance(*pair) for pair in pairs)


@pytest.mark.parametrize("limit", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_no_removed_record_loses_more_than_its_limit(limit: float) -> None:
    """All records, all removals, all lists of three queries: the exact loss is within the limit."""
    assert largest_loss(whole_cost, limit) <= Fraction(limit)


def test_the_limit_is_reached() -> None:
    """The theorem gives nothing away: a record of value 2 loses 1 a query, and 2 of two."""
    assert largest_loss(whole_cost, 2.0) == 2


def test_a_cost_by_the_own_value_alone_is_refuted() -> None:
    """The known counterexample: the removed record brings an older one back, so that two buckets move and one pays."""
    assert largest_loss(own_value_cost, 1.0) > 1
    records, fewer = {0: 2, 1: 2}, {0: 2}
    with_it, without = (reports(held, own_value_cost, 1.0, ((0, 1),)) for held in (records, fewer))
    assert STEP * distance(with_it[0], without[0]) == 2


def test_a_cost_that_looks_at_other_records_is_refuted() -> None:
    """A record that pays only where it is the latest changes by its presence who else is left out."""

    def where_it_counts(epoch: int, records: Records, asked: tuple[int, ...]) -> Fraction:
        present = {e: records[e] for e in asked if e in records}
        fewer = {e: value for e, value in present.items() if e != epoch}
        return distance(attributed(present), attributed(fewer)) * STEP

    assert largest_loss(where_it_counts, 1.0) > 1


def test_a_replaced_record_is_not_covered_by_one_limit() -> None:
    """A record that counts in one bucket, in the place of one that counts in another, moves both: twice the limit."""
    mine = IndividualFilter(limit=0.5)
    assert mine.charged(STEP * distance((1, 0), (0, 0)))[1]
    assert mine.charged(STEP * distance((0, 1), (0, 0)))[1]
    assert STEP * distance((1, 0), (0, 1)) == 2 * Fraction(mine.limit)
    with pytest.raises(ValueError, match="presence alone"):
        individual_claim(epsilon=1.0, unit="one week", neighbours="replace_one")


def test_costs_and_claims_are_those_of_the_noise() -> None:
    """Epsilon distance / scale, rho distance^2 / (2 stddev^2), as exact decimals."""
    assert laplace_cost(0.3, 0.1) == 3
    assert gaussian_cost(3, 2.0) == Fraction(9, 8)
    claim: Any = individual_claim(rho=0.5, unit="one week")
    assert (type(claim), claim.rho, claim.neighbours) == (RhoClaim, 0.5, "add_remove")
    assert individual_claim(epsilon=1.0, unit="one week").epsilon == 1.0
    in_mu: Any = individual_claim(mu=0.3, unit="one week")
    assert (type(in_mu), in_mu.mu) == (MuClaim, 0.3)
    assert squared_mu_cost(3, 2.0) == Fraction(9, 4)
    for epsilon, in_both in ((None, None), (1.0, 1.0)):
        with pytest.raises(ValueError, match="one of epsilon, rho and mu"):
            individual_claim(unit="one week", epsilon=epsilon, mu=in_both)
    for cost in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="cost"):
            IndividualFilter(limit=1.0).charged(cost)


@pytest.mark.parametrize("cost", [laplace_cost, gaussian_cost])
@pytest.mark.parametrize("noise", [0, -1, math.inf, math.nan, 5e-324])
def test_a_noise_that_is_no_size_has_no_cost(cost: Callable[[float, float], Fraction], noise: float) -> None:
    with pytest.raises(ValueError, match=r"scale|stddev"):
        cost(1.0, noise)


def test_what_was_spent_is_a_fraction_whoever_states_it() -> None:
    """In floats, 1 - 2^-53 and a cost of 1e-17 add up to 1 - 2^-53, query after query."""
    record = IndividualFilter(limit=1.0, spent=1 - 2.0**-53)  # type: ignore[arg-type]  # a float, as a user may give
    paid, takes_part = record.charged(1e-17)
    assert takes_part
    assert paid.spent > record.spent
