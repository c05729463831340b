"""A small study, and how it runs in this process."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dpaudit import certify
from dpaudit.study.running import How
from dpaudit.study.store import CellStore

SMALL = """
[study]
name = "small"
horizons = [2000, 20000]
epsilons = [0.5, 4.0]
runs = 3
problems = [0, 1, 2]
seed = 7
delta = 1e-5

[study.quick]
runs = 2
epsilons = [1.0]

[problem]
name = "grid"
contexts = 2
actions = 2
length_scale = 1.0

[[contender]]
label = "tight"
role = "private"
grid = "epsilon"

[contender.algorithm]
name = "capri"
model = "joint"
delta = 1e-5
length_scale = 1.0

[[contender]]
label = "no noise"
role = "ceiling"

[contender.algorithm]
name = "capri"
model = "joint"
epsilon = 1.0
delta = 1e-5
length_scale = 1.0

[[contender]]
label = "blind"
role = "floor"

[contender.algorithm]
name = "capri"
model = "joint"
epsilon = 1.0
delta = 1e-5
length_scale = 1.0
"""


def here(tasks: Sequence[Callable[[], Any]]) -> Iterator[Any]:
    """Yield the results of tasks that run in this process."""
    return (task() for task in tasks)


def how_in(folder: Path, *, resume: bool = False) -> How:
    """Return how a study runs here, with its cells in a folder."""
    return How(perform=here, certify=certify, store=CellStore(folder=folder / "cells"), resume=resume)


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    """Return the file of the small study."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path
