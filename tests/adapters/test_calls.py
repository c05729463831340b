"""Outputs are kept as they are returned; refusals and the lowest bits of numbers are among what an audit reads."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.adapters.calls import Calls, lowest_bits


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
    ("output", "bit"),
    [
        (1.5, -1.0),
        (6, 1.0),
        (np.array([0.25, 2.0]), -2.0),
        ((8, "x"), 3.0),
        ({"b": [4.0], "a": 1}, 2.0),
        (True, 2000.0),
        ("a", 2000.0),
        (None, 2000.0),
        ([], 2000.0),
        (10**400, 2000.0),
    ],
)
def test_the_lowest_bit_is_that_of_the_first_number(output: Any, bit: float) -> None:
    """Of numbers of any type, of the first entry of what holds several, and of none."""
    columns = Calls(call=lambda data: output)(0, np.random.default_rng(0), 2)
    assert all(one is output for one in columns["output"])
    assert columns["lowest_bit"].tolist() == [bit] * 2


def test_an_exception_is_the_output_of_its_run_and_an_interrupt_is_none() -> None:
    """SystemExit too; Ctrl-C passes."""

    def exits(data: Any) -> Any:
        raise SystemExit(3)

    def interrupts(data: Any) -> Any:
        raise KeyboardInterrupt

    outputs = Calls(call=exits)(0, np.random.default_rng(0), 2)["output"]
    assert [type(output) for output in outputs] == [SystemExit] * 2
    with pytest.raises(KeyboardInterrupt):
        Calls(call=interrupts)(0, np.random.default_rng(0), 1)
