"""Outputs of any kind become columns; lowest bits, refusals and keys are among them."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.adapters.calls import Calls
from dpaudit.adapters.outcomes import lowest_bits, one_by_one, outcome_columns


def test_lowest_bits_are_those_of_exact_fractions() -> None:
    """Against the power of two that divides the exact numerator, for 500 numbers of all sizes."""
    rng = np.random.default_rng(0)
    numbers = np.concatenate([rng.normal(size=200), np.ldexp(rng.normal(size=200), rng.integers(-400, 400, 200))])
    numbers = np.concatenate([numbers, np.round(rng.normal(size=100) * 1024) / 1024])
    for number, bit in zip(numbers, lowest_bits(numbers), strict=True):
        if number == 0:
            assert bit == 2000
            continue
        exact = Fraction(float(number)) / Fraction(2) ** int(bit)
        assert exact.denominator == 1
        assert exact.numerator % 2 == 1
    assert lowest_bits(np.array([0.0, -0.0, math.inf, math.nan])).tolist() == [2000.0] * 4


@pytest.mark.parametrize(
    ("output", "outcome", "value", "row"),
    [
        (1.5, "float", 1.5, ()),
        (3, "int", 3.0, ()),
        (True, "bool True", None, ()),
        ("a", "str 'a'", None, ()),
        (None, "NoneType None", None, ()),
        (np.float64(2.0), "float64", 2.0, ()),
        (np.array([1.0, 2.0]), "ndarray", 1.0, (2.0,)),
        ([], "list", None, ()),
        ((1, "x", [2.0]), "tuple", 1.0, ("str 'x'", 2.0)),
        ({"b": 1, "a": 2}, "dict 'b' 'a'", 1.0, (2.0,)),
        (KeyError("secret"), "raises KeyError", None, ()),
        (10**400, "int", math.inf, ()),
        (b"\x81", "1 bytes", 1.0, (0.0,) * 6 + (1.0,)),
        (b"", "0 bytes", None, ()),
        (b"123456789", "bytes b'123456789'", None, ()),
    ],
)
def test_each_kind_of_output_has_its_outcome(output: Any, outcome: str, value: float | None, row: Any) -> None:
    """Types, keys in their order, classes of exceptions without their messages, numbers of any size."""
    columns = outcome_columns([output])
    assert columns["outcome"] == [outcome]
    assert columns["row"] == [row]
    assert math.isnan(columns["value"][0]) if value is None else columns["value"][0] == value


def test_an_exception_is_the_output_of_its_run_and_an_interrupt_is_none() -> None:
    """SystemExit too; Ctrl-C passes."""

    def exits(data: Any) -> Any:
        raise SystemExit(3)

    assert Calls(call=exits)(0, np.random.default_rng(0), 2)["outcome"] == ["raises SystemExit"] * 2

    def interrupts() -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one_by_one(interrupts, 1)
