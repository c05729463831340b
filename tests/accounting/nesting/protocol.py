"""Two data sets answered by one protocol with hidden states, and the best that any adaptive adversary makes of it.

A protocol is a list of moves. A `Push` replaces what is seen by something drawn from it (a sample, places, a part), a
`Pop` forgets it again, and an `Ask` shows an output whose law depends on what is seen. Where a move has several
options, the adversary picks one by the outputs so far. The value at x is the largest sum of
(P - x Q)_+ over all strategies: the weights of all hidden states under both data sets are carried along every history.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

View: TypeAlias = tuple[Any, ...]
"""What a part sees: units, or one view for each of several parts."""
Kernel: TypeAlias = Callable[[View], list[tuple[View, float]]]
Law: TypeAlias = Callable[[View], tuple[float, ...]]
Floats: TypeAlias = NDArray[np.float64]
Stack: TypeAlias = tuple[View, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """Something is drawn from what is seen, by one of several kernels."""

    options: tuple[Kernel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pop:
    """What was drawn last is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """An output is shown, by one of several laws."""

    options: tuple[Law, ...]


Move: TypeAlias = Push | Pop | Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One data set on its way: its hidden states, and their weights on each history of outputs."""

    stacks: tuple[Stack, ...]
    weights: Floats  # (histories, states)

    def moved(self, kernel: Kernel | None) -> "Side":
        """Return the states after a random move, or after one is forgotten."""
        stacks, matrix = _moved(kernel, self.stacks)
        return Side(stacks=stacks, weights=self.weights @ matrix)

    def shown(self, law: Law) -> "Side":
        """Return every history followed by every output."""
        longer = self.weights[:, None, :] * _shown(law, self.stacks)[None, :, :]
        return Side(stacks=self.stacks, weights=longer.reshape(-1, len(self.stacks)))


@lru_cache(maxsize=4096)
def _moved(kernel: Kernel | None, stacks: tuple[Stack, ...]) -> tuple[tuple[Stack, ...], Floats]:
    """Return the states after a move, and the chances of each."""
    places: dict[Stack, int] = {}
    rows = [
        [(places.setdefault(found, len(places)), chance) for found, chance in _drawn(kernel, stack)] for stack in stacks
    ]
    matrix = np.zeros((len(stacks), len(places)))
    for i, row in enumerate(rows):
        for place, chance in row:
            matrix[i, place] += chance
    return tuple(places), matrix


def _drawn(kernel: Kernel | None, stack: Stack) -> list[tuple[Stack, float]]:
    """Return what one stack becomes."""
    return [(stack[:-1], 1.0)] if kernel is None else [((*stack, found), chance) for found, chance in kernel(stack[-1])]


@lru_cache(maxsize=4096)
def _shown(law: Law, stacks: tuple[Stack, ...]) -> Floats:
    """Return the probability of each output in each state."""
    return np.array([_said(law, stack[-1]) for stack in stacks]).T


@lru_cache(maxsize=4096)
def _said(law: Law, view: View) -> tuple[float, ...]:
    """Return the law of the outputs of what is seen."""
    return law(view)


def value(moves: Sequence[Move], pair: tuple[View, View], x: float) -> float:
    """Return the largest sum of (P - x Q)_+ that an adversary attains of two data sets."""
    first, second = (Side(stacks=((view,),), weights=np.ones((1, 1))) for view in pair)
    return float(_value(moves, 0, (first, second), x)[0])


def _value(moves: Sequence[Move], at: int, sides: tuple[Side, Side], x: float) -> Floats:
    """Return the value of every history."""
    one, two = sides
    if at == len(moves):
        return np.asarray(np.maximum(0.0, one.weights.sum(axis=1) - x * two.weights.sum(axis=1)), np.float64)
    move = moves[at]
    match move:
        case Pop():
            return _value(moves, at + 1, (one.moved(None), two.moved(None)), x)
        case Push(options=kernels):
            found = [_value(moves, at + 1, (one.moved(k), two.moved(k)), x) for k in kernels]
        case Ask(options=laws):
            longer = [_value(moves, at + 1, (one.shown(law), two.shown(law)), x) for law in laws]
            found = [held.reshape(len(one.weights), -1).sum(axis=1) for held in longer]
    return np.asarray(np.max(found, axis=0), np.float64)
