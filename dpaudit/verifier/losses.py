"""Privacy losses as plain tuples, and multisets of them.

("gaussian", mu)   ("laplace", shift)   ("approximate", epsilon, delta)   ("sampled", mu, rate, order)
("discrete", ((loss, probability), ...), mass at infinity, mass at infinity of the reversed pair)
"""

import math
from typing import Any

from dpaudit.verifier.reading import require

Loss = tuple[Any, ...]
Multiset = dict[Loss, int]


def plus(a: Multiset, b: Multiset) -> Multiset:
    """Return the sum of two multisets."""
    return {loss: a.get(loss, 0) + b.get(loss, 0) for loss in a | b}


def times(a: Multiset, count: int) -> Multiset:
    """Return `count` copies of a multiset."""
    return {loss: n * count for loss, n in a.items()}


def distinct(alternatives: list[Multiset]) -> list[Multiset]:
    """Return alternatives without repetition."""
    return [a for i, a in enumerate(alternatives) if a not in alternatives[:i]]


def joined(alternatives: list[Multiset]) -> Multiset:
    """Return one multiset that dominates every alternative, however it is picked."""
    found = distinct(alternatives)
    kinds = {loss[0] for a in found for loss in a}
    if kinds == {"gaussian"}:
        return max(found, key=lambda a: math.fsum(loss[1] ** 2 * n for loss, n in a.items()))
    if kinds == {"laplace"} and all(len(a) == 1 for a in found) and len({n for a in found for n in a.values()}) == 1:
        return max(found, key=lambda a: float(next(iter(a))[1]))
    whole: Multiset = {}
    for alternative in found:
        whole = {loss: max(whole.get(loss, 0), alternative.get(loss, 0)) for loss in whole | alternative}
    return whole


def reverse(loss: Loss) -> Loss:
    """Return the loss read from the other neighbour."""
    if loss[0] == "sampled":
        return (*loss[:3], "add" if loss[3] == "remove" else "remove")
    if loss[0] != "discrete":
        return loss
    _, atoms, infinite, other = loss
    return ("discrete", tuple(sorted((-v, p * math.exp(-v)) for v, p in atoms)), other, infinite)


def reversed_all(a: Multiset) -> Multiset:
    """Return the multiset of reversed losses."""
    return {reverse(loss): n for loss, n in a.items()}


def supremum(loss: Loss) -> float:
    """Return the largest finite loss."""
    if loss[0] == "gaussian" or (loss[0] == "sampled" and loss[3] == "remove"):
        return math.inf if loss[1] > 0 else 0.0
    if loss[0] == "sampled":
        return -math.log1p(-loss[2])
    return max((v for v, _ in loss[1]), default=0.0) if loss[0] == "discrete" else float(loss[1])


def infinite_mass(loss: Loss) -> float:
    """Return the probability of an output that the other neighbour cannot produce."""
    return float(loss[2]) if loss[0] in ("approximate", "discrete") else 0.0


def moved(loss: Loss, size: int) -> Loss:
    """Return a loss that dominates `size` records changed together."""
    if loss[0] in ("gaussian", "laplace"):
        return (loss[0], loss[1] * size)
    if size == 1:
        return loss
    require(loss[0] != "sampled", "a group over a sample cannot be derived again by this checker")
    epsilon = max(0.0, supremum(loss), supremum(reverse(loss)))
    delta = max(infinite_mass(loss), infinite_mass(reverse(loss)))
    growth = math.expm1(size * epsilon) / math.expm1(epsilon) if epsilon else size
    return ("approximate", size * epsilon, min(1.0, delta * growth))
