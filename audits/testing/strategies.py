"""Hypothesis strategies for records, hostile ones included, and for neighbouring data sets (extra "testing")."""

from importlib import import_module
from typing import Any

import numpy as np

from dpaudit.checks import count, one_of
from dpaudit.errors import ConfigError
from dpaudit.model.claim import NEIGHBOURS, Neighbours

_HUGE = 1e300


def hypothesis_of(name: str) -> Any:
    """Return a module of hypothesis. Raises: ConfigError: it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise ConfigError(
            "Strategies need hypothesis, which is not installed; install it with: pip install 'dpaudit[testing]'."
        ) from None


def record_values(low: float = -1.0, high: float = 1.0, *, hostile: bool = True) -> Any:
    """Return a strategy for one number of a record: within bounds, and hostile ones such as NaN, infinity and 1e300.

    Counterexamples shrink towards bounded numbers, and among them towards 0.
    """
    strategies = hypothesis_of("hypothesis.strategies")
    bounded = strategies.floats(low, high, allow_nan=False)
    if not hostile:
        return bounded
    bad = strategies.sampled_from([2 * high - low, _HUGE, -_HUGE, float("inf"), float("-inf"), float("nan")])
    return strategies.one_of(bounded, bad)


def neighbouring_data_sets(records: Any, *, relation: Neighbours = "replace_one", most: int = 8) -> Any:
    """Return a strategy for pairs of neighbouring data sets, as numpy arrays of at most `most` records.

    Under "replace_one" one record differs, at any place; under "add_remove" the second data set has one record more, at
    any place. Counterexamples shrink towards few records and simple ones.
    Raises: ValueError: another relation. ConfigError: hypothesis is not installed.
    """
    one_of("relation", relation, NEIGHBOURS)
    count("most", most)
    strategies = hypothesis_of("hypothesis.strategies")

    def made(parts: tuple[list[Any], Any, Any, int]) -> tuple[Any, Any]:
        others, first, second, index = parts
        at = min(index, len(others))
        left = others[:at] + ([first] if relation == "replace_one" else []) + others[at:]
        return np.array(left), np.array([*others[:at], second, *others[at:]])

    others = strategies.lists(records, min_size=0, max_size=most - 1)
    return strategies.tuples(others, records, records, strategies.integers(0, most - 1)).map(made)
