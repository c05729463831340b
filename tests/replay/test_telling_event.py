"""The event that explains a violation: of one column or of two, by names and counts of the output."""

from typing import Any

import numpy as np

from audits import audit
from audits.procedures.telling_event import telling_event
from dpaudit import Claim


def told(function: Any, pair: tuple[Any, Any] = (0, 1)) -> str:
    return telling_event(function, pair, np.random.default_rng(3), audited=20_000)


def test_the_event_of_one_column_is_named_with_its_counts() -> None:
    """A category, a number and an exception that one data set alone shows; nothing where both have one law."""

    def word(data: int, rng: np.random.Generator, n_runs: int) -> list[str]:
        return [("tea", "rum")[data * int(rng.random() < 0.4)] for _ in range(n_runs)]

    def number(data: int, rng: np.random.Generator, n_runs: int) -> list[dict[str, float]]:
        return [{"pay": float(rng.normal()) + 9 * data} for _ in range(n_runs)]

    def raising(data: int, rng: np.random.Generator, n_runs: int) -> list[int]:
        return [1 // (1 - data * int(rng.random() < 0.5)) for _ in range(n_runs)]

    assert told(word).startswith("The output is 'rum': 0 of 400")
    assert told(number).startswith("'pay' is ")
    assert "raises ZeroDivisionError: 0 of 400" in told(raising)
    assert told(word, (1, 1)) == told(number, (0, 0)) == ""


def test_an_event_of_two_columns_is_named_where_neither_tells_alone() -> None:
    """Two fair coins, equal on one data set and independent on the other."""

    def coins(data: int, rng: np.random.Generator, n_runs: int) -> list[dict[str, int]]:
        first, second = rng.integers(0, 2, (2, n_runs))
        return [{"a": int(a), "b": int(a if data else b)} for a, b in zip(first, second, strict=True)]

    said = told(coins)
    assert "'a' = " in said
    assert " and 'b' = " in said
    assert "0 of 400 on the second" in said


def test_a_violation_opens_with_its_event() -> None:
    """An audit that an attack decides says the event first, then how it searched."""

    def rarely(data: int, rng: np.random.Generator, n_runs: int) -> Any:
        return rng.integers(0, 10, n_runs) < 3 + 4 * data

    claim = Claim(epsilon=0.5, neighbours="replace_one")
    result = audit(rarely, neighbours=(0, 1), claim=claim, runs=2_000, rng=np.random.default_rng(0))
    assert result.verdict == "violation"
    assert result.remarks[0].startswith("The output = ")
