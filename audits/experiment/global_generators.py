"""The random generators that all code of a process shares, or that a program holds: states, a start, who asks them."""

import inspect
import os
import random
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from types import CellType, FrameType, ModuleType
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np

Result = TypeVar("Result")

_DEPTH = 2
"""A generator is looked for in local variables, in their attributes, and in the attributes of these."""


def global_states() -> dict[str, Any]:
    """Return the states of the global generators of Python, numpy and, where it is imported, torch, by name.

    States are equal where the next numbers are.
    """
    states: dict[str, Any] = {
        "Python's global generator": random.getstate(),
        "numpy's global generator": repr(np.random.get_state()),  # noqa: NPY002 - to see changes
    }
    if "torch" in sys.modules:
        states["torch's global generator"] = sys.modules["torch"].get_rng_state().numpy().tobytes()
    return states


def other_sources(program: Callable[[], Result]) -> tuple[Result, tuple[str, ...]]:
    """Return what `program` returns, and the names of the sources of randomness that it asks beside a given generator.

    Seen are the operating system, as asked from Python, and the global generators of Python, numpy and torch.

    >>> other_sources(lambda: os.urandom(2) and 1)
    (1, ('the operating system',))
    """
    asked: list[None] = []
    plain = os.urandom

    def urandom(size: int, /) -> bytes:
        asked.append(None)
        return plain(size)

    before = global_states()
    with ExitStack() as stack:
        for module, name in ((os, "urandom"), (random, "_urandom")):
            stack.enter_context(patch.object(module, name, urandom))
        result = program()
    after = global_states()
    moved = tuple(name for name, state in before.items() if after[name] != state)
    return result, (*(("the operating system",) if asked else ()), *moved)


@contextmanager
def seeded(seed: int) -> Generator[None, None, None]:
    """Start the global generators from a seed for a block, and put back their states afterwards."""
    torch: Any = sys.modules.get("torch")
    python, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002 - the code may draw from it
    torch_state = None if torch is None else torch.get_rng_state()
    seed_globals(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy_state)  # noqa: NPY002 - what the code found is put back
        if torch is not None and torch_state is not None:
            torch.set_rng_state(torch_state)


def seed_globals(seed: int) -> None:
    """Start the global generators from a seed."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the code may draw from it
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def seed_held(frame: FrameType | None, seed: int) -> None:
    """Start the generators from a seed that `frame` and its callers up to this package hold, as in local variables."""
    while frame is not None and not str(frame.f_globals.get("__name__", "")).startswith("audits."):
        for value in [*frame.f_locals.values()]:
            for generator in _generators_of(value, _DEPTH):
                _start(generator, seed)
        frame = frame.f_back


def states_within_reach(function: Any) -> list[Any]:
    """Return the states of the generators that a function reaches by its module, its closure or its object."""
    plain = inspect.unwrap(getattr(function, "__func__", function))
    cells = [cell.cell_contents for cell in getattr(plain, "__closure__", None) or () if cell != CellType()]
    reached = [*getattr(plain, "__globals__", {}).values(), *cells, getattr(function, "__self__", None), function]
    return [_state(generator) for value in reached for generator in _generators_of(value, _DEPTH)]


def _generators_of(value: Any, depth: int) -> Iterator[Any]:
    """Yield a value that is a generator, and those among its attributes."""
    torch: Any = sys.modules.get("torch")
    kinds = (np.random.Generator, np.random.RandomState, random.Random, *(() if torch is None else (torch.Generator,)))
    if isinstance(value, kinds):
        yield value
    elif depth and not isinstance(value, type | ModuleType):
        for attribute in [*getattr(value, "__dict__", {}).values()]:
            yield from _generators_of(attribute, depth - 1)


def _start(generator: Any, seed: int) -> None:
    """Start a generator of Python, numpy or torch from a seed."""
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = type(generator.bit_generator)(seed).state
    elif hasattr(generator, "manual_seed"):
        generator.manual_seed(seed)
    else:
        generator.seed(seed)


def _state(generator: Any) -> Any:
    """Return the state of a generator of Python, numpy or torch; states are equal where the next numbers are."""
    if isinstance(generator, np.random.Generator):
        return repr(generator.bit_generator.state)
    if isinstance(generator, random.Random):
        return generator.getstate()
    state = generator.get_state()
    return state.numpy().tobytes() if hasattr(state, "numpy") else repr(state)
