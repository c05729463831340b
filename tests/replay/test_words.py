"""The sentences of findings, read without knowledge of the code: they name the parts, the values and the draws."""

import datetime
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits import audit
from audits.outputs.values import record
from audits.replay.words import form_words
from dpaudit import Claim

ADDED = Claim(epsilon=1.0, neighbours="add_remove")


def remarks(function: Callable[..., Any], pair: tuple[Any, Any]) -> str:
    result = audit(function, neighbours=pair, claim=ADDED, runs=2_000, rng=np.random.default_rng(2))
    assert result.verdict == "violation"
    return " ".join(result.remarks)


@pytest.mark.parametrize(
    ("here", "there", "says"),
    [
        (["tea", "coffee"], ["tea", "rum"], "entry [1] of the output is 'coffee'"),
        ({"note": "a fine"}, {"note": "none"}, "'note' is 'a fine'"),
        (pd.Series([1.0], index=["Uri"]), pd.Series([2.0], index=["Genf"]), "entry [0] of 'index' is 'Uri'"),
        (pd.DataFrame({"town": ["Uri"]}), pd.DataFrame({"town": ["Genf"]}), "entry [0] of 'town' is 'Uri'"),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [1], "b": [1]}), "the output lacks the key 'b'"),
    ],
)
def test_a_form_is_named_by_its_part_and_its_value(here: Any, there: Any, says: str) -> None:
    """Texts of other lengths, labels of rows and columns of frames, not only a length or a category."""
    words = form_words(here, there)
    assert words is not None
    assert words[0] == says


def test_a_violation_without_a_seen_law_names_the_draws_and_the_answers() -> None:
    """Noise that is drawn again until it is small: no law is seen, and the sentence tells scale, line and number."""

    def bounded(data: list[int], rng: np.random.Generator) -> float:
        noisy = len(data) + rng.laplace(0.0, 1.0)
        while abs(noisy - len(data)) > 2:
            noisy = len(data) + rng.laplace(0.0, 1.0)
        return float(noisy)

    said = remarks(bounded, ([1, 2, 3], [1, 2]))
    assert "laplace of scale 1 at " in said
    assert "how many differs from run to run" in said
    assert "Without additive noise the output is 3 on the first data set and 2 on the second data set." in said


def test_a_seen_law_needs_no_sentence_about_draws() -> None:
    """The cause names the answers and the line already."""

    def halved(data: list[int], rng: np.random.Generator) -> float:
        return float(len(data) + rng.laplace(0.0, 0.5))

    said = remarks(halved, ([1, 2, 3], [1, 2]))
    assert "2 times the scale" in said
    assert "Drawn from rng" not in said


def test_a_date_is_named_as_a_date() -> None:
    """The mean of days, with noise for a month only: an event before or after a day, not after so many microseconds."""

    def middle(days: list[int], rng: np.random.Generator) -> datetime.date:
        return datetime.date(2025, 1, 1) + datetime.timedelta(days=round(sum(days) + rng.laplace(0.0, 30.0)))

    said = remarks(middle, ([200, 20], [20]))
    assert re.search(r"The output is (at most|at least|below) 2025-\d\d-\d\d", said)
    assert "e+15" not in said


def test_missing_values_do_not_hide_a_sum_without_a_bound() -> None:
    """Beside NaN and infinity, a remark says that a large number moves the answer by many times its noise."""

    def total(pay: list[float], rng: np.random.Generator) -> float:
        return sum(pay) + rng.laplace(0.0, 10.0)

    result = audit(total, [3.1, 4.5, 2.2, 6.7], claim=ADDED, runs=400, rng=np.random.default_rng(2))
    assert result.verdict != "violation"
    strange = [remark for remark in result.remarks if remark.startswith("With a record that the data do not have")]
    assert any("is NaN" in remark for remark in strange)
    assert any("the answer moves by" in remark and "far above the others" in remark for remark in strange)


@pytest.mark.parametrize("keys", [("q1", "q2"), (2024, 2025), ("age 18-40", "age 41+")])
def test_entries_of_a_mapping_are_named_by_keys_with_digits(keys: tuple[Any, Any]) -> None:
    """A question, a year or an age group is named in the finding, not the place of its value among keys and values."""

    def halved(data: list[int], rng: np.random.Generator) -> dict[Any, float]:
        return {keys[0]: rng.laplace(0.0, 1.0), keys[1]: len(data) + rng.laplace(0.0, 0.5)}

    assert remarks(halved, ([1, 2, 3], [1, 2])).startswith(f"'{keys[1]}': ")


def test_a_number_that_is_published_in_a_key_stays_a_number() -> None:
    """Broken twin of a key that is a name: noise in a key names no column, and too little of it is still found."""
    assert [record({f"sum {total}": 1})["number [0]#0"] for total in (17.25, 1723)] == [17.25, 1723.0]
    assert len(record({f"item {number}": 1.5 for number in range(900)})) < 2_000  # most of them count as one category
    written = remarks(lambda data, rng: {f"sum {len(data) + rng.laplace(0.0, 0.4)}": 1}, ([1, 2, 3], [1, 2]))
    assert written.startswith("Number 1 of entry [0] of the output: the answer moves by 2.5 times the scale")
