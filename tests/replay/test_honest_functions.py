"""Honest functions with samplers and branches of their own: no replay says violation, whatever it supposes."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits.procedures.replayed import replayed

HONEST: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "honest_functions.py"))
FUNCTIONS: dict[str, Any] = HONEST["FUNCTIONS"]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_no_replay_of_an_honest_function_says_violation(name: str) -> None:
    """A replay says violation of code that keeps its claim with probability below 1e-9; `replays 48` makes 2,016."""
    function, pair = FUNCTIONS[name]
    looked = replayed(function, pair, None, HONEST["CLAIM"], runs=400, rng=np.random.default_rng(3))
    assert looked.violation is None


def test_a_pair_of_two_records_is_found_in_the_same_code() -> None:
    """Twin: an inverse distribution function with noise for one record, on data sets that differ in two."""
    function, (few, _) = FUNCTIONS["inverse"]
    looked = replayed(function, (few, few[:-2]), None, HONEST["CLAIM"], runs=400, rng=np.random.default_rng(3))
    assert looked.violation is not None
