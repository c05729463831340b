"""Hypothesis strategies for records, hostile ones included, and for neighbouring data sets, lists and tables.

They need the extra "testing".
"""

from collections.abc import Mapping
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
        others, first, second, place = parts
        at = min(place, len(others))
        left = others[:at] + ([first] if relation == "replace_one" else []) + others[at:]
        return np.array(left), np.array([*others[:at], second, *others[at:]])

    others = strategies.lists(records, min_size=0, max_size=most - 1)
    return strategies.tuples(others, records, records, strategies.integers(0, most - 1)).map(made)


def neighbouring_lists(records: Any, *, relation: Neighbours = "replace_one", most: int = 8) -> Any:
    """Return a strategy for pairs of neighbouring lists, as `neighbouring_data_sets` draws them.

    Raises: ValueError: another relation. ConfigError: hypothesis is not installed.
    """
    pairs = neighbouring_data_sets(records, relation=relation, most=most)
    return pairs.map(_as_lists)


def neighbouring_frames(columns: Mapping[str, Any], *, unit: str, most_units: int = 4, most_rows: int = 6) -> Any:
    """Return a strategy for pairs of pandas frames, the second of which has all rows of one unit more, at any places.

    `columns` has a strategy for the cells of each column but `unit`, which holds whole numbers from 0; at most
    `most_rows` rows are of the unit that is added. Counterexamples shrink towards few rows and simple cells.
    Raises: ValueError: `unit` among the columns. ConfigError: hypothesis or pandas is not installed.
    """
    if unit in columns:
        raise ValueError(f"Expected unit={unit!r} to be none of the columns; the strategy fills it.")
    count("most_units", most_units)
    count("most_rows", most_rows)
    strategies, names = hypothesis_of("hypothesis.strategies"), tuple(columns)
    frame = _pandas().DataFrame
    cells = strategies.tuples(*(columns[name] for name in names))
    others = strategies.lists(strategies.tuples(strategies.integers(1, most_units), cells), max_size=most_rows)
    added = strategies.lists(
        strategies.tuples(strategies.integers(0, most_rows), cells), min_size=1, max_size=most_rows
    )

    def made(rows: list[tuple[int, Any]]) -> Any:
        data = {unit: [name for name, _ in rows]}
        return frame(data | {name: [row[place] for _, row in rows] for place, name in enumerate(names)})

    def paired(parts: tuple[list[Any], list[Any]]) -> tuple[Any, Any]:
        first, second = parts[0], list(parts[0])
        for place, row in parts[1]:
            second.insert(min(place, len(second)), (0, row))
        return made(first), made(second)

    return strategies.tuples(others, added).map(paired)


def _as_lists(pair: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Return two arrays as lists."""
    return pair[0].tolist(), pair[1].tolist()


def _pandas() -> Any:
    """Return pandas. Raises: ConfigError: it is not installed."""
    try:
        return import_module("pandas")
    except ImportError:
        raise ConfigError("Frames need pandas, which is not installed; install it with: pip install pandas.") from None
