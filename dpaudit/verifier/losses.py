"""The values of the checker: numbers read from JSON, privacy losses as plain tuples, and multisets of them.

("gaussian", mu)   ("laplace", shift)   ("range", width)   ("concentrated", rho)
("laplace", shift, "threshold"): the worst threshold of it
("discrete", ((loss, probability), ...), mass at infinity, mass at infinity of the reversed pair), and "sampled"
("mixture", noise, ((shift, weight), ...), ((shift, weight), ...)): two laws on a line, the first further to the right
("map", ((loss, times), ...), rate, order): all together on one sample
("allocated", ((loss, times), ...), steps, order): all together at one secret step, or at as many as stand behind it
("average", ((weight, loss), ...)): one of these, and it is seen which
("between", loss from above, loss from below), and perhaps ("beyond", ..), which bounds moments beyond all atoms
("halves", loss, loss): the curve of the first at epsilon 0 and above, that of the second below
("once", loss, loss): pairs attain each point of the first, where it is met once, and one pair attains the second
("choice", frozenset of losses): whichever of these is picked by what was seen before; its curve is their maximum
"""

import math
from bisect import bisect_left
from collections import Counter
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from typing import Any

import numpy as np

from dpaudit.verifier.numerics.rates import absent, sampled
from dpaudit.verifier.refusals import require

Loss = tuple[Any, ...]
Multiset = Counter[Loss]
SHIFTS = ("gaussian", "laplace")
_ON_LINE = ("mixture", "gaussian")
_ALTERNATIVES, _SURE = 400, 1 - 1e-16
_OFTEN = 10**150
_LISTED, _LISTED_OFTEN, _ALIKE = 2**13, 256, 1e-15  # outcomes and losses of a sum that is listed; alike, relative


def discrete(atoms: list[tuple[float, float]], infinite: float = 0.0, other: float = 0.0) -> Loss:
    """Return a discrete loss with one atom for each value, sorted, without empty ones."""
    merged_masses: dict[float, float] = {}
    for value, mass in atoms:
        merged_masses[value] = merged_masses.get(value, 0.0) + mass
    return ("discrete", tuple(sorted(atom for atom in merged_masses.items() if atom[1])), infinite, other)


def black_box(epsilon: float, delta: float = 0.0) -> Loss:
    """Return the loss that dominates every (epsilon, delta)-private release: randomised response that may fail."""
    if epsilon == math.inf:
        return discrete([], 1.0, 1.0)
    share = (1 - delta) / (1 + math.exp(-epsilon))
    return discrete([(epsilon, share), (-epsilon, share * math.exp(-epsilon))], delta, delta)


def halves(first: Loss, second: Loss) -> Loss:
    """Return the loss whose curve is that of the first at epsilon 0 and above, and that of the second below.

    Both curves have one value at 0. Of atoms, those above 0 are the first one's and those below the second one's.
    """
    if (first[0], second[0]) != ("discrete", "discrete"):
        return ("halves", first, second)
    atoms = [atom for atom in first[1] if atom[0] > 0] + [atom for atom in second[1] if atom[0] < 0]
    zero_mass = 1 - first[2] - math.fsum(mass for _, mass in atoms)
    return (*discrete([*atoms, (0.0, max(0.0, zero_mass))], first[2], second[3]), "sampled")


def half(loss: Loss) -> Loss:
    """Return one pair of a bounded range: two outcomes as likely to be swapped either way."""
    return black_box(loss[1] / 2)


def settled(a: Multiset) -> Multiset:
    """Return a multiset in which a loss that is met once is the first that it stands for, and any other the second."""
    return Counter({(loss[1 if a.total() == 1 else 2] if loss[0] == "once" else loss): n for loss, n in a.items()})


def one_pair(loss: Loss) -> Loss:
    """Return a single pair of a loss of which other questions have other pairs."""
    return half(loss) if loss[0] == "range" else loss[2] if loss[0] == "once" else loss


def perhaps(rate: float, shift: float) -> tuple[tuple[float, float], ...]:
    """Return the shifts of a release that a record enters with probability `rate`, and their weights."""
    return tuple(sorted((moved, weight) for moved, weight in ((0.0, absent(rate)), (shift, rate)) if weight))


def on_sample(noise: str, shift: float, rate: float) -> Loss:
    """Return the loss of one shift on a sample that holds the record with probability `rate`."""
    return ("mixture", noise, perhaps(rate, shift), ((0.0, 1.0),))


