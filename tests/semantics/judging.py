"""The ends of the accountant and of the checker beside the game, in both directions of a claim."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import dpaudit as dp
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.claim import Neighbours
from dpaudit.model.codec import encode
from dpaudit.model.condition import conditions_of
from dpaudit.model.declaration import children, walk
from dpaudit.model.mechanism import is_plugged_in
from dpaudit.semantics import MOVE_OF, REVERSE, Table, UndefinedInstanceError, pairs, value
from dpaudit.verifier.curve import Worst
from dpaudit.verifier.refusals import Rejection, Unfollowed
from tests.checker.proofs.folds import fold as checked_fold
from tests.semantics.certified import STATEMENTS, stated_for

THREE = Fraction(1), Fraction(3, 2), Fraction(3)
TEN = *THREE, *map(Fraction, ("101/100", "11/10", "5/4", "2", "5", "20", "1000"))
FEW, MANY = 12, 64
"""Queries that are tried along one run of a game, in every run of the tests and in long ones."""

_ROUNDING = 1 - 1e-12  # of ln x to a float, by which the accountant reads x


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One system under one relation: the name of its refusal, or ends and game at each x.

    `upper` and `lower` are the accountant's; `checked` is the checker's upper end. `undefined` says that no data sets
    fit the numbers of the tree, so that there is nothing to compare.
    """

    refused: str = ""
    undefined: bool = False
    upper: tuple[float, ...] = ()
    lower: tuple[float, ...] = ()
    checked: tuple[float, ...] = ()
    game: tuple[float, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether an upper end is below what an adversary reaches."""
        ends = [*zip(self.upper, self.game, strict=True), *zip(self.checked, self.game, strict=False)]
        return any(upper < game * _ROUNDING for upper, game in ends)

    @property
    def too_high(self) -> bool:
        """Whether a lower end is above what any adversary reaches."""
        return any(low > game * (1 + 1e-9) for low, game in zip(self.lower, self.game, strict=True))

    @property
    def equal(self) -> int:
        """The number of x at which the upper end is reached."""
        return sum(upper <= game * (1 + 1e-9) for upper, game in zip(self.upper, self.game, strict=True))


def judged(
    tree: dp.Declaration,
    tables: Mapping[str, Table],
    relation: Neighbours,
    statement: str,
    xs: tuple[Fraction, ...],
    rng: np.random.Generator,
    most_queries: int = MANY,
) -> Judged:
    """Return what accountant and checker say of a tree under a relation, beside the game.

    Where the accountant assumes that a zeroed record counts as an absent one, so does the game. The lower end counts
    one pair that moves all releases as known, since the adversary may pick it.
    """
    read, played = STATEMENTS[statement]
    try:
        declared = stated_for(tree, tables, relation, read)
        form = dp.fold(declared, relation, _moved_together(declared))
        brackets = [dp.bracket_delta(form, _below_log(x)) for x in xs]
    except (DeclarationError, UnsupportedError) as error:
        return Judged(refused=str(error))
    if any(condition.kind == "zeroed_as_absent" for condition in conditions_of(declared, relation)):
        tables = {name: Table(held.laws, held.bounds | {"drop": 0}, held.reads_slots) for name, held in tables.items()}
    try:
        game = best(tree, dict.fromkeys(tables, played) if played else tables, relation, xs, rng, most_queries)
    except UndefinedInstanceError:
        return Judged(undefined=True)
    upper, lower = (tuple(getattr(bracket, side) for bracket in brackets) for side in ("upper", "lower"))
    return Judged(upper=upper, lower=lower, checked=_checked(declared, relation, xs), game=game)


def _moved_together(tree: dp.Declaration) -> tuple[dp.Condition, ...]:
    """Return the condition that one pair moves all releases of a tree, if there are any."""
    labels = dict.fromkeys(node.label for _, node in walk(tree) if isinstance(node, dp.Release))
    return (dp.Condition(kind="attained", about=tuple(labels), status="checked"),) if labels else ()


def _checked(tree: dp.Declaration, relation: Neighbours, xs: tuple[Fraction, ...]) -> tuple[float, ...]:
    """Return the checker's own upper ends; none where it derives no curve, as of plug-ins."""
    if any(is_plugged_in(node.mechanism) for _, node in walk(tree) if isinstance(node, dp.Release)):
        return ()
    try:
        with np.errstate(all="ignore"):
            curve = Worst(checked_fold(json.loads(json.dumps(encode(tree))), relation))
            return tuple(curve.delta(_below_log(x))[1] for x in xs)
    except (Rejection, Unfollowed):
        return ()


def _below_log(x: Fraction) -> float:
    """Return an epsilon of 0 or more that is not above ln x."""
    return max(0.0, math.nextafter(math.log(x), 0))


def best(
    tree: dp.Declaration,
    tables: Mapping[str, Table],
    relation: Neighbours,
    xs: tuple[Fraction, ...],
    rng: np.random.Generator,
    most_queries: int = MANY,
) -> tuple[float, ...]:
    """Return the largest game value at each x over the pairs of a relation, in both directions.

    Raises: UndefinedInstanceError: the tree says nothing of any pair.
    """
    found, most = [], most_records(tree)
    for move in dict.fromkeys((MOVE_OF[relation], REVERSE[MOVE_OF[relation]])):
        for pair in pairs(move):
            if max(map(len, pair)) > most:
                continue
            try:
                found.append([value(tree, tables, pair, x, most_queries=most_queries, rng=rng) for x in xs])
            except UndefinedInstanceError as error:
                undefined = error
    if not found:
        raise undefined
    return tuple(float(max(column)) for column in zip(*found, strict=True))


def most_records(tree: dp.Declaration) -> int:
    """Return how many records are played: the numbers of the tree, else two, or three below one node alone."""
    nodes = [node for _, node in walk(tree)]
    stated = [node.population or 1 for node in nodes if isinstance(node, dp.Subsample)]
    stated += [node.users for node in nodes if isinstance(node, dp.Shuffle)]
    leaves = sum(isinstance(node, dp.Release | dp.Stated) for node in nodes)
    return max([*stated, 3 if len(nodes) - leaves <= 1 else 2])


def releases(tree: dp.Declaration) -> int:
    """Return how many releases two records meet at most, where one follows another."""
    inside = [releases(child) for child in children(tree)]
    match tree:
        case dp.Release() | dp.Stated() | dp.Shuffle():
            return 1
        case dp.Repeat(times=times):
            return times * inside[0]
        case dp.Allocate(steps=steps, epochs=epochs):
            return steps * epochs * inside[0]
        case dp.Cells() | dp.Local():
            return 2 * inside[0]
        case _:
            return sum(inside)


def of_one_and_of_two(trees: Mapping[str, dp.Declaration]) -> Iterator[tuple[str, dp.Declaration]]:
    """Yield each tree, and the same for a person with up to two records."""
    for name, tree in trees.items():
        yield name, tree
        yield f"group 2: {name}", dp.Group(part=tree, size=2)
