"""One direction alone: what a pair of neighbours costs where the record is in the first data set, or in the second."""

from functools import reduce
from typing import Literal, TypeAlias, get_args

from dpaudit.accounting.accountant import narrowest
from dpaudit.accounting.fold import fold
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.checks import one_of, probability_below_one
from dpaudit.engines import BY_EFFORT
from dpaudit.errors import UnsupportedError
from dpaudit.model.bracket import Bracket, Effort
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import (
    AllocatedLoss,
    AverageLoss,
    ChoiceLoss,
    Composition,
    SampledGaussianLoss,
    SampledLoss,
    SimpleLoss,
)

Direction: TypeAlias = Literal["remove", "add"]
"""Which data set is the first one: that with the record (it is removed), or that without it (it is added)."""


def epsilon_one_way(
    declaration: Declaration,
    direction: Direction,
    *,
    neighbours: Neighbours,
    delta: float,
    effort: Effort = "default",
) -> Bracket:
    """Return a bracket on the smallest epsilon of one direction: P(E) <= e^epsilon Q(E) + delta for every event E.

    P is the law of the outputs on the first data set, Q that on the second one. A claim of differential privacy needs
    both directions; one alone is what a bound on false positives or on false negatives rests on.
    Guarantee: as for `bracket_epsilon`, for this order of the neighbours alone.

    Raises:
        UnsupportedError: neighbours without a direction ("replace_one"), or a loss that differs between its two orders
            and does not say which of them is which.
        ValueError: delta outside [0, 1), or an unknown direction.

    >>> from dpaudit import Release, Subsample
    >>> from mechanisms import Gaussian
    >>> noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
    >>> step = Subsample(part=Release(label="sum", mechanism=noise), rate=0.1)
    >>> way = {d: epsilon_one_way(step, d, neighbours="add_remove", delta=1e-5) for d in ("remove", "add")}
    >>> way["add"].upper < way["remove"].lower
    True
    """
    one_of("direction", direction, get_args(Direction))
    target = probability_below_one("delta", delta)
    if neighbours == "replace_one":
        raise UnsupportedError(
            "One direction needs neighbours='add_remove' or 'zero_out': a record that is replaced is in both data sets."
        )
    form = fold(declaration, neighbours)

    def largest(alternatives: Alternatives) -> Bracket:
        ways = (_directed(held, direction) for held in alternatives)
        answers = (
            narrowest(way, BY_EFFORT[effort], lambda engine, composition: engine.epsilon(composition, target))
            for way in ways
        )
        return reduce(Bracket.largest, answers)

    upper = largest(form.upper)
    lower = upper if form.lower == form.upper else largest(form.lower)
    names = tuple(dict.fromkeys(upper.engines + lower.engines))
    return Bracket(lower=min(lower.lower, upper.upper), upper=upper.upper, engines=names)


def _directed(composition: Composition, direction: Direction) -> Composition:
    """Return the losses of one direction; folding writes them with the record in the first data set."""
    for loss, _ in composition.parts:
        if not _says_which(loss):
            raise UnsupportedError(
                f"A {type(loss).__name__} differs between its two orders and does not say which of them holds the "
                "record. Ask for both directions."
            )
    return composition if direction == "remove" else composition.reversed()


def _says_which(loss: SimpleLoss) -> bool:
    """Return whether a loss is the same in both orders, or holds the record in its first one."""
    match loss:
        case SampledGaussianLoss():
            return True
        case SampledLoss(inside=inside) | AllocatedLoss(inside=inside):
            return all(part == part.reversed() for part, _ in inside)
        case AverageLoss(options=weighted):
            return all(_says_which(option) for _, option in weighted)
        case ChoiceLoss(options=options):
            return all(map(_says_which, options))
        case _:
            return loss == loss.reversed()
