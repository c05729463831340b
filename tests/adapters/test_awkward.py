"""Awkward neighbours of a release: in the stated relation, inside the domain, and used by audits of it."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas
import pytest

from audits import audit
from dpaudit import Claim
from dpaudit.adapters import LibraryRelease
from dpaudit.adapters.awkward import awkward_records, awkward_rows, awkward_values
from dpaudit.adapters.awkward_frames import awkward_frames, awkward_labelled
from dpaudit.adapters.calls import SeededCalls
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Stated


def _difference(first: Any, second: Any) -> tuple[int, int]:
    """Return how many records were removed and how many added, order aside."""
    before, after = Counter(map(repr, first)), Counter(map(repr, second))
    return sum((before - after).values()), sum((after - before).values())


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("kind", [[0.0, 1.0, 1.0], [3, 1], ["a", "b"], (0.5, 1.0), np.array([0.0, 2.0])])
def test_each_pair_differs_in_one_record(neighbours: Neighbours, kind: Any) -> None:
    """One record is added, or one replaced; the data have the form of the pair."""
    pairs = awkward_records((kind, kind[:-1] if neighbours == "add_remove" else kind[::-1]), neighbours)
    assert pairs
    for name, first, second in pairs:
        removed, added = _difference(first, second)
        assert (removed, added) == ((0, 1) if neighbours == "add_remove" else (1, 1)), name
        assert type(first) is type(second) is type(kind)


def test_every_kind_of_awkwardness_is_there() -> None:
    """Numbers: empty, zero width, extreme, NaN; texts: a category on one side; whole numbers: no NaN."""
    floats = {name: (a, b) for name, a, b in awkward_records(([0.0, 1.0], [0.0]), "add_remove")}
    assert set(floats) == {"empty", "zero width", "extreme", "not a number"}
    assert floats["empty"] == ([], [0.0])
    assert math.isnan(floats["not a number"][1][-1])
    assert [name for name, *_ in awkward_records(([1, 2], [1]), "add_remove")] == ["empty", "zero width", "extreme"]
    assert [name for name, *_ in awkward_records((["a"], ["b"]), "replace_one")] == ["category on one side"]


@pytest.mark.parametrize("pair", [(0.0, 1.0), (0.0, 0.1), (3, 4), (1.0, 0.25)])
def test_values_are_never_further_apart_than_those_of_the_pair(pair: tuple[Any, Any]) -> None:
    """Rounding may bring large values closer together, never apart; a pair that it moves apart is left out."""
    for _, first, second in awkward_values(pair):
        assert 0 <= abs(second - first) <= abs(pair[1] - pair[0])
        assert type(first) is type(pair[0])


def test_data_of_other_forms_have_no_pairs() -> None:
    """Matrices, mixed records, truth values, texts and equal numbers: nothing is known of their neighbours."""
    assert awkward_records((np.zeros((2, 2)), np.zeros((2, 2))), "replace_one") == ()
    assert awkward_records(([1, "a"], [1]), "add_remove") == ()
    assert awkward_records(([True], [False]), "replace_one") == ()
    assert awkward_records(([], []), "add_remove") == ()
    assert awkward_values((1.0, 1.0)) == awkward_values(("a", "b")) == awkward_values((0.0, math.nan)) == ()
    assert awkward_rows(([(1, 2)], [])) == awkward_rows(([], [])) == ()


def test_a_domain_leaves_out_what_it_does_not_hold() -> None:
    """Data outside the domain would be misuse; a domain that cannot read the data holds none of it."""

    def holds(data: list[float]) -> bool:
        if not data:
            raise ValueError("no records")
        return not any(map(math.isnan, data))

    names = [name for name, *_ in awkward_records(([0.0, 1.0], [0.0]), "add_remove", holds)]
    assert names == ["zero width", "extreme"]


def _release(*, clips_nan: bool) -> LibraryRelease:
    """Return a clipped sum with Laplace noise; NaN passes the clip of the broken one."""

    def prepare(seed: int) -> Any:
        rng = np.random.default_rng(seed)

        def call(data: list[float]) -> float:
            clipped = np.clip(np.array(data, dtype=float), 0.0, 1.0)
            total = float((np.nan_to_num(clipped) if clips_nan else clipped).sum())
            return round((total + rng.laplace()) * 2**20) / 2**20

        return call

    pair = ([0.0, 1.0], [0.0])
    return LibraryRelease(
        library="demo",
        version="1",
        text="a clipped sum",
        claim=Claim(epsilon=1.0, neighbours="add_remove"),
        source="sum.epsilon",
        declaration=Stated(epsilon=1.0, source="demo", neighbours="add_remove"),
        function=SeededCalls(prepare=prepare),
        pair=pair,
        reproducible=True,
        awkward=awkward_records(pair, "add_remove"),
    )


@pytest.mark.parametrize("clips_nan", [True, False])
def test_an_audit_of_the_cases_sees_what_the_own_pair_does_not(*, clips_nan: bool) -> None:
    """The broken sum falls on NaN alone, the honest one nowhere, at one hundredth shared by the cases."""
    release = _release(clips_nan=clips_nan)
    cases = release.cases()
    assert len({case.name for case in cases}) == len(cases) == 5
    fallen = [
        case.name
        for case in cases
        if audit(
            case, claim=release.claim, runs=400, rng=np.random.default_rng(2), significance=0.01 / len(cases)
        ).exceeds_claim
    ]
    assert fallen == ([] if clips_nan else ["demo: a clipped sum, not a number"])


def test_a_release_that_runs_nothing_has_no_cases() -> None:
    """An accountant's release has no experiment."""
    release = LibraryRelease(
        library="demo",
        version="1",
        text="an accountant",
        claim=Claim(epsilon=1.0, neighbours="add_remove"),
        source="epsilon",
        declaration=Stated(epsilon=1.0, source="demo", neighbours="add_remove"),
        reproducible=True,
    )
    assert release.cases() == ()


