"""Brackets of nested nodes against every data set, every hidden state and every adaptive adversary, counted out."""

from dataclasses import replace

import numpy as np
import pytest

from dpaudit import bracket_delta, fold
from dpaudit.engines import QUICK
from dpaudit.errors import UnsupportedError
from dpaudit.model.bracket import Bracket
from tests.accounting.nesting.drawn_trees import draw

ROUNDING = 1e-9, 1e-13
"""What sums over outputs may be wrong by, relatively and besides."""


def judged(seed: int, *, broken: bool = False) -> tuple[float, Bracket] | None:
    """Return the truth and the bracket of one system, None where a node says that it is not covered.

    `broken` releases everything twice and declares it once.
    """
    rng = np.random.default_rng([31, seed])
    system = draw(rng)
    epsilon = float(np.round(rng.choice([0.0, 1.0]) * rng.uniform(0.02, 2.0), 3))
    try:
        form = fold(system.declaration, system.neighbours)
    except UnsupportedError:
        return None
    run = replace(system, node=replace(system.node, moves=system.node.moves * 2)) if broken else system
    return run.deltas((epsilon,))[0], bracket_delta(form, epsilon, QUICK)


def below_truth(truth: float, bracket: Bracket) -> bool:
    """Return whether an upper end is surely below the truth."""
    return bracket.upper < truth * (1 - ROUNDING[0]) - ROUNDING[1]


@pytest.mark.parametrize("number", [60, pytest.param(2500, marks=pytest.mark.slow)], ids=["some", "many"])
def test_no_bracket_of_nested_nodes_is_wrong(number: int) -> None:
    """Samples, secret steps, shuffles, cells, keys, groups and messages inside each other: each end is on its side."""
    found = [(seed, judged(seed)) for seed in range(number)]
    known = [(seed, *held) for seed, held in found if held is not None]
    assert len(known) > 0.75 * number
    for seed, truth, bracket in known:
        assert not below_truth(truth, bracket), seed
        assert bracket.lower <= truth * (1 + ROUNDING[0]) + ROUNDING[1], seed


def test_a_second_release_of_everything_is_caught() -> None:
    """The broken twin: what is declared once and released twice lies above its upper end."""
    found = [judged(seed, broken=True) for seed in range(24)]
    assert sum(held is not None and below_truth(*held) for held in found) >= 6
