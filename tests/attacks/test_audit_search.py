"""The search for neighbours: it finds what leaks, on runs that are never counted."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits import audit, function_case, when_refuted
from audits.experiment.neighbours import EQUAL, REORDERED, pair_remarks
from audits.procedures.neighbour_search import search_neighbours
from audits.replay.coverage_pairs import coverage_pairs
from dpaudit import Claim
from dpaudit.model.mechanism import Array

ONE = Claim(epsilon=1.0, neighbours="replace_one")
COVERING = tuple((pair.says, pair.neighbours) for pair in coverage_pairs(np.array([0.2, 0.7, 0.5]), "replace_one"))
NAN = "one record holds NaN"


def unclipped_above_ten(data: Array, rng: np.random.Generator, n_runs: int) -> Any:
    """A sum of values meant to lie in [0, 1]: clipped there, except that large values pass."""
    total = np.where(data > 10, data, np.clip(np.nan_to_num(data), 0, 1)).sum()
    return total + rng.laplace(0.0, 1.0, n_runs)


def clipped(data: Any, rng: np.random.Generator, n_runs: int) -> Any:
    return np.clip(np.nan_to_num(data), 0, 1).sum() + rng.laplace(0.0, 1.0, n_runs)


def test_the_search_finds_the_pair_that_leaks_and_the_audit_on_other_runs_confirms_it() -> None:
    """Of 57 covering pairs those with a large value leak everything; the audit's runs chose nothing."""
    search, runs = np.random.default_rng(1).spawn(2)
    found = search_neighbours(unclipped_above_ten, COVERING, ONE, runs=4_000, rng=search)
    assert found.name in ("one record holds infinity", "one record holds a value far above the others")
    assert found.spent < 2_500 * len(COVERING)
    result = audit(unclipped_above_ten, neighbours=found.pair, claim=ONE, runs=4_000, rng=runs)
    assert result.verdict == "violation"
    assert (
        audit(clipped, neighbours=found.pair, claim=ONE, runs=4_000, rng=np.random.default_rng(2)).verdict
        != "violation"
    )


def picky(data: Array, rng: np.random.Generator, n_runs: int) -> Any:
    """A right sum that refuses NaN by an exception: the exception tells the data sets apart."""
    if np.isnan(data).any():
        raise ValueError("no NaN, please")
    return clipped(data, rng, n_runs)


def test_the_search_is_deterministic_and_tries_pairs_that_raise_first() -> None:
    """One stream, one answer: the only pair on which the function raises, although others promise a bound as well."""
    one, two = (search_neighbours(picky, COVERING, ONE, runs=4_000, rng=np.random.default_rng(4)) for _ in range(2))
    assert (one.name, one.promise, one.spent) == (two.name, two.promise, two.spent)
    assert (one.name, one.raised, one.left_out) == (NAN, (NAN,), ())


@pytest.mark.parametrize("score", [None, np.asarray])
def test_an_audit_of_covering_pairs_counts_an_exception_as_an_output(score: Any) -> None:
    """A given score cannot read an exception: outcomes are attacked instead."""
    searching, auditing = np.random.default_rng(1).spawn(2)
    found = search_neighbours(picky, COVERING, ONE, runs=2_000, rng=searching, score=score)
    assert (found.name, found.raised) == (NAN, (NAN,))
    case = function_case(picky, found.pair, ONE, score=score)
    assert audit(case, claim=ONE, runs=2_000, rng=auditing).verdict == "violation"


def test_a_pair_on_which_every_run_raises_is_the_last_candidate_and_inconclusive() -> None:
    """Both data sets hold NaN: nothing is released, so that every other pair comes before it."""
    both = ("both", (np.full(1, np.nan), np.full(1, -np.nan)))
    near = ("near", (np.zeros(1), np.ones(1)))
    found = search_neighbours(picky, [both, near], ONE, runs=1_000, rng=np.random.default_rng(5))
    assert (found.name, found.raised) == ("near", ("both",))
    alone = search_neighbours(picky, [both], ONE, runs=1_000, rng=np.random.default_rng(5))
    assert (alone.name, alone.promise) == ("both", 0.0)
    result = audit(picky, neighbours=alone.pair, claim=ONE, runs=400, rng=np.random.default_rng(6))
    assert result.verdict == "inconclusive"