def rows_of(data: Any) -> list[str]:
    """Return the rows of a frame or of features and labels, as text in which NaN equals itself."""
    if isinstance(data, tuple):
        return [repr([column[row].tolist() for column in data]) for row in range(len(data[0]))]
    return [repr(row) for row in data.to_dict("records")]


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_awkward_tables_are_neighbours(neighbours: Neighbours) -> None:
    """Frames and labelled features differ in one row, whatever is awkward about it; a column of truths has nothing."""
    frame = pandas.DataFrame({"shop": ["a", "b", "a"], "paid": [1.0, 2.0, 3.0], "n": [1, 2, 3], "ok": [True] * 3})
    frames = (frame.iloc[:2], frame) if neighbours == "add_remove" else (frame, frame)
    features, labels = np.arange(6.0).reshape(3, 2), np.array([0, 1, 1])
    labelled = (features[:2], labels[:2]), (features, labels)
    pairs = awkward_frames(frames, neighbours) + awkward_labelled(
        labelled if neighbours == "add_remove" else (labelled[1], labelled[1]), neighbours
    )
    names = {name for name, _, _ in pairs} - {"empty"}
    assert names == {
        "shop: category on one side",
        "paid: extreme",
        "paid: not a number",
        "n: extreme",
        "extreme row",
        "class on one side",
    }
    for name, first, second in pairs:
        gone, new = (
            Counter(rows_of(first)) - Counter(rows_of(second)),
            Counter(rows_of(second)) - Counter(rows_of(first)),
        )
        assert (gone.total(), new.total()) == ((0, 1) if neighbours == "add_remove" else (1, 1)), name
        if not isinstance(first, tuple):
            assert list(first.columns) == list(second.columns)
            assert list(first.dtypes) == list(frame.dtypes)


def test_other_tables_have_no_awkward_neighbours() -> None:
    """Lists, matrices, empty frames, labels of another length; texts may be labels."""
    empty = pandas.DataFrame({"a": []})
    assert awkward_frames(([1], [1, 2]), "add_remove") == ()
    assert awkward_frames((empty, empty), "add_remove") == ()
    matrix = np.zeros((2, 2))
    for data in (matrix, (matrix, np.zeros(3)), (matrix[0],), (np.zeros((0, 2)),)):
        assert awkward_labelled((data, data), "replace_one") == ()
    texts = (matrix, np.array(["x", "y"]))
    assert awkward_labelled((texts, texts), "add_remove")[1][2][1][-1] == "a category of one record"
    assert [name for name, _, _ in awkward_labelled(((matrix,), (matrix,)), "replace_one")] == ["extreme row"]
