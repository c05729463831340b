"""Sources of randomness beside the generator that a function is given."""

import os
import random
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np

Result = TypeVar("Result")


def other_sources(program: Callable[[], Result]) -> tuple[Result, tuple[str, ...]]:
    """Return what `program` returns, and the names of the other sources of randomness that it asks.

    Seen are the operating system, as asked from Python, and the global generators of Python, numpy and torch.

    >>> other_sources(lambda: os.urandom(2) and 1)
    (1, ('the operating system',))
    """
    asked: list[None] = []
    plain = os.urandom

    def urandom(size: int, /) -> bytes:
        asked.append(None)
        return plain(size)

    before = _states()
    with ExitStack() as stack:
        for module, name in ((os, "urandom"), (random, "_urandom")):
            stack.enter_context(patch.object(module, name, urandom))
        result = program()
    after = _states()
    moved = tuple(name for name, state in before.items() if after[name] != state)
    return result, (*(("the operating system",) if asked else ()), *moved)


def _states() -> dict[str, Any]:
    """Return the states of the global generators."""
    legacy = np.random.get_state()  # noqa: NPY002 - to see changes
    states: dict[str, Any] = {
        "Python's global generator": random.getstate(),
        "numpy's global generator": repr(legacy),
    }
    if "torch" in sys.modules:
        states["torch's global generator"] = sys.modules["torch"].get_rng_state().numpy().tobytes()
    return states
