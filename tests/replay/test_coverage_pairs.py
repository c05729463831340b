"""Pairs that cover one data set are neighbours, for each kind of data."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits import Settings, audit
from audits.replay.boundary_pairs import Sight, boundary_pairs
from audits.replay.coverage_pairs import coverage_pairs
from audits.replay.record_values import strange_values
from dpaudit import Claim, UnsupportedError

FRAME = pd.DataFrame({"who": [1, 1, 2, 3, 3, 3], "town": list("aabbbc"), "pay": [1.0, 2.0, np.nan, 4.0, 9.0, 3.0]})


@pytest.mark.parametrize(
    "data",
    [
        np.array([0.5, 2.0, 2.0, 7.5]),
        np.arange(12).reshape(6, 2),
        ["a", "b", "b", "a", "c"],
        [{"town": "a", "pay": 3}, {"town": "b", "pay": 4}],
        {"ann": 3, "bob": 4, "eve": 3},
        FRAME,
    ],
    ids=["numbers", "rows", "texts", "records", "dict", "frame"],
)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_both_sides_have_sizes_of_neighbours(data: Any, relation: Any) -> None:
    pairs = coverage_pairs(data, relation)
    assert len({pair.says for pair in pairs}) == len(pairs) > 3
    for pair in pairs:
        first, second = map(len, pair.neighbours)
        assert first - second == (1 if relation == "add_remove" else 0), pair.says
        assert type(pair.neighbours[0]) is type(data)


def test_add_remove_reaches_no_record_and_replace_one_does_not() -> None:
    assert any(len(pair.neighbours[1]) == 0 for pair in coverage_pairs([1, 2], "add_remove"))
    assert all(len(pair.neighbours[1]) > 0 for pair in coverage_pairs([1, 2], "replace_one"))


def test_one_record_stands_beside_two_copies_of_it() -> None:
    """The mean of both data sets is equal: only noise that is divided by their sizes differs."""
    pairs = {pair.says: pair.neighbours for pair in coverage_pairs([3, 1, 9, 4], "add_remove")}
    assert pairs["record 0 twice, or once"] == ([3, 3], [3])
    with_names = coverage_pairs(FRAME, "add_remove", unit="who")
    assert not any("twice" in pair.says for pair in with_names)  # two persons have two names


def test_all_rows_of_a_person_go_together() -> None:
    pairs = coverage_pairs(FRAME, "add_remove", unit="who")
    for pair in (pair for pair in pairs if not pair.outside):
        gone = set(pair.neighbours[0].who) - set(pair.neighbours[1].who)
        assert len(gone) == 1, pair.says
    sizes = {len(first) - len(second) for first, second in (pair.neighbours for pair in pairs if not pair.outside)}
    assert sizes == {1, 2, 3}


@pytest.mark.parametrize("unit", [None, "who"])
def test_each_of_a_few_records_is_left_out_once(unit: str | None) -> None:
    """Each pair has its own words, and what is left out is another record each time."""
    whole = len(FRAME)
    left_out = [
        frozenset(map(repr, pair.neighbours[0].to_numpy().tolist()))
        - frozenset(map(repr, pair.neighbours[1].to_numpy().tolist()))
        for pair in coverage_pairs(FRAME, "add_remove", unit)
        if pair.says.startswith("without one record") and len(pair.neighbours[0]) == whole
    ]
    assert len(set(left_out)) == len(left_out) == (FRAME.who.nunique() if unit else whole)


def test_one_extreme_record_stands_beside_many_of_the_other_extreme() -> None:
    pairs = {pair.says: pair.neighbours for pair in coverage_pairs([3, 1, 9, 4], "add_remove")}
    assert pairs["8 records with 1, and one with 9 or none"] == ([1] * 8 + [9], [1] * 8)
    pairs = {pair.says: pair.neighbours for pair in coverage_pairs([3, 1, 9, 4], "replace_one")}
    assert pairs["3 records with 9, and one with 1 or one more of them"] == ([9, 9, 9, 1], [9, 9, 9, 9])


def test_all_other_records_hold_one_category_where_a_record_is_replaced() -> None:
    pairs = {pair.says: pair.neighbours for pair in coverage_pairs(list("abbccc"), "replace_one")}
    assert pairs["5 records with 'b', and one with 'c' or one more of them"] == (list("bbbbbc"), list("bbbbbb"))


@pytest.mark.parametrize("is_told", [True, False])
def test_an_answer_that_is_always_told_is_seen_in_counts(is_told: bool) -> None:
    """Randomised answers of 40 people, of which the counts are published, as beside one other answer a told one is.

    Twin: the answer 'unsure' is drawn anew as often as the others.
    """
    options = ["yes", "no", "unsure"]

    def counted(answers: list[str], rng: np.random.Generator) -> list[int]:
        told = [
            answer if rng.random() < 0.36 or (is_told and answer == "unsure") else options[rng.integers(3)]
            for answer in answers
        ]
        return [told.count(option) for option in options]

    data = [options[person % 3] for person in range(40)]
    claim = Claim(epsilon=1.0, neighbours="replace_one")
    result = audit(counted, data, claim=claim, runs=500, rng=np.random.default_rng(4), how=Settings(control_runs=0))
    assert (result.verdict == "violation") is is_told


@pytest.mark.parametrize("data", [[3, 1, 9, 4], list("aaaaaab"), FRAME])
def test_where_a_record_is_replaced_the_number_of_records_is_public(data: Any) -> None:
    """Each pair has as many records as the data, and differs in one of them."""
    for pair in coverage_pairs(data, "replace_one"):
        first, second = (list(map(repr, getattr(held, "values", held))) for held in pair.neighbours)
        assert len(first) == len(second) == len(data), pair.says
        assert sum(a != b for a, b in zip(first, second, strict=True)) <= 1, pair.says


def test_each_small_count_of_a_rare_category_is_there() -> None:
    says = {pair.says for pair in coverage_pairs(list("aaaaaab"), "add_remove")}
    assert {f"{size + 1} or {size} records whose value is 'b'" for size in range(11)} <= says


def test_values_that_no_record_has_are_marked_as_outside() -> None:
    outside = [pair.says for pair in coverage_pairs(np.array([0.5, 2.0, 7.5]), "add_remove") if pair.outside]
    assert any("NaN" in says for says in outside)
    assert not any(pair.outside for pair in coverage_pairs(FRAME, "add_remove") if "missing" in pair.says)


def test_data_without_records_are_refused_by_type() -> None:
    with pytest.raises(UnsupportedError, match=r"builtins\.float"):
        coverage_pairs(1.5, "add_remove")


def test_an_unknown_unit_is_refused_with_the_columns() -> None:
    with pytest.raises(ValueError, match="who, town, pay"):
        coverage_pairs(FRAME, "add_remove", unit="person")


def test_too_few_records_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one record"):
        coverage_pairs([], "add_remove")


def test_a_replaced_person_keeps_the_name_and_all_others_stay_as_they_are() -> None:
    pairs = [pair for pair in coverage_pairs(FRAME, "replace_one", unit="who") if not pair.outside]
    assert pairs
    for one, other in (pair.neighbours for pair in pairs):
        assert set(one["who"]) == set(other["who"])
        rows = [
            {name: part.drop(columns="who").to_numpy().tolist() for name, part in d.groupby("who")}
            for d in (one, other)
        ]
        assert sum(repr(rows[0][name]) != repr(rows[1][name]) for name in rows[0]) <= 1


@pytest.mark.parametrize(("relation", "unit"), [("add_remove", None), ("add_remove", "who"), ("replace_one", None)])
def test_a_boundary_lies_between_neighbours(relation: Any, unit: Any) -> None:
    """A threshold on the sum of a column is met by one record more or less, or by another record in its place."""

    def rich(frame: Any) -> Sight:
        return Sight(traits=frozenset({(0, bool(frame["pay"].sum() > 17.0))}))

    pairs = boundary_pairs(FRAME, relation, unit, rich)
    assert any(rich(pair.neighbours[0]) != rich(pair.neighbours[1]) for pair in pairs)
    for pair in pairs:
        one, other = pair.neighbours
        gone = set(one["who"]) ^ set(other["who"]) if unit else None
        assert gone is None or len(gone) <= 2
        assert abs(len(one) - len(other)) <= (3 if unit else relation == "add_remove")
    assert boundary_pairs(FRAME, "replace_one", "who", rich) == ()


def test_every_threshold_gets_a_pair_of_its_own_within_the_calls() -> None:
    calls = []

    def traits(data: Any) -> Sight:
        calls.append(len(data))
        return Sight(traits=frozenset((0, limit) for limit in (5, 17, 60) if len(data) > limit))

    sizes = {tuple(map(len, pair.neighbours)) for pair in boundary_pairs(list(range(90)), "add_remove", None, traits)}
    assert sizes >= {(6, 5), (18, 17), (61, 60)}
    assert len(calls) < 200


@pytest.mark.parametrize("unit", [None, "who"])
def test_a_threshold_that_equal_records_alone_reach_lies_between_neighbours(unit: str | None) -> None:
    """Four equal records move all queries at once; the data themselves hold no two alike."""

    def agreed(frame: Any) -> Sight:
        return Sight(traits=frozenset({(0, len(frame) > 4 and frame["pay"].nunique(dropna=False) == 1)}))

    pairs = boundary_pairs(FRAME, "add_remove", unit, agreed)
    assert [tuple(map(len, pair.neighbours)) for pair in pairs[:1]] == ([] if unit else [(5, 4)])
    assert all(pair.says.startswith(("5 or 4 records with", "5 records with", "4 records with")) for pair in pairs)


@pytest.mark.parametrize("jump", [7, 40, 83])
def test_a_jump_of_a_number_lies_between_neighbours(jump: int) -> None:
    """Where a count jumps, as by an overflow, one pair has the step, and a steady count has none."""

    def leaping(data: Any) -> Sight:
        return Sight(numbers={"count": float(len(data) + (50 if len(data) > jump else 0))})

    def steady(data: Any) -> Sight:
        return Sight(numbers={"count": float(len(data))})

    sizes = {tuple(map(len, pair.neighbours)) for pair in boundary_pairs(list(range(90)), "add_remove", None, leaping)}
    assert (jump + 1, jump) in sizes
    assert boundary_pairs(list(range(90)), "add_remove", None, steady) == ()


def test_at_a_boundary_of_equal_records_stand_records_of_other_kinds() -> None:
    """Beside both data sets of a step, one more record is of another kind; under replacement one is changed."""

    def rich(data: Any) -> Sight:
        return Sight(traits=frozenset({(0, sum(data) > 20)}))

    data = [0.0] * 12 + [0.5] * 12 + [1.0] * 16
    added = [pair.neighbours for pair in boundary_pairs(data, "add_remove", None, rich)]
    assert any(set(fewer) == {1.0} and more == [*fewer, 0.5] for more, fewer in added)
    changed = [pair.neighbours for pair in boundary_pairs(data, "replace_one", None, rich)]
    assert all(len(one) == len(other) == 40 for one, other in changed)
    assert any(sorted(one) != sorted(other) and 0.5 in other for one, other in changed)


@pytest.mark.parametrize(
    ("values", "strange"),
    [
        ([3.5, 2.0, 7.25], {"NaN", "infinity", "zero", "a value far above the others", "a negative value"}),
        ([23, 64, 35], {"zero", "a value far above the others", "a negative value"}),
        ([-1.0, 2.0], {"NaN", "infinity", "a value far above the others"}),
        ([0, 1, 3, 1], {"an unseen category"}),
        ([False, True], set()),
        (["a", "b"], {"an unseen category", "an empty text"}),
    ],
)
def test_a_column_of_few_measures_gets_values_far_above_and_below(values: list[Any], strange: set[str]) -> None:
    """Small whole numbers are codes, of which the next one is unseen; any other number is a size."""
    assert {words for words, _ in strange_values(values)} == strange
