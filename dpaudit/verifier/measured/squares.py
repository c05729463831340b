"""Squares of Gaussian ratios and rho that are exact: what a float of a loss stands for, read from the declaration."""

import math
from fractions import Fraction
from itertools import product

from dpaudit.verifier.losses import Loss, Multiset, apart
from dpaudit.verifier.mechanisms import with_leaves
from dpaudit.verifier.proof.derivation import Row
from dpaudit.verifier.refusals import Table, exact_ratio
from dpaudit.verifier.shape import walk

Squares = dict[tuple[str, float], Fraction]
"""mu^2, and twice rho, by the kind of a loss and its float."""


def squares_of(rows: list[Row], tree: Table) -> Squares:
    """Return the squares of all releases and budgets, for each number of records that a row is about."""
    squares: Squares = {}
    for records, node, times in product({row.records for row in rows}, walk(tree), (1, 2)):  # and twice as far apart
        mu, rho = _ratio(node) * times, Fraction(repr(float(node.get("rho", 0))))
        for kind, number, grown, square in (
            ("gaussian", mu, records, (mu * records) ** 2),
            ("concentrated", rho, records**2, 2 * rho * records**2),
        ):
            for name in (float(number * grown), float(number) * grown):
                squares[kind, name] = max(squares.get((kind, name), Fraction(0)), square)
    return squares


def _ratio(node: Table) -> Fraction:
    """Return the ratio of Gaussian noise, or a stated mu or a budget of it; 0 of anything else."""
    if node["node"] in ("stated", "filtered"):
        return Fraction(repr(float(node.get("mu", 0))))
    leaf = with_leaves(node["mechanism"])[-1] if "mechanism" in node else {"name": ""}
    if leaf["name"] == "noisy_plurality":
        return exact_ratio({"voters": 1} | leaf, "voters", "stddev")
    if leaf["name"] != "gaussian" or not leaf["l2_sensitivity"]:
        return Fraction(0)
    return exact_ratio(leaf, "l2_sensitivity", "stddev")


def beyond(measure: str, at: float, end: float, ways: list[Multiset], squares: Squares) -> list[Fraction | float]:
    """Return how far the exact square of each way lies above that of a stated end; not a number where none is known.

    In rho, in mu, or in the divergence of order `at`.
    """
    if measure not in ("rho", "mu", "renyi") or end == math.inf:
        return [math.nan] * len(ways)
    stated = Fraction(repr(end))
    square = {"rho": 2 * stated, "mu": stated**2, "renyi": 2 * stated / Fraction(repr(at or 1.0))}[measure]
    sums = [_sum(way, squares) for way in ways]
    return [math.nan if total is None else total - square for total in sums]


def _sum(losses: Multiset, squares: Squares) -> Fraction | None:
    """Return the sum of all squares, of Gaussian releases on samples as whole ones; None where one is not known."""
    named = [(_name(loss), n) for loss, n in losses.items()]
    if not squares.keys() >= {name for name, _ in named}:
        return None
    return sum((squares[name] * n for name, n in named), start=Fraction(0))


def _name(loss: Loss) -> tuple[str, float]:
    """Return the kind and the float of a loss."""
    mixed = loss[:2] == ("mixture", "gaussian")
    return ("gaussian", apart(loss)) if mixed else (loss[0], loss[1] if isinstance(loss[1], float) else -1.0)
