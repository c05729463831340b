"""What the checker computes with: numbers read from JSON, privacy losses as plain tuples, and multisets of them.

("gaussian", mu)   ("laplace", shift)   ("range", width)   ("sampled", mu, rate, order)
("discrete", ((loss, probability), ...), mass at infinity, mass at infinity of the reversed pair)
"""

import math
from collections import Counter
from typing import Any

Table = dict[str, Any]
Loss = tuple[Any, ...]
Multiset = Counter[Loss]


class Rejection(Exception):  # noqa: N818  # its text is a complaint, and it is no defect of ours
    """A complaint that makes further checks pointless."""


def require(holds: object, complaint: str) -> None:
    """Stop with `complaint` unless it holds."""
    if not holds:
        raise Rejection(complaint)


def number(value: Any, name: str) -> float:
    """Return a JSON number, or infinity for its string."""
    if value == "inf":
        return math.inf
    require(isinstance(value, int | float) and not isinstance(value, bool), f"{name}={value!r} is no number")
    require(not math.isnan(value), f"{name} is NaN")
    return float(value)


def positive(fields: Table, key: str) -> float:
    """Return a positive finite field."""
    value = number(fields[key], key)
    require(0 < value < math.inf, f"{key}={value} is not positive and finite")
    return value


def whole(fields: Table, key: str) -> int:
    """Return a positive whole field."""
    require(type(fields[key]) is int and fields[key] >= 1, f"{key}={fields[key]!r} is no count")
    return int(fields[key])


def discrete(atoms: list[tuple[float, float]], infinite: float = 0.0, other: float = 0.0) -> Loss:
    """Return a discrete loss with sorted atoms."""
    return ("discrete", tuple(sorted(atoms)), infinite, other)


def black_box(epsilon: float, delta: float = 0.0) -> Loss:
    """Return the loss that dominates every (epsilon, delta)-private release: randomised response that may fail."""
    share = (1 - delta) / (1 + math.exp(-epsilon))
    return discrete([(epsilon, share), (-epsilon, share * math.exp(-epsilon))], delta, delta)


def times(a: Multiset, count: int) -> Multiset:
    """Return `count` copies of a multiset."""
    return Counter({loss: n * count for loss, n in a.items()})


def distinct(alternatives: list[Multiset]) -> list[Multiset]:
    """Return alternatives without repetition."""
    return [a for i, a in enumerate(alternatives) if a not in alternatives[:i]]


def joined(alternatives: list[Multiset]) -> Multiset:
    """Return one multiset that dominates every alternative, however it is picked."""
    kinds = {loss[0] for a in alternatives for loss in a}
    alike = all(len(a) == 1 for a in alternatives) and len({n for a in alternatives for n in a.values()}) == 1
    if kinds == {"gaussian"} or (kinds == {"laplace"} and alike):
        return max(alternatives, key=lambda a: math.fsum(loss[1] ** 2 * n for loss, n in a.items()))
    whole: Multiset = Counter()
    for alternative in alternatives:
        whole |= alternative
    return whole


def reverse(loss: Loss) -> Loss:
    """Return the loss read from the other neighbour."""
    if loss[0] == "sampled":
        return (*loss[:3], "add" if loss[3] == "remove" else "remove")
    if loss[0] != "discrete":
        return loss
    _, atoms, infinite, other = loss
    back = discrete([(-v, p * math.exp(-v)) for v, p in atoms], other, infinite)
    even = all(v == w and math.isclose(p, q, rel_tol=1e-12) for (v, p), (w, q) in zip(atoms, back[1], strict=True))
    return loss if even and infinite == other else back


def reversed_all(a: Multiset) -> Multiset:
    """Return the multiset of reversed losses."""
    return Counter({reverse(loss): n for loss, n in a.items()})


def supremum(loss: Loss) -> float:
    """Return the largest finite loss."""
    if loss[0] == "discrete":
        return max((v for v, _ in loss[1]), default=0.0)
    if loss[0] == "sampled" and loss[3] == "add":
        return -math.log1p(-loss[2])
    return float(loss[1]) if loss[0] in ("laplace", "range") or not loss[1] else math.inf


def infinite_mass(loss: Loss) -> float:
    """Return the probability of an output that the other neighbour cannot produce."""
    return float(loss[2]) if loss[0] == "discrete" else 0.0


def most(a: Multiset) -> tuple[float, float]:
    """Return the largest loss of a whole multiset, and its mass at infinity."""
    kept = math.fsum(n * math.log1p(-min(infinite_mass(loss), 1 - 1e-16)) for loss, n in a.items())
    return math.fsum(supremum(loss) * n for loss, n in a.items()), -math.expm1(kept)


def group_delta(epsilon: float, delta: float, size: int) -> float:
    """Return what a delta grows to for a group: a geometric sum."""
    growth = math.expm1(min(700.0, size * epsilon)) / math.expm1(min(700.0, epsilon)) if epsilon else size
    return min(1.0, delta * growth)
