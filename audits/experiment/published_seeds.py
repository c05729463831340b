"""Outputs that hold the seed of the generator that made their noise: whoever sees the seed can draw the noise again."""

import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from audits.outputs.calls import numbers_of, outcome
from audits.outputs.fields import NUMBER, Fields
from dpaudit.model.case import Run

_STREAMS, _STREAM, _MOST = 3, 5_209, 64


def published_seeds(run: Run, neighbours: tuple[Any, Any], seconds: float | None = None) -> tuple[str, ...]:
    """Return the names of outputs that are fixed by the data and by a seed that stands among the outputs.

    Seen are whole numbers that the function gives to `numpy.random.default_rng`. An output is named if such a seed is a
    number of the same run, on three streams; if with one seed in the place of all others the output does not change
    from stream to stream, and differs between the data sets; and if without that it changes. At most ten calls of one
    run are made, and one where the function makes no generator of its own.

    >>> def published(data, rng, n_runs):
    ...     seed = int(rng.integers(2**31))
    ...     return {"seed": np.array([seed]), "sum": np.array([data + np.random.default_rng(seed).laplace()])}
    >>> published_seeds(published, (0.0, 1.0))
    ('.sum',)
    """
    free = []
    for number in range(_STREAMS):
        with _generators_of(run, None) as seeds:
            fields = _numbers(run, neighbours[0], number, seconds)
        if not any(seed in column for seed in seeds for column in fields.values()):
            return ()
        free.append((seeds, fields))
    fixed = next(seed for seed in free[0][0] if any(seed in column for column in free[0][1].values()))
    with _generators_of(run, fixed):
        sides = [[_numbers(run, data, number, seconds) for number in range(_STREAMS)] for data in neighbours]
    return tuple(
        name.removeprefix(NUMBER)
        for name in free[0][1]
        if not _same([fields for _, fields in free], name)
        and all(_same(side, name) for side in sides)
        and not _same([side[0] for side in sides], name)
    )


def _numbers(run: Run, data: Any, number: int, seconds: float | None) -> Fields:
    """Return the sizes of the numbers of one run, by name; none where it raised or cannot be read.

    A sign may be a dash before the number in a text.
    """
    returned = outcome(run, data, np.random.default_rng([_STREAM, number]), seconds)
    return Fields(
        {
            f"{name}[{index}]" if column.shape[1] > 1 else name: np.abs(column[:, index])
            for name, column in numbers_of(returned).items()
            for index in range(min(column.shape[1], _MOST))
        }
    )


def _same(sides: list[Fields], name: str) -> bool:
    """Return whether an output has the same numbers in several runs."""
    columns = [side[name] for side in sides if name in side]
    return len(columns) == len(sides) and all(np.array_equal(columns[0], column, equal_nan=True) for column in columns)


@contextmanager
def _generators_of(run: Run, fixed: int | None) -> Generator[list[int], None, None]:
    """Yield the whole numbers that the block gives to `default_rng` as seeds; `fixed` takes the place of each."""
    seeds: list[int] = []
    made: Callable[..., np.random.Generator] = np.random.default_rng

    def watched(seed: Any = None) -> np.random.Generator:
        if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
            return made(seed)
        seeds.append(int(seed))
        return made(int(seed) if fixed is None else fixed)

    module = sys.modules.get(str(getattr(getattr(run, "function", run), "__module__", "")))
    names = [name for name, value in vars(module).items() if value is made] if module is not None else []
    with ExitStack() as stack:
        stack.enter_context(patch.object(np.random, "default_rng", watched))
        for name in names:
            stack.enter_context(patch.object(module, name, watched))
        yield seeds
