"""A release with finitely many outcomes, given by its two laws as a table."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from dpaudit.arguments import settled
from dpaudit.checks import FieldError, Positive, meant, settle
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import (
    DiscreteLoss,
    Loss,
    SampledLoss,
    StitchedLoss,
    ThreeLaws,
    larger_of,
    log_ratio,
    outer_losses,
    sampled_atoms,
    smaller_order,
)
from dpaudit.model.losses.report_laws import ReportLaws
from dpaudit.model.mechanism import Array

_MOST = 100_000


@settled
class Finite:
    """Reports one of finitely many outcomes; `first` and `second` are their probabilities for the two answers 0 and 1.

    Each law is probabilities that sum to 1 as decimals, or whole numbers that count equally likely draws (whose sum
    divides them). (1, 0) against (0, 1) is a release without any noise, with the obvious loss: infinity. `dilution` is
    the scale of noise: with m the mean of both laws, an outcome is drawn from m + (law - m) / dilution.
    Shape: answers 0 and 1 in, indices of outcomes out.
    Guarantee: the two laws are those of the worst neighbours, in either order, which may be another one in each query.
    The loss is exact but for rounding, and the largest one is the decimal of its nearest float.
    In a shuffle each user holds one of the two answers, and there are no others: the condition `two_values`.
    Edge cases: an outcome of one law alone has an infinite loss. A dilution below 1 makes the laws sharper, as long as
    no probability is negative.
    Raises: ValueError: tables of unequal length, a negative entry, a law that does not sum to 1, or such a dilution.

    >>> Finite(first=(0.75, 0.25), second=(0.25, 0.75), neighbours="replace_one").loss().atoms[-1]
    (1.0986122886681098, 0.75)
    """

    name: ClassVar[str] = "finite"

    first: tuple[float, ...]
    second: tuple[float, ...]
    neighbours: Neighbours
    dilution: Positive = 1.0

    def __post_init__(self) -> None:
        settle(self)
        for name in ("first", "second"):
            object.__setattr__(self, name, _checked(name, getattr(self, name)))
        if len(self.first) != len(self.second):
            raise FieldError("second", f"Expected second to have {len(self.first)} entries, one for each of first's.")
        if min(min(law) for law in self._laws()) < 0:
            raise FieldError("dilution", f"Expected dilution={self.dilution} to leave every probability positive or 0.")

    def loss(self) -> DiscreteLoss:
        """Return the loss of one release: exact, and the larger of both orders at every epsilon.

        Which answer belongs to which neighbour may differ between queries, and so between the releases of a run.
        """
        exact = self.attained_loss()
        if exact.symmetric:
            return exact
        rows = list(zip(*self._laws(), strict=True))
        alone = (sum((row[i] for row in rows if not row[1 - i]), start=Fraction(0)) for i in (0, 1))
        return replace(larger_of(tuple(row for row in rows if all(row)), *alone), pair=exact)

    def attained_loss(self) -> DiscreteLoss:
        """Return the exact loss of `first` against `second`."""
        rows = list(zip(*self._laws(), strict=True))
        return DiscreteLoss(
            atoms=tuple((log_ratio(p / q) if p >= q else -log_ratio(q / p), float(p)) for p, q in rows if p and q),
            infinite_mass=float(sum((p for p, q in rows if not q), start=Fraction(0))),
            reverse_infinite_mass=float(sum((q for p, q in rows if not p), start=Fraction(0))),
            symmetric=sorted(rows) == sorted((q, p) for p, q in rows),
        )

    def opposed(self, rate: float) -> tuple[Loss, Loss]:
        """Return the loss of a Poisson sample whose record is replaced, from above and as some pair attains it.

        There are no third answers: without the record the release has one of the two laws. Each sign of epsilon has its
        own worst case. Below stands a record that changes the answer of an empty sample, against one that does not, if
        there are such records; in which direction is not known, so that the smaller order of both laws counts.
        Source: Balle, Barthe and Gaboardi (2018), Theorem 1, and joint convexity.
        """
        either, attained = self.loss(), self._in_either_order()
        if rate == 1:
            return either, attained
        above = SampledLoss(inside=((either, 1),), rate=rate)
        either_way = StitchedLoss(positive=above, negative=above.reversed())
        return either_way, outer_losses(sampled_atoms(attained, rate), above=False)

    def _in_either_order(self) -> DiscreteLoss:
        """Return a loss that both orders of the laws dominate."""
        loss = self.attained_loss()
        return loss if loss.symmetric else smaller_order(loss)

    def three_laws(self, *, above: bool) -> ThreeLaws:
        """Return the laws where a record changes the answer of an empty sample and its opposite does not.

        From above the larger of both orders counts, from below the smaller one. No answer lies further away than the
        other one.
        """
        loss = self.loss() if above else self._in_either_order()
        losses, masses = np.array(loss.atoms).reshape(-1, 2).T
        missing = loss.reverse_infinite_mass
        return ThreeLaws(
            masses=np.append(masses * np.exp(-losses), [missing] * (missing > 0)),
            more=np.append(losses, [-np.inf] * (missing > 0)),
            less=np.zeros(len(losses) + (missing > 0)),
            alone=loss.infinite_mass,
            even=False,
        )

    def report_laws(self) -> ReportLaws:
        """Return the laws of one report, where each user holds one of the two answers."""
        first, second = (tuple(map(float, law)) for law in self._laws())
        return ReportLaws(values=(first, second), least=tuple(map(min, first, second)), complete=True)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return an outcome for each answer, in the same shape.

        Raises: ValueError: an answer that is neither 0 nor 1.
        """
        answers = _answers(value)
        ends = np.array([np.cumsum([float(p) for p in law]) for law in self._laws()])
        ends[:, -1] = 1.0
        return (rng.random(answers.shape)[..., None] >= ends[answers]).sum(axis=-1)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log probability of each outcome, minus infinity where it cannot be."""
        outcomes, answers = np.asarray(output), _answers(value)
        inside = (outcomes >= 0) & (outcomes < len(self.first)) & (outcomes == np.floor(outcomes))
        table = np.array([[float(p) for p in law] for law in self._laws()])
        probabilities = table[answers, np.where(inside, outcomes, 0).astype(np.int64)]
        with np.errstate(divide="ignore"):
            logs: Array = np.where(inside, np.log(probabilities), -np.inf)
        return logs

    def scaled(self, factor: float) -> Self:
        """Return the same table with `factor` times the dilution.

        Raises: ValueError: a factor so small that a probability would be negative.
        """
        return replace(self, dilution=self.dilution * factor)

    def _laws(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """Return both diluted laws, exactly."""
        return _diluted(self.first, self.second, self.dilution)

    def worst_pair(self) -> tuple[int, int]:
        """Return the two answers."""
        return 0, 1


def _checked(name: str, law: object) -> tuple[float, ...]:
    """Return a law as floats, or say what is wrong with it."""
    entries = law if isinstance(law, tuple) else ()
    if not 1 <= len(entries) <= _MOST or not all(isinstance(e, int | float) and 0 <= e < math.inf for e in entries):
        raise FieldError(name, f"Expected {name}={law!r:.60} to be a tuple of 1 .. {_MOST} numbers, 0 or positive.")
    numbers = tuple(float(entry) for entry in entries)
    total = sum(map(meant, numbers), start=Fraction(0))
    if total != 1 and (not total or any(number != round(number) for number in numbers)):
        raise FieldError(name, f"Expected {name} to sum to 1, or to be whole counts; it sums to {float(total)!r}.")
    return numbers


def _law(entries: tuple[float, ...]) -> tuple[Fraction, ...]:
    """Return the exact probabilities."""
    numbers = tuple(map(meant, entries))
    total = sum(numbers, start=Fraction(0))
    return tuple(number / total for number in numbers)


@lru_cache(maxsize=64)
def _diluted(
    first: tuple[float, ...], second: tuple[float, ...], dilution: float
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return both laws, drawn towards their mean."""
    share = (1 - 1 / meant(dilution)) / 2
    rows = [(p + (q - p) * share, q + (p - q) * share) for p, q in zip(_law(first), _law(second), strict=True)]
    return tuple(p for p, _ in rows), tuple(q for _, q in rows)


def _answers(value: Array) -> Array:
    """Return answers as indices of a law."""
    answers = np.asarray(value)
    if not np.isin(answers, (0, 1)).all():
        raise ValueError("Expected answers to be 0 or 1, which law an outcome is drawn from.")
    return answers.astype(np.int64)


EXAMPLES = (
    Finite(first=(0.1, 0.05, 0.85), second=(0.9, 0.06, 0.04), neighbours="replace_one", dilution=2.5),
    Finite(first=(9, 1, 0), second=(0, 1, 9), neighbours="add_remove", dilution=3.0),
)
"""Laws by decimals and by counts, diluted so that half the noise exists too."""
