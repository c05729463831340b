"""Hypothesis strategies for neighbouring lists and for neighbouring tables, of which one has a unit's rows more."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from audits.testing.strategies import hypothesis_of, neighbouring_data_sets
from dpaudit.checks import count
from dpaudit.errors import ConfigError
from dpaudit.model.claim import Neighbours


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
        return frame(data | {name: [row[index] for _, row in rows] for index, name in enumerate(names)})

    def paired(parts: tuple[list[Any], list[Any]]) -> tuple[Any, Any]:
        first, second = parts[0], list(parts[0])
        for index, row in parts[1]:
            second.insert(min(index, len(second)), (0, row))
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
