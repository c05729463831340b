"""A release with a finite law for each answer, and a bound on the answer for each move."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from dpaudit.semantics.data import REVERSE, Move

Law: TypeAlias = tuple[Fraction, ...]
"""The probabilities of the outputs 0, 1, 2, ..."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Draws an output from the law of the answer, which is one of 0 .. len(laws) - 1.

    Parameters: `laws`, one for each answer, over the same outputs; `bounds`, how far a move changes the answer at most,
    where some bound is stated. A reverse move that is not named has the same bound; where both are named, each bounds
    how far the answer rises. `reads_slots` says that queries tell slots apart: then a bound for `replace` says nothing
    of `exchange`. Otherwise a query is a function of the values that the data set holds.
    `weights` are the laws as whole numbers out of `total`.
    Raises: ValueError: no law, laws of unequal length, a negative entry, a sum other than 1, an unknown move or a
        negative bound.

    >>> Table(laws("3/4 1/4", "1/4 3/4"), {"remove": 1}).weights[0]
    {0: 3, 1: 1}
    """

    laws: tuple[Law, ...]
    bounds: dict[Move, int]
    reads_slots: bool = False
    total: int = field(init=False)
    weights: tuple[dict[int, int], ...] = field(init=False)

    def __post_init__(self) -> None:
        if not self.laws or any(len(law) != len(self.laws[0]) or sum(law) != 1 or min(law) < 0 for law in self.laws):
            raise ValueError("Expected laws to be tables of equal length, each of probabilities that sum to 1.")
        for move, bound in self.bounds.items():
            if move not in REVERSE or bound < 0:
                raise ValueError(f"Expected bounds to be 0 or more, of moves in {[*REVERSE]}; got {move!r}: {bound!r}.")
        total = lcm(*(p.denominator for law in self.laws for p in law))
        weights = tuple({output: int(p * total) for output, p in enumerate(law) if p} for law in self.laws)
        object.__setattr__(self, "total", total)
        object.__setattr__(self, "weights", weights)

    @property
    def top(self) -> int:
        """The largest answer."""
        return len(self.laws) - 1


def laws(*written: str) -> tuple[Law, ...]:
    """Return laws from fractions or decimals in words.

    >>> laws("1/2 1/2", "1 0")[1]
    (Fraction(1, 1), Fraction(0, 1))
    """
    return tuple(tuple(map(Fraction, law.split())) for law in written)


def geometric(ratio: Fraction, answers: int) -> tuple[Law, ...]:
    """Return the laws of two-sided geometric noise on the answers 0 .. answers - 1, cut to the same outputs.

    Each step away from the answer has `ratio` times the probability of the step before it. What lies beyond an end is
    counted there, so that the loss of neighbouring answers is that of the noise without ends.

    >>> geometric(Fraction(1, 2), 2)
    ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    """
    last = answers - 1
    inside, end = (1 - ratio) / (1 + ratio), 1 / (1 + ratio)
    return tuple(
        tuple((end if output in (0, last) else inside) * ratio ** abs(output - answer) for output in range(answers))
        for answer in range(answers)
    )
