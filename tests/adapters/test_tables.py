"""Counts and sums by group: one unit moves them by the sensitivity at most, whatever the table holds."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits import audit
from audits.testing import neighbouring_frames, neighbouring_lists, record_values, smallest_leak
from dpaudit import Claim, certify
from dpaudit.adapters.tables import GroupedSum

CLAIM = Claim(epsilon=1.0, neighbours="add_remove", unit="one person")
COUNTS: dict[str, Any] = {"by": "city", "unit": "person", "keys": ("A", "B"), "contributions": 2}
SUMS: dict[str, Any] = COUNTS | {"value": "spent", "low": -3.0, "high": 10.0, "step": 0.5}
CELLS = {
    "city": st.sampled_from(["A", "B", "C", None, float("nan"), 3]),
    "spent": st.one_of(record_values(-50.0, 50.0), st.sampled_from(["x", None, pd.NA, 10**400, True])),
}


@settings(deadline=None, derandomize=True)
@given(pair=neighbouring_frames(CELLS, unit="person"), fields=st.sampled_from([COUNTS, SUMS]))
def test_one_unit_moves_the_sums_by_the_sensitivity_at_most(pair: tuple[Any, Any], fields: dict[str, Any]) -> None:
    """For every table, hostile cells among them, in the l1 norm."""
    grouped = GroupedSum(**fields, scale=1.0)
    first, second = map(grouped.bounded, pair)
    assert np.abs(first - second).sum() <= grouped.sensitivity


@pytest.mark.parametrize(("fields", "steps"), [(COUNTS, 2), (SUMS, 40), (SUMS | {"low": -20.0}, 80)])
def test_the_sensitivity_is_reached(fields: dict[str, Any], steps: int) -> None:
    """A person with more rows than count, each at the far end of the range, moves the sums by all of it."""
    grouped = GroupedSum(**fields, scale=1.0)
    far = -1e9 if fields.get("low", 0) == -20.0 else 1e9
    table = {"city": ["A", "B", "B"], "person": [1, 1, 1], "spent": [far] * 3}
    assert grouped.sensitivity == steps == np.abs(grouped.bounded(table)).sum()


def test_a_calibrated_release_is_certified_and_audited_as_consistent() -> None:
    """The certificate meets the claim with noise no larger than needed; an audit on the worst pair agrees."""
    grouped = GroupedSum.calibrated(CLAIM, **COUNTS)
    certificate = certify(grouped.declaration("visits"), CLAIM)
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.upper == pytest.approx(1.0, rel=1e-6)
    rows = {"city": ["A", "A", "A"], "person": [1, 1, 1]}
    case = grouped.case("visits", {"city": [], "person": []}, rows)
    found = audit(case, claim=CLAIM, runs=4_000, rng=np.random.default_rng(0), significance=0.01)
    assert found.verdict != "violation"
    half = GroupedSum(**COUNTS, scale=grouped.scale / 2)
    case = half.case("visits", {"city": [], "person": []}, rows)
    found = audit(case, claim=CLAIM, runs=4_000, rng=np.random.default_rng(0), significance=0.01)
    assert found.verdict == "violation"


def test_frames_and_mappings_give_one_answer() -> None:
    """A pandas frame is read as a mapping of columns; a release has every key, in the unit of the values."""
    table = {"city": ["A", "B", "A", "Z"], "person": [1, 1, None, 2], "spent": [1.0, math.nan, 9.0, 9.0]}
    grouped = GroupedSum(**SUMS, scale=0.1)
    frame: Any = pd.DataFrame(table)
    assert grouped.bounded(table).tolist() == grouped.bounded(frame).tolist() == [2, 0]
    assert grouped.release(table, np.random.default_rng(0)) == {"A": 1.0, "B": 0.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": ()}, "one or more different"),
        ({"keys": ("A", "A")}, "one or more different"),
        ({"keys": (math.nan,)}, "one or more different"),
        ({"contributions": 0}, "contributions"),
        ({"low": 2.0, "high": 1.0}, "finite range"),
        ({"high": math.inf}, "finite range"),
        ({"step": 0.0}, "positive"),
        ({"step": 1e-12}, "2\\^31 steps"),
        ({"low": 0.0, "high": 0.1}, "2\\^31 steps"),
    ],
)
def test_what_has_no_sensitivity_is_refused(change: dict[str, Any], message: str) -> None:
    """One line names the field."""
    with pytest.raises(ValueError, match=message):
        GroupedSum(**(SUMS | change), scale=1.0)


def test_a_claim_on_replaced_records_is_refused() -> None:
    """Replacing a unit moves the sums twice as far."""
    with pytest.raises(ValueError, match="add_remove"):
        GroupedSum.calibrated(Claim(epsilon=1.0, neighbours="replace_one"), **COUNTS)


def test_the_smallest_leak_of_an_unbounded_count_has_one_row_too_many() -> None:
    """Without the bound a third row of one person leaks, and nothing smaller; with it nothing is found."""
    grouped = GroupedSum(**COUNTS, scale=2.0)
    pairs = neighbouring_frames({"city": st.sampled_from(["A", "B"])}, unit="person")

    def unbounded(frame: Any, tape: Any, rng: Any) -> Any:
        del rng
        counts = np.array([(frame["city"] == key).sum() for key in grouped.keys])
        return tape.release("visits", grouped.mechanism, counts)

    leak = smallest_leak(unbounded, pairs)
    assert leak is not None
    assert [len(frame) for frame in leak.pair] == [0, 3]

    def bounded(frame: Any, tape: Any, rng: Any) -> Any:
        del rng
        return tape.release("visits", grouped.mechanism, grouped.bounded(frame))

    assert smallest_leak(bounded, pairs) is None


@settings(deadline=None, derandomize=True)
@given(pair=neighbouring_lists(st.integers(0, 3), relation="add_remove"))
def test_neighbouring_lists_differ_in_one_record(pair: tuple[list[int], list[int]]) -> None:
    """The second list has one record more."""
    assert isinstance(pair[0], list)
    assert len(pair[1]) == len(pair[0]) + 1


def test_a_frame_whose_unit_is_a_column_is_refused() -> None:
    """The strategy fills the unit's column itself."""
    with pytest.raises(ValueError, match="none of the columns"):
        neighbouring_frames({"person": st.just(1)}, unit="person")