def drawn(loss: Loss) -> tuple[float, float] | None:
    """Return the rate and the shift of a Gaussian release on such a sample, in either order."""
    moved = (
        [(weight, abs(shift)) for side in loss[2:] for shift, weight in side if shift] if loss[:2] == _ON_LINE else []
    )
    return moved[0] if len(moved) == 1 and min(map(len, loss[2:])) == 1 else None


def apart(mixture: Loss) -> float:
    """Return how far the shifts of both laws lie apart at the most, at equal ranks."""
    (above, over), (below, under) = ((law, [*accumulate(weight for _, weight in law)]) for law in mixture[2:])
    places = [(bisect_left(over, u), bisect_left(under, u)) for u in (*over, *under)]
    return max(float(above[min(i, len(above) - 1)][0] - below[min(j, len(below) - 1)][0]) for i, j in places)


def times(a: Multiset, count: int) -> Multiset:
    """Return `count` copies of a multiset."""
    require(all(n * count <= _OFTEN for n in a.values()), "a release is met too often to be derived again")
    return Counter({loss: n * count for loss, n in a.items()})


def distinct(alternatives: list[Multiset]) -> list[Multiset]:
    """Return alternatives without repetition."""
    return list({frozenset(a.items()): a for a in alternatives}.values())


def joined(alternatives: list[Multiset]) -> Multiset:
    """Return one multiset that dominates every alternative, however it is picked: long ones first, Gaussian last.

    An alternative that another one dominates is removed first.
    """
    if told := [a for a in alternatives if shows_all(a)]:
        return told[0]
    maximal = undominated(alternatives)
    require(len(maximal) <= _ALTERNATIVES, "too many alternatives to be derived again")
    return reduce(_either, map(merged, maximal))


def undominated(alternatives: list[Multiset]) -> list[Multiset]:
    """Return alternatives without those that another one dominates."""
    maximal: list[Multiset] = []
    for a in sorted(alternatives, key=lambda a: ({loss[0] for loss in a} <= {"gaussian"}, -merged(a).total())):
        if not any(_dominates(merged(b), merged(a)) for b in maximal):
            maximal = [*(b for b in maximal if not _dominates(merged(a), merged(b))), a]
    return maximal


def _either(a: Multiset, b: Multiset) -> Multiset:
    """Return what dominates both: the one above the other, paired copies of two losses, or all losses together.

    A Gaussian loss is cut into as many as the copies that it is paired with.
    """
    if _dominates(a, b):
        return a
    if len(a) != 1 or len(b) != 1:
        return a | b
    ((x, n),), ((y, m),) = a.items(), b.items()
    y, m = (("gaussian", y[1] / math.sqrt(n)), n) if y[0] == "gaussian" else (y, m)
    larger_of = [larger for larger, other in ((x, y), (y, x)) if _exceeds(larger, other)]
    both, k = larger_of[0] if larger_of else ("choice", frozenset((*options(x), *options(y)))), min(n, m)
    return Counter({both: k}) + Counter({x: n - k}) + Counter({y: m - k})


def _dominates(a: Multiset, b: Multiset) -> bool:
    """Return whether each loss of `b` has a loss of `a` of its own that exceeds it.

    Of each family the largest takes first, and the least that is enough. Threshold losses come last.
    """
    left, lacking = Counter(a), Counter(b)
    for loss in sorted(b, key=lambda loss: (loss[2:] == ("threshold",), -_ranked(loss)[1])):
        for cover in sorted((cover for cover in left if _exceeds(cover, loss)), key=lambda cover: _ranked(cover)[1]):
            taken = min(lacking[loss], left[cover])
            left[cover] -= taken
            lacking[loss] -= taken
    return not +lacking


def _exceeds(loss: Loss, other: Loss) -> bool:
    """Return whether a loss is of the family of another one, and at least as large.

    Laplace noise exceeds the worst threshold of it as well.
    """
    (family, size), (same, least) = map(_ranked, (loss, other))
    wider = (family, same) == (("laplace",), ("laplace", "threshold"))
    return (wider or family == same) and size >= least


def _ranked(loss: Loss) -> tuple[Any, float]:
    """Return the family of a loss and its size there: a shift, a width, or the epsilon of a black box."""
    if loss[0] in (*SHIFTS, "range", "concentrated"):
        return (loss[0], *loss[2:]), loss[1]
    epsilon = max((value for value, _ in loss[1]), default=0.0) if loss[0] == "discrete" else 0.0
    return (loss[2:], epsilon) if epsilon and loss == black_box(epsilon, loss[2]) else (loss, 0.0)


