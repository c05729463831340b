"""Generators that a program holds: found in its variables and in what these hold, and started from a seed."""

import random
import sys
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pytest

from audits.experiment.global_generators import seed_held

KEPT: list[Any] = []
"""Where no local variable holds it."""


@dataclass
class Holder:
    inside: Any


def torch_generator() -> Any:
    return pytest.importorskip("torch").Generator()


def number(generator: Any) -> float:
    if isinstance(generator, random.Random | np.random.RandomState | np.random.Generator):
        return float(generator.random())
    return float(sys.modules["torch"].rand(1, generator=generator))


@pytest.mark.parametrize("made", [random.Random, np.random.default_rng, np.random.RandomState, torch_generator])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_a_generator_two_attributes_deep_starts_from_the_seed(made: Any, depth: int) -> None:
    """Of each kind; one that lies deeper is not looked for, and goes on."""
    KEPT.append(made())
    held = reduce(lambda inside, _: Holder(inside=inside), range(depth), KEPT[-1])
    numbers = []
    for _ in range(2):
        started(held)
        numbers.append(number(KEPT[-1]))
    assert (numbers[0] == numbers[1]) is (depth <= 2)


def started(held: Any) -> None:
    """Start the generators that this function holds."""
    seed_held(sys._getframe(), 3)