def test_outputs_that_cannot_be_read_are_left_out_by_name() -> None:
    """A type that no learner reads is no leak; no pair at all is an error."""

    def opaque(data: Any, rng: np.random.Generator, n_runs: int) -> Any:
        return [object() if data > 1 else float(data + rng.laplace()) for _ in range(n_runs)]

    found = search_neighbours(
        opaque, [("far", (0.0, 2.0)), ("near", (0.0, 1.0))], ONE, runs=400, rng=np.random.default_rng(5)
    )
    assert found.name == "near"
    assert found.left_out[0].startswith("far: Cannot read")
    with pytest.raises(ValueError, match="none can"):
        search_neighbours(clipped, [], ONE, runs=100, rng=np.random.default_rng(5))


ROWS = [("a", 1), ("b", 2), ("c", 3)]


@pytest.mark.parametrize(
    ("relation", "first", "second", "neighbours"),
    [
        ("replace_one", [0.0, 1.0, 5.0], [0.0, 9.0, 5.0], True),
        ("replace_one", [0.0, 1.0, 5.0], [9.0, 9.0, 5.0], False),
        ("replace_one", [0.0, 1.0], [0.0, 1.0, 5.0], False),
        ("add_remove", [0.0, 1.0], [5.0, 0.0, 1.0], True),
        ("add_remove", [0.0, 1.0], [0.0, 5.0], False),
        ("add_remove", [0.0], [0.0, 1.0, 5.0], False),
        ("zero_out", np.eye(2), np.array([[1.0, 0.0], [0.0, 0.0]]), True),
        ("zero_out", np.eye(2), np.zeros((2, 2)), False),
        ("replace_one", ROWS, [*ROWS[:2], ("c", np.nan)], True),
        ("add_remove", pd.DataFrame(ROWS), pd.DataFrame(ROWS[1:]), True),
        ("add_remove", pd.DataFrame(ROWS), pd.DataFrame(ROWS[2:]), False),
    ],
)
def test_a_pair_of_more_than_one_changed_record_gets_a_remark(
    relation: Any, first: Any, second: Any, *, neighbours: bool
) -> None:
    """Wherever the records stand. It is no error: a row may be an answer, and a unit may have several rows."""
    claim = Claim(epsilon=1.0, neighbours=relation)
    for pair in ((first, second), (second, first)):
        remarks = pair_remarks(pair, claim)
        assert (remarks == ()) == neighbours
        assert neighbours or f"no neighbours under '{relation}'" in remarks[0]


def test_data_without_evident_records_are_compared_by_nobody() -> None:
    """Numbers, settings, and columns of arrays; equal ones get a remark, reordered ones another one."""
    for pair in ((0.0, 1.0), ({"a": 1}, {"a": 2}), ((np.zeros(3), np.ones(3)), (np.ones(3), np.zeros(3)))):
        assert pair_remarks(pair, ONE) == ()
    assert pair_remarks(([1, 2.0], [1.0, np.float64(2)]), ONE) == (EQUAL,)
    assert pair_remarks((np.array([0.0, 1.0]), np.array([1.0, 0.0])), ONE) == (REORDERED,)


def test_an_audit_opens_with_what_is_wrong_with_its_pair() -> None:
    rng, pair = np.random.default_rng(0), ([0, 0], [1, 1])
    for stop in (None, when_refuted):
        shown = audit(clipped, neighbours=pair, claim=ONE, runs=200, rng=rng, stop=stop)
        assert "2 of the first are not in the second" in shown.remarks[0]