def options(loss: Loss) -> tuple[Loss, ...]:
    """Return what a choice is between; any other loss is itself."""
    return tuple(loss[1]) if loss[0] == "choice" else (loss,)


def merged(a: Multiset) -> Multiset:
    """Return a multiset with its Gaussian losses as one."""
    mu = math.sqrt(math.fsum(n * loss[1] ** 2 for loss, n in a.items() if loss[0] == "gaussian"))
    return Counter({loss: n for loss, n in a.items() if loss[0] != "gaussian"} | ({("gaussian", mu): 1} if mu else {}))


def reverse(loss: Loss) -> Loss:
    """Return the loss read from the other neighbour."""
    match loss[0]:
        case "choice":
            return ("choice", frozenset(map(reverse, loss[1])))
        case "map" | "allocated":
            return (*loss[:3], "add" if loss[3] == "remove" else "remove", *loss[4:])
        case "mixture":
            return ("mixture", loss[1], *(tuple(sorted((0.0 - s, w) for s, w in side)) for side in loss[:1:-1]))
        case "average":
            return ("average", tuple((weight, reverse(option)) for weight, option in loss[1]))
        case "between" | "once":
            return (loss[0], *map(reverse, loss[1:]))
        case "halves":
            return ("halves", *map(reverse, loss[:0:-1]))
        case "discrete":
            _, atoms, infinite, other, *sampled = loss
            back = (*discrete([(-v, p * math.exp(-v)) for v, p in atoms], other, infinite), *sampled)
            pairs = zip(atoms, back[1], strict=False)
            even = len(atoms) == len(back[1]) and all(
                v == w and math.isclose(p, q, rel_tol=1e-12) for (v, p), (w, q) in pairs
            )
            return loss if even and infinite == other else back
        case _:
            return loss


def reversed_all(a: Multiset) -> Multiset:
    """Return the multiset of reversed losses."""
    return Counter({reverse(loss): n for loss, n in a.items()})


def alone(part: Multiset) -> bool:
    """Return whether a part is one finite loss."""
    return part.total() == 1 and next(iter(part))[0] == "discrete"


def harmful(a: Multiset) -> Multiset:
    """Return a multiset without releases that show nothing."""
    return Counter({loss: n for loss, n in a.items() if supremum(loss) > 0 or leak(loss)})


def supremum(loss: Loss) -> float:
    """Return the largest finite loss."""
    match loss[0]:
        case "discrete":
            return max((v for v, _ in loss[1]), default=0.0)
        case "choice" | "average":
            return max(supremum(part) for part, _ in _inside(loss))
        case "between" | "halves" | "once":
            return supremum(loss[1])
        case "mixture":
            (first, first_weight), (second, second_weight) = loss[2][-1], loss[3][-1]
            if loss[1] == "gaussian":
                return math.inf if first > second else math.log(float(first_weight)) - math.log(second_weight)
            ends = [side[-1][0] * (side[-1][0] > 1) for side in loss[2:]]
            sums = [
                math.fsum(w * math.expm1(s - end) for s, w in side) for side, end in zip(loss[2:], ends, strict=True)
            ]
            return float((ends[0] - ends[1] + math.log1p(sums[0]) - math.log1p(sums[1])) * (1 + 1e-13))
        case "map" | "allocated":
            total = math.fsum(n * supremum(part) for part, n in _inside(loss)) * math.prod(loss[4:])
            if loss[0] == "map" and loss[3] == "add":
                lowest = -math.inf if any(leak(part) for part, _ in _inside(loss)) else -total
                return -float(sampled(np.array(lowest), loss[2]))
            return total if loss[0] == "allocated" else float(sampled(np.array(max(0.0, total)), loss[2]))
        case _:
            return math.inf if loss[0] in ("gaussian", "concentrated") and loss[1] else float(loss[1])


def reached(loss: Loss) -> bool:
    """Return whether the largest loss is met: that of noise with a known law, or of a sample that holds the record."""
    plain = ("laplace", "discrete")
    if loss[0] == "map":
        return loss[3] == "remove" and not leak(loss) and all(part[0] in plain for part, _ in loss[1])
    return loss[0] in plain or loss[:2] == ("mixture", "laplace")


def _inside(loss: Loss) -> list[tuple[Loss, int]]:
    """Return the losses that one is made of, in its own order, and how often each is met."""
    if loss[0] in ("map", "allocated"):
        return [(part if loss[3] == "remove" else reverse(part), n) for part, n in loss[1]]
    return [(part, 1) for part in loss[1]] if loss[0] == "choice" else [(part, 1) for _, part in loss[1]]


def listed(losses: dict[Loss, int]) -> Loss:
    """Return the sum of finite losses as one, outcome by outcome, of few outcomes; a loss that is met once as it is.

    Sums that rounding alone can tell apart are one. Nothing is returned where outcomes are many.
    """
    if sum(losses.values()) < 2:
        return next(iter(losses), ())
    if any(loss[0] != "discrete" for loss in losses) or sum(losses.values()) > _LISTED_OFTEN:
        return ()
    furthest = sum(n * max(abs(value) for value, _ in loss[1]) for loss, n in losses.items()) or 1.0
    at: Any = np.zeros(1)
    masses: Any = np.ones(1)
    for values, weights in (np.array(loss[1]).T for loss, n in losses.items() for _ in range(n)):
        if len(at) * len(values) > _LISTED:
            return ()
        sums = np.add.outer(at, values).ravel()
        _, first, where = np.unique(np.rint(sums / (_ALIKE * furthest)), return_index=True, return_inverse=True)
        at, masses = sums[first], np.bincount(where.ravel(), np.outer(masses, weights).ravel())
    logs = (sum(n * math.log1p(-loss[i]) if loss[i] < 1 else -math.inf for loss, n in losses.items()) for i in (2, 3))
    infinite, other = (-math.expm1(row) for row in logs)
    return discrete(list(zip(at.tolist(), masses.tolist(), strict=True)), infinite, other)


def leak(loss: Loss) -> float:
    """Return the probability of an output that the other neighbour cannot produce."""
    match loss[0]:
        case "discrete":
            return float(loss[2])
        case "choice":
            return max(map(leak, loss[1]))
        case "average":
            return math.fsum(weight * leak(option) for weight, option in loss[1])
        case "between" | "halves" | "once":
            return leak(loss[1])
        case "map" | "allocated":
            logs = math.fsum(n * math.log1p(-min(leak(part), _SURE)) for part, n in _inside(loss))
            if loss[3] != "remove":
                return 0.0 if loss[0] == "map" else float((-math.expm1(logs)) ** loss[2])
            return float(-loss[2] * math.expm1(logs) if loss[0] == "map" else -math.expm1(logs * math.prod(loss[4:])))
        case _:
            return 0.0


def lost(alternatives: list[Multiset]) -> float:
    """Return the largest mass that one loss puts where the other neighbour has none."""
    ways = [way for alternative in alternatives for way in (alternative, reversed_all(alternative))]
    return max((float(loss[2]) for way in ways for loss in way if loss[0] == "discrete"), default=0.0)


def attained(loss: Loss) -> Loss:
    """Return a loss as it is known from below, where one side stands above it and another one below."""
    match loss[0]:
        case "between":
            return attained(loss[2])
        case "choice":
            return ("choice", frozenset(map(attained, loss[1])))
        case "average":
            return ("average", tuple((weight, attained(option)) for weight, option in loss[1]))
        case "map" | "allocated":
            return (loss[0], tuple((attained(part), n) for part, n in loss[1]), *loss[2:])
        case "halves":
            return ("halves", attained(loss[1]), attained(loss[2]))
        case _:
            return loss


def shows_all(a: Multiset) -> bool:
    """Return whether some loss hides nothing: delta is 1 at every epsilon, whatever else is released."""
    return any(leak(loss) == 1 for loss in a)


def most(a: Multiset) -> tuple[float, float]:
    """Return the largest loss of a whole multiset, and its mass at infinity."""
    logs = math.fsum(n * math.log1p(-min(leak(loss), _SURE)) for loss, n in a.items())
    return _total([(supremum(loss), n) for loss, n in a.items()]), -math.expm1(logs)


def _total(pairs: list[tuple[float, int]]) -> float:
    """Return the float that stands for the sum of decimals, each taken so often; of very many in floating point."""
    if len(pairs) > _ALTERNATIVES or any(value == math.inf for value, _ in pairs):
        return math.fsum(value * n for value, n in pairs)
    exact = sum((Fraction(repr(float(value))) * n for value, n in pairs), start=Fraction(0))
    return float(exact) if exact < 10**300 else math.inf


def group_delta(epsilon: float, delta: float, size: int) -> float:
    """Return what a delta grows to for a group: a geometric sum."""
    if size == 1 or not delta or epsilon <= 0:
        return min(1.0, size * delta)
    growth = (size - 1) * epsilon + math.log(-math.expm1(-size * epsilon)) - math.log(-math.expm1(-epsilon))
    return min(1.0, delta * math.exp(min(growth, 700.0)))
