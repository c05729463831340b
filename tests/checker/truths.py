"""Numbers that a checker of certificates must find, from closed forms and published examples, and printed arguments.

They are small and quick: each tells apart a formula from the same with one operator changed.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

import dpaudit as dp
from mechanisms import Gaussian, Laplace, TreeAggregation
from tests.narrowing import present

Data = dict[str, Any]
Truth = tuple[Data, str, float, float]


def release(name: str, **fields: Any) -> Data:
    """A leaf of a declaration as it stands in JSON."""
    return {"node": "release", "label": "sum", "mechanism": {"name": name, **fields}}


def gaussian(mu: float) -> Data:
    """A Gaussian release that loses this mu."""
    return release("gaussian", stddev=1.0, l2_sensitivity=mu)


def laplace(shift: float) -> Data:
    """A Laplace release that loses this much."""
    return release("laplace", scale=1.0, l1_sensitivity=shift)


def sample(part: Data, rate: float, **fields: Any) -> Data:
    """A sampled part."""
    return {"node": "subsample", "part": part, "rate": rate, **fields}


def sequence(*parts: Data) -> Data:
    """Parts one after the other."""
    return {"node": "sequential", "parts": list(parts)}


def times(part: Data, count: int) -> Data:
    """A repeated part."""
    return {"node": "repeat", "part": part, "times": count}


def allocate(part: Data, steps: int, **fields: Any) -> Data:
    """A part at secret steps."""
    return {"node": "allocate", "part": part, "steps": steps, **fields}


def normal(z: float) -> float:
    """The probability of a normal output below z."""
    return math.erfc(-z / math.sqrt(2)) / 2


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Balle and Wang (2018), Theorem 5."""
    return normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)


def laplace_delta(shift: float, epsilon: float) -> float:
    """1 - e^((epsilon - shift) / 2) for epsilon up to the shift."""
    return -math.expm1((epsilon - shift) / 2)


def counted(atoms: dict[float, float], epsilon: float) -> float:
    """The delta of finitely many losses."""
    return math.fsum(-p * math.expm1(epsilon - loss) for loss, p in atoms.items() if loss > epsilon)


def enumerated(p: list[float], q: list[float], times: int, epsilon: float) -> float:
    """The larger delta of both orders of two finite laws, met several times, by all outcomes."""
    ways = list(product(range(len(p)), repeat=times))
    laws = [[math.prod(law[i] for i in way) for way in ways] for law in (p, q)]
    orders = (laws, laws[::-1])
    return max(math.fsum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(*o, strict=True)) for o in orders)


def half_line(over: list[tuple[float, float]], epsilon: float) -> float:
    """The delta of a mixture of normal laws (shift, weight) against a normal one: the best half line, by halving."""
    low, high = -40.0, 40.0
    for _ in range(200):
        z = (low + high) / 2
        loss = math.log(math.fsum(w * math.exp(s * z - s * s / 2) for s, w in over))
        low, high = (low, z) if loss > epsilon else (z, high)
    return math.fsum(w * normal(s - high) for s, w in over) - math.exp(epsilon) * normal(-high)


def binomial(trials: int, rate: float) -> list[float]:
    """The probabilities of a number of successes."""
    return [math.comb(trials, j) * rate**j * (1 - rate) ** (trials - j) for j in range(trials + 1)]


def truths() -> Iterator[Truth]:
    """Declarations with a relation, an epsilon and the delta that is there, on the upper side."""
    replaced, added = "replace_one", "add_remove"
    for mu, epsilon in ((1.0, 0.5), (0.3, 0.0), (2.5, 6.0), (0.05, 0.2)):
        yield gaussian(mu), replaced, epsilon, gaussian_delta(mu, epsilon)
        yield times(gaussian(mu / 2), 4), replaced, epsilon, gaussian_delta(mu, epsilon)
    for shift, epsilon in ((1.0, 0.2), (0.4, 0.0), (3.0, 2.9)):
        yield laplace(shift), replaced, epsilon, laplace_delta(shift, epsilon)
        yield {"node": "group", "part": laplace(shift / 2), "size": 2}, replaced, epsilon, laplace_delta(shift, epsilon)
    yield from _sampled(replaced, added)
    yield from _enumerated(replaced, added)
    yield from _drawn(replaced, added)
    yield from _finite(replaced)
    yield from _nodes(replaced, added)
    yield from _integers(replaced)
    yield from _schedules(replaced)
    yield from _ordered(replaced, added)
    yield from _beside_a_leak(replaced, added)
    yield from _leaking(replaced, added)


def _sampled(replaced: str, added: str) -> Iterator[Truth]:
    """Samples, secret steps and shuffled reports: quadratures with 10 digits, and the curve of one sampled shift."""
    fixed = {"scheme": "without_replacement"}
    yield sample(laplace(1.0), 0.1), added, 0.05, 0.0254013898
    yield sample(gaussian(0.5), 0.1), replaced, 0.1, 0.0085320897
    yield sample(gaussian(1.0), 0.1, **fixed), replaced, 0.1, 0.0184719307
    yield sample(gaussian(0.5), 0.1), added, 0.1, 0.1 * gaussian_delta(0.5, math.log1p(math.expm1(0.1) / 0.1))
    yield sample(laplace(0.8), 0.25), added, 0.1, 0.25 * laplace_delta(0.8, math.log1p(math.expm1(0.1) / 0.25))
    inside = 0.2 * gaussian_delta(1.0, math.log1p(math.expm1(0.3) / 0.2))
    yield sample(gaussian(1.0), 0.2, population=10, batch_size=2, **fixed), added, 0.3, inside
    yield times(sample(laplace(1.0), 1.0), 1), added, 0.2, laplace_delta(1.0, 0.2)
    cut = {"scheme": "truncated_poisson", "population": 20, "batch_bound": 25}
    yield sample(gaussian(1.0), 0.2, **cut), added, 0.3, inside
    yield times(sample(gaussian(1.0), 1.0, **cut), 4), added, 1.0, gaussian_delta(2.0, 1.0)
    for steps, epsilon, delta in ((2, 0.2, 0.2320795912), (2, 1.0, 0.0592065011), (10, 1.0, 0.00278287)):
        yield allocate(gaussian(1.0), steps), added, epsilon, delta
    yield allocate(gaussian(0.5), 2, epochs=4, positions="repeated"), added, 1.0, 0.0592065011
    yield allocate(gaussian(0.5), 3, per_epoch=3, epochs=4), added, 1.0, gaussian_delta(math.sqrt(3), 1.0)
    answer = release("randomised_response", epsilon=1.0)
    yield {"node": "shuffle", "part": answer, "users": 3}, replaced, 0.3, 0.1966900646
    box = {"node": "stated", "epsilon": 1.0, "delta": 0.0, "source": "a vendor"}
    yield {"node": "shuffle", "part": box, "users": 3}, replaced, 0.3, 0.2457029347


def _enumerated(replaced: str, added: str) -> Iterator[Truth]:
    """Samples, secret steps and compositions of a box that can fail, and a shuffle of few users, by all outcomes."""
    box = {"node": "stated", "epsilon": 0.7, "delta": 0.08, "source": "a vendor"}
    share = 0.92 / (1 + math.exp(-0.7))
    p, q = [0.08, share, share * math.exp(-0.7), 0.0], [0.0, share * math.exp(-0.7), share, 0.08]
    for rate, times_, epsilon in ((0.3, 1, 0.1), (0.3, 2, 0.2), (0.6, 3, 0.5)):
        mixed = [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)]
        yield times(sample(box, rate), times_), added, epsilon, enumerated(mixed, q, times_, epsilon)
        yield times(box, times_), replaced, epsilon, enumerated(p, q, times_, epsilon)
    share = 1 / (1 + math.exp(-0.7))
    p, q = [share, 1 - share], [1 - share, share]
    for steps, epsilon in ((2, 0.1), (3, 0.2)):
        ways = list(product(range(2), repeat=steps))
        alone = [math.prod(q[i] for i in way) for way in ways]
        secret = [
            math.fsum(p[way[j]] * math.prod(q[i] for k, i in enumerate(way) if k != j) for j in range(steps)) / steps
            for way in ways
        ]
        yield allocate(box | {"delta": 0.0}, steps), added, epsilon, enumerated(secret, alone, 1, epsilon)
    answer, truth = release("randomised_response", epsilon=1.0), 1 / (1 + math.exp(-1.0))
    yield {"node": "shuffle", "part": answer, "users": 1}, replaced, 0.3, 2 * truth - 1 - math.expm1(0.3) * (1 - truth)
    both = sample(sequence(answer, answer), 0.4, scheme="without_replacement")
    one, two = ([a * b for a in law for b in law] for law in ([truth, 1 - truth], [1 - truth, truth]))
    mixed = [0.6 * b + 0.4 * a for a, b in zip(one, two, strict=True)]
    yield both, replaced, 0.2, enumerated(mixed, two, 1, 0.2)


def _drawn(replaced: str, added: str) -> Iterator[Truth]:
    """A person with several records, draws with replacement and cut samples, by sums over binomial numbers."""
    weights = binomial(3, 0.2)
    person = {"node": "group", "part": times(sample(gaussian(0.8), 0.2), 1), "size": 3}
    yield person, added, 0.4, half_line([(0.8 * j, w) for j, w in enumerate(weights)], 0.4)
    weights, x = binomial(4, 0.1), math.exp(0.3)
    whole = 1 - weights[0]
    inner = math.log1p((x - 1) / whole)
    average = math.fsum(w * gaussian_delta(0.5 * j, inner) for j, w in enumerate(weights) if j)
    draws = {"scheme": "with_replacement", "population": 10, "batch_size": 4}
    yield sample(gaussian(0.5), 0.4, **draws), replaced, 0.3, average
    rate, bound, population = 0.4, 3, 6
    parts = [(w, rate, 0.5) if k < bound else (w, rate * bound / (k + 1), 1.0) for k, w in enumerate(binomial(5, rate))]
    cut = math.fsum(w * q * gaussian_delta(mu, math.log1p(math.expm1(0.3) / q)) for w, q, mu in parts)
    fields = {"scheme": "truncated_poisson", "population": population, "batch_bound": bound}
    yield sample(gaussian(0.5), rate, **fields), added, 0.3, cut


def _finite(replaced: str) -> Iterator[Truth]:
    """Mechanisms with finitely many losses, and some that are bounded by a known curve."""
    e = math.exp
    truth = 1 / (1 + 3 * e(-0.9))
    four = {0.9: truth, 0.0: 2 * truth * e(-0.9), -0.9: truth * e(-0.9)}
    yield release("randomised_response", epsilon=0.9, categories=4), replaced, 0.3, counted(four, 0.3)
    fading = e(-1 / 1.5)
    lattice = {2 / 1.5: 1 / (1 + fading), 0.0: (1 - fading) / (1 + fading) * fading}
    yield release("discrete_laplace", scale=1.5, l1_sensitivity=2), replaced, 0.2, counted(lattice, 0.2)
    weights = {k: e(-(k**2) / (2 * 0.9**2)) for k in range(-60, 61)}
    whole = math.fsum(weights.values())
    moved = {(2 * k + 1) / (2 * 0.9**2): weight / whole for k, weight in weights.items()}
    yield release("discrete_gaussian", stddev=0.9, l2_sensitivity=1), replaced, 1.0, counted(moved, 1.0)
    inner = {k: w for k, w in weights.items() if abs(k) <= 3}
    cut = {(2 * k + 1) / (2 * 0.9**2): w / math.fsum(inner.values()) for k, w in inner.items() if k < 3}
    lost = 1 - math.fsum(cut.values())
    noise = release("truncated_discrete_gaussian", stddev=0.9, cut=3.0, l2_sensitivity=1)
    yield noise, replaced, 1.0, lost + counted(cut, 1.0)
    table = release("finite", first=[0.6, 0.3, 0.1, 0.0], second=[0.2, 0.3, 0.3, 0.2])
    yield table, replaced, 0.5, max(0.6 - 0.2 * e(0.5), 0.6 - 0.4 * e(0.5) + 0.3 - 0.3, 0.2 + 0.3 - 0.1 * e(0.5))
    diluted = release("finite", first=[9.0, 1.0], second=[1.0, 9.0], dilution=2.0)
    yield diluted, replaced, 0.4, 0.7 - 0.3 * e(0.4)
    ranged = (e(1.0) - e(0.25)) ** 2 / math.expm1(2.0)
    yield release("exponential", epsilon=2.0, linf_sensitivity=1.0), replaced, 0.5, ranged
    top = release("report_noisy_max", scale=2.0, linf_sensitivity=1.0)
    yield top, replaced, 0.3, laplace_delta(1.0, 0.3)
    wishart = {"dimension": 3, "scale": 2.0}
    yield release("one_sided_wishart", trace_sensitivity=1.0, **wishart), "add_remove", 0.1, -math.expm1(-0.25)
    nuclear = release("symmetrised_wishart", nuclear_sensitivity=1.0, **wishart)
    yield nuclear, replaced, 0.1, laplace_delta(0.25, 0.1)
    joint = release("joint_gaussian", matrix_stddev=4.0, vector_stddev=3.0, feature_bound=2.0, target_bound=1.0)
    angle = -(4 / 9) / 2
    square = 2 * (1 - angle**2) + 2 * (4 / 9) * (1 - angle)
    yield joint, replaced, 0.5, gaussian_delta(math.sqrt(square), 0.5)
    yield joint, "add_remove", 0.5, gaussian_delta(math.sqrt(1 + 4 / 9), 0.5)
    turned = release("symmetric_gaussian", stddev=1.0, l2_sensitivity=1.0, symmetry="sqrt2")
    yield turned, replaced, 0.5, gaussian_delta(math.sqrt(0.5), 0.5)
    ball = release("ball_laplace", dimension=4, scale=2.0, l2_sensitivity=1.0)
    yield ball, replaced, 0.3, laplace_delta(1.0, 0.3)


def _nodes(replaced: str, added: str) -> Iterator[Truth]:
    """Trees, strategies, cells, parallel parts, stated parts and choices."""
    tree = {"horizon": 7, "leaf": {"name": "gaussian", "stddev": 1.0, "l2_sensitivity": 0.3}}
    yield release("tree_aggregation", **tree), replaced, 0.5, gaussian_delta(0.3 * math.sqrt(3), 0.5)
    strategies: list[tuple[str, Data, float]] = [
        ("square_root", {}, 1.943878847),
        ("square_root", {"participations": 4, "separation": 4}, 13.802866008),
        ("full_tree", {}, 5),
        ("full_tree", {"participations": 2}, 18),
        ("full_tree", {"participations": 2, "separation": 8}, 12),
        ("toeplitz", {"entries": [1.0, 0.5, 0.375, 0.3125], "participations": 4, "separation": 4}, 5.953125),
        ("toeplitz", {"entries": [1.0, -0.9], "participations": 2}, 5.42),
        ("toeplitz", {"entries": [1.0, -0.9], "participations": 3, "separation": 2}, 5.43),
    ]
    for strategy, fields, square in strategies:
        leaf = {"name": "gaussian", "stddev": 1.0, "l2_sensitivity": 0.2}
        noise = release("matrix", strategy=strategy, horizon=16, leaf=leaf, **fields)
        yield noise, replaced, 0.3, gaussian_delta(0.2 * math.sqrt(square), 0.3)
    rows = [[2.0, 0, 0, 0], [1.0, 3.0, 0, 0], [0, 1.0, 4.0, 0], [0, 0, 0.5, 3.5]]
    entries = [float(x) for row in rows for x in row]
    for fields, square in (
        ({}, 16.25),
        ({"participations": 2, "separation": 2}, 22.25),
        ({"participations": 2}, 34.25),
    ):
        leaf = {"name": "gaussian", "stddev": 1.0, "l2_sensitivity": 0.1}
        noise = release("matrix", strategy="explicit", horizon=4, leaf=leaf, entries=entries, **fields)
        yield noise, replaced, 0.1, gaussian_delta(0.1 * math.sqrt(square), 0.1)
    cells = {"node": "cells", "inside": gaussian(0.1), "touched": gaussian(0.5)}
    yield cells, replaced, 0.3, gaussian_delta(math.sqrt(0.5), 0.3)
    yield cells, added, 0.3, gaussian_delta(0.5, 0.3)
    parts = {"node": "parallel", "parts": [gaussian(0.2), laplace(0.9)], "key": "a day"}
    yield parts, replaced, 0.5, laplace_delta(0.9, 0.5)
    told = {"node": "stated", "epsilon": 0.4, "delta": 0.01, "source": "a vendor"}
    share = 0.99 / (1 + math.exp(-0.4))
    yield told, replaced, 0.1, 0.01 + counted({0.4: share}, 0.1)
    grown = 0.01 * (1 + math.exp(0.4))
    share = (1 - grown) / (1 + math.exp(-0.8))
    yield {"node": "group", "part": told, "size": 2}, replaced, 0.1, grown + counted({0.8: share}, 0.1)
    box = {"node": "stated", "epsilon": 0.5, "source": "a vendor"}
    truth = 1 / (1 + math.exp(-0.5))
    both = {1.0: truth**2, 0.0: 2 * truth * (1 - truth)}
    yield (
        times({"node": "parallel", "parts": [box, told | {"delta": 0.0}], "key": "a day"}, 2),
        replaced,
        0.2,
        counted(both, 0.2),
    )


def _integers(replaced: str) -> Iterator[Truth]:
    """Integer noise of a replaced record on a Poisson sample, by all outputs: at +move against at -move."""
    rate, far = 0.3, 90
    laws: dict[str, tuple[Data, dict[int, float], int]] = {
        "discrete_laplace": ({"scale": 1.5, "l1_sensitivity": 2}, {k: math.exp(-abs(k) / 1.5) for k in _line(far)}, 2),
        "discrete_gaussian": (
            {"stddev": 1.2, "l2_sensitivity": 2},
            {k: math.exp(-(k**2) / (2 * 1.2**2)) for k in _line(far)},
            2,
        ),
        "truncated_discrete_gaussian": (
            {"stddev": 2.0, "cut": 3.0, "l2_sensitivity": 3},
            {k: math.exp(-(k**2) / 8) for k in _line(6)},
            3,
        ),
    }
    for name, (fields, weights, move) in laws.items():
        whole = math.fsum(weights.values())
        one, two = (
            [
                ((1 - rate) * weights.get(k, 0.0) + rate * weights.get(k - way * move, 0.0)) / whole
                for k in _line(far + 9)
            ]
            for way in (1, -1)
        )
        for epsilon in (0.1, 0.5):
            noise = sample(release(name, **fields), rate, scheme="poisson")
            yield (
                noise,
                replaced,
                epsilon,
                math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(one, two, strict=True)),
            )


def _line(far: int) -> range:
    """Whole numbers on both sides of 0."""
    return range(-far, far + 1)


def _schedules(replaced: str) -> Iterator[Truth]:
    """Trees whose records hold several elements: the largest squared sums of signs, over all admissible places."""
    for horizon, separation, signs in ((7, 2, (1, 1)), (10, 4, (1, -1)), (10, 2, (1, 1, -1)), (9, 3, (1, -1, 1))):
        ways = (
            chosen
            for number in range(1, len(signs) + 1)
            for chosen in combinations(range(1, horizon + 1), number)
            if all(b - a >= separation for a, b in pairwise(chosen))
        )
        squared = max(
            sum(
                sum(s for element, s in zip(way, signs, strict=False) if node - (node & -node) < element <= node) ** 2
                for node in range(1, horizon + 1)
            )
            for way in ways
        )
        leaf = {"name": "gaussian", "stddev": 1.0, "l2_sensitivity": 0.2}
        noise = release("tree_aggregation", horizon=horizon, leaf=leaf, signs=list(signs), separation=separation)
        yield noise, replaced, 0.3, gaussian_delta(0.2 * math.sqrt(squared), 0.3)


def _ordered(replaced: str, added: str) -> Iterator[Truth]:
    """Two Laplace releases, a zeroed record of a fixed sample, a group over a leak, and an answer on a sample."""
    for shift, epsilon in ((0.8, 0.3), (1.5, 2.0)):
        yield times(laplace(shift), 2), replaced, epsilon, _two_laplace(shift, epsilon)
    for mu, rate, epsilon in ((1.0, 0.3, 0.1), (0.7, 0.1, 0.05), (6.0, 0.2, 0.1), (17.0, 0.3, 0.1)):
        zeroed = sample(gaussian(mu), rate, scheme="without_replacement")
        yield zeroed, "zero_out", epsilon, _apart(mu, rate, epsilon)
    c = 0.25
    leak, inner = release("one_sided_wishart", trace_sensitivity=1.0, dimension=2, scale=2.0), -math.expm1(-c)
    grown = inner * (1 + math.exp(c))
    share = (1 - grown) / (1 + math.exp(-2 * c))
    yield {"node": "group", "part": leak, "size": 2}, added, 0.2, grown + counted({2 * c: share}, 0.2)
    truth = 1 / (1 + math.exp(-1.0))
    alone = sample(release("randomised_response", epsilon=1.0), 0.4, scheme="without_replacement")
    yield alone, replaced, 0.2, enumerated([0.6 - 0.2 * truth, 0.4 + 0.2 * truth], [1 - truth, truth], 1, 0.2)


def _beside_a_leak(replaced: str, added: str) -> Iterator[Truth]:
    """Losses beside one that tells the orders apart, whose orders must be those of the whole; and deltas at 0."""
    c, epsilon = 0.25, 0.4
    leak = release("one_sided_wishart", trace_sensitivity=1.0, dimension=2, scale=2.0)

    def beside(curve: Callable[[float], float]) -> float:
        back = -math.expm1(epsilon - c) + math.exp(epsilon - c) * curve(c - epsilon)
        return max(-math.expm1(-c) + math.exp(-c) * curve(epsilon + c), back)

    one, several = ([(0.8 * j, w) for j, w in enumerate(binomial(n, 0.2))] for n in (1, 3))
    single = sample(gaussian(0.8), 0.2)
    yield sequence(single, leak), added, epsilon, beside(lambda x: half_line(one, x))
    person = {"node": "group", "part": single, "size": 3}
    yield sequence(person, leak), added, epsilon, beside(lambda x: half_line(several, x))
    for order in ("remove", "add"):
        rows = [{"loss": "sampled_gaussian", "times": 1, "mu": 0.8, "rate": 0.2, "order": order}]
        stated = {"node": "release", "label": "x", "mechanism": {"name": "x", "stated": {"upper": rows, "lower": rows}}}

        def curve(x: float, order: str = order) -> float:
            return half_line(one, x) if order == "remove" else -math.expm1(x) + math.exp(x) * half_line(one, -x)

        yield sequence(stated, leak), added, epsilon, beside(curve)
    uneven = release("finite", first=[0.6, 0.4], second=[0.3, 0.7])
    yield uneven, replaced, 0.2, max(0.6 - 0.3 * math.exp(0.2), 0.7 - 0.4 * math.exp(0.2))
    yield sample(gaussian(1.0), 1.0, scheme="without_replacement"), "zero_out", 0.5, gaussian_delta(1.0, 0.5)
    answer, truth = release("randomised_response", epsilon=1.0), 1 / (1 + math.exp(-1.0))
    p, q = ([a * b for a in law for b in law] for law in ([truth, 1 - truth], [1 - truth, truth]))
    mixed = [0.6 * b + 0.4 * a for a, b in zip(p, q, strict=True)]
    both = sample(sequence(answer, answer), 0.4, scheme="without_replacement")
    yield both, replaced, 0.0, enumerated(mixed, q, 1, 0.0)
    x = 1 + math.expm1(0.05) / 0.4
    larger = max(0.6 - 0.3 * x, 0.7 - 0.4 * x)
    fixed = sample(laplace(0.125), 0.1, scheme="without_replacement")
    yield fixed, replaced, math.log1p(0.1 * math.expm1(0.124)), 0.1 * laplace_delta(0.125, 0.124)
    yield sample(uneven, 0.4, scheme="without_replacement"), replaced, 0.05, 0.4 * larger
    column = [math.prod(1 - 0.5 / i for i in range(1, k + 1)) for k in range(16)]
    moves = [math.fsum(column[row - start] for start in (0, 5, 10, 15) if row >= start) for row in range(16)]
    leaf = {"name": "gaussian", "stddev": 1.0, "l2_sensitivity": 0.2}
    fields = {"horizon": 16, "leaf": leaf, "participations": 9, "separation": 5}
    squared = math.fsum(move**2 for move in moves)
    strategy = release("matrix", strategy="square_root", **fields)
    yield strategy, replaced, 0.3, gaussian_delta(0.2 * math.sqrt(squared), 0.3)


def _leaking(replaced: str, added: str) -> Iterator[Truth]:
    """Samples of boxes that can fail, by all outcomes, and a replaced record of Laplace noise."""
    box = {"node": "stated", "epsilon": 0.7, "delta": 0.08, "source": "a vendor"}
    share = 0.92 / (1 + math.exp(-0.7))
    p, q = [0.08, share, share * math.exp(-0.7), 0.0], [0.0, share * math.exp(-0.7), share, 0.08]
    ways = list(product(range(4), repeat=2))
    one, two = ([law[i] * law[j] for i, j in ways] for law in (p, q))
    mixed = [0.7 * b + 0.3 * a for a, b in zip(one, two, strict=True)]
    yield sample(times(box, 2), 0.3), added, 0.2, enumerated(mixed, two, 1, 0.2)
    c, share = math.exp(-0.25), 1 / (1 + math.exp(-0.7))
    one, two = ([a * b for a in law for b in law] for law in ([share, 1 - share], [1 - share, share]))
    mixed = [0.7 * b + 0.3 * a for a, b in zip(one, two, strict=True)]
    wider = [a * b for a in mixed for b in (c, 1 - c)], [a * b for a in two for b in (1.0, 0.0)]
    leak = release("one_sided_wishart", trace_sensitivity=1.0, dimension=2, scale=2.0)
    yield sequence(sample(times(box | {"delta": 0.0}, 2), 0.3), leak), added, 0.3, enumerated(*wider, 1, 0.3)
    twice, failing = 1.4, 0.08 * (1 + math.exp(0.7))
    share = (1 - failing) / (1 + math.exp(-twice))
    p, q = [failing, share, share * math.exp(-twice), 0.0], [0.0, share * math.exp(-twice), share, failing]
    mixed = [0.7 * b + 0.3 * a for a, b in zip(p, q, strict=True)]
    yield sample(box, 0.3, scheme="poisson"), replaced, 0.2, enumerated(mixed, q, 1, 0.2)
    share = 1 / (1 + math.exp(-0.7))
    held = (
        [a * b for a in (c, 1 - c) for b in (share, 1 - share)],
        [a * b for a in (1.0, 0.0) for b in (1 - share, share)],
    )
    orders = [
        enumerated([0.7 * b + 0.3 * a for a, b in zip(one, two, strict=True)], two, 1, 0.1)
        for one, two in (held, held[::-1])
    ]
    yield sample(sequence(leak, box | {"delta": 0.0}), 0.3), added, 0.1, max(orders)
    s, rate = 0.8, 0.25
    largest = math.log((rate + (1 - rate) * math.exp(-s)) / ((1 - rate) * math.exp(-s) + rate * math.exp(-2 * s)))
    for epsilon in (0.1, 0.97 * largest):
        yield sample(laplace(s), rate, scheme="poisson"), replaced, epsilon, _laplace_replaced(s, rate, epsilon)


def _laplace_replaced(s: float, rate: float, epsilon: float) -> float:
    """The delta of a record that moves Laplace noise by s against one that moves it by -s, each with this chance."""
    below, away = 1 - rate + rate * math.exp(-s), math.exp(epsilon)
    low, high = 0.0, s
    for _ in range(200):
        z = (low + high) / 2
        over = (1 - rate) * math.exp(-z) + rate * math.exp(z - s) > away * below * math.exp(-z)
        low, high = (low, z) if over else (z, high)
    p = (1 - rate) * math.exp(-high) / 2 + rate * (1 - math.exp(high - s) / 2)
    return p - away * below * math.exp(-high) / 2


def _two_laplace(shift: float, epsilon: float) -> float:
    """The delta of two Laplace releases: that of one, averaged over the loss of the other."""

    def rest(loss: float) -> float:
        left = epsilon - loss
        return 0.0 if left >= shift else -math.expm1(left) if left <= -shift else laplace_delta(shift, left)

    ends = sorted({-shift, shift, min(shift, max(-shift, epsilon - shift)), min(shift, max(-shift, epsilon + shift))})
    nodes, weights = np.polynomial.legendre.leggauss(30)
    middle = math.fsum(
        w * (b - a) / 2 * math.exp((at - shift) / 2) / 4 * rest(at)
        for a, b in pairwise(ends)
        for at, w in zip(((a + b) / 2 + (b - a) / 2 * nodes).tolist(), weights.tolist(), strict=True)
    )
    return rest(shift) / 2 + math.exp(-shift) / 2 * rest(-shift) + middle


def _apart(mu: float, rate: float, epsilon: float) -> float:
    """The delta of a record that moves twice as far against one that moves once, each with this chance."""

    def loss(z: float) -> float:
        far, near = (1 - rate + rate * math.exp(m * z - m * m / 2) for m in (2 * mu, mu))
        return math.log(far / near)

    low, high = 1.5 * mu, 40.0
    for _ in range(200):
        z = (low + high) / 2
        low, high = (low, z) if loss(z) > epsilon else (z, high)
    far, near = ((1 - rate) * normal(-high) + rate * normal(m - high) for m in (2 * mu, mu))
    return far - math.exp(epsilon) * near


def ends() -> Iterator[tuple[Data, str, str, Data, Data, str]]:
    """Declarations with a relation, a side, a claim with its effort, ends next to the truth, and what is to be said."""
    replaced, added = "replace_one", "add_remove"
    near: list[tuple[Data, str, float, float, float, float, str]] = [
        (gaussian(1.0), replaced, 1.0, gaussian_delta(1.0, 1.0), 0.0, 1e-6, "closed"),
        (laplace(1.0), replaced, 1.0, 0.0, 0.0, 1e-6, "closed"),
        (times(laplace(0.8), 2), replaced, 0.3, _two_laplace(0.8, 0.3), 5e-4, 1e-2, "summed"),
        (allocate(gaussian(1.0), 2), added, 1.0, 0.0592065011, 5e-3, 5e-2, "derived"),
    ]
    for tree, relation, epsilon, delta, inside, beyond, kind in near:
        for side, effort, name in product(("upper", "lower"), ("quick", "default"), ("epsilon", "delta")):
            safe = 1 if side == "upper" else -1
            loose = "loose" if (kind, effort) == ("summed", "quick") or kind == "derived" else "unconfirmed"
            data = {"claim": {"epsilon": epsilon, "delta": delta}, "effort": effort}
            for moved, said in ((inside, ""), (beyond, loose), (-beyond, "wrong")):
                if name == "epsilon" or delta:
                    stated = {"epsilon": {side: epsilon}, "delta": {side: delta}}
                    stated[name] = {side: stated[name][side] * (1 + safe * moved)}
                    sense = ("large" if safe * moved > 0 else "small") if name == "epsilon" and said else ""
                    yield tree, relation, side, data, stated, f"{said} {sense}".strip()
            never = {"epsilon": {side: math.inf}, "delta": {side: delta}}
            yield (
                tree,
                relation,
                side,
                data,
                never,
                "wrong large" if side == "lower" else "" if loose == "loose" else "unconfirmed large",
            )


def said(found: Any) -> str:
    """What an outcome of the checker says of an end: wrong or loose, and for an epsilon in which sense."""
    told = (*found.wrong, *found.unconfirmed, *found.loose)
    word = "wrong" if found.wrong else "unconfirmed" if found.unconfirmed else "loose" if told else ""
    return word + "".join(f" {sense}" for sense in ("large", "small") if f"is too {sense}" in " ".join(told))


def lower_truths() -> Iterator[tuple[Data, str, Data, float, float]]:
    """Declarations with a relation, a witness, an epsilon and the delta that its pair attains."""
    one: Data = {"labels": ["sum"], "plan": [], "attained": "by_definition"}
    for tree, relation, epsilon, delta in (*_lower(), *_counts_of_answers()):
        yield tree, relation, one, epsilon, delta
    every: Data = {"labels": [], "plan": [], "attained": "assumed"}
    replaced, added = "replace_one", "add_remove"
    group = {"node": "group", "part": gaussian(0.3), "size": 3}
    yield group, replaced, every, 0.2, gaussian_delta(0.9, 0.2)
    yield group, replaced, one, 0.2, gaussian_delta(0.3, 0.2)
    message = {"node": "group", "part": {"node": "local", "part": gaussian(0.3)}, "size": 4}
    yield message, replaced, every, 0.2, gaussian_delta(0.6, 0.2)
    yield sequence(gaussian(0.3), gaussian(0.4)), replaced, every, 0.2, gaussian_delta(0.5, 0.2)
    yield sequence(gaussian(0.3), laplace(0.9)), replaced, one, 0.8, laplace_delta(0.9, 0.8)
    person = {"node": "group", "part": sample(gaussian(0.8), 0.2, scheme="poisson"), "size": 3}
    of_twenty = {"scheme": "without_replacement", "population": 20, "batch_size": 4}
    fixed = {"node": "group", "part": sample(gaussian(0.8), 0.2, **of_twenty), "size": 3}
    held = [(0.8 * j, math.comb(3, j) * math.comb(17, 4 - j) / math.comb(20, 4)) for j in range(4)]
    yield fixed, added, every, 0.4, half_line(held, 0.4)
    weights = list(enumerate(binomial(3, 0.2)))
    yield person, added, every, 0.4, half_line([(0.8 * j, w) for j, w in weights], 0.4)
    parts = {"node": "parallel", "parts": [gaussian(0.2), gaussian(0.9)], "key": "a day"}
    for part, mu in ((0, 0.2), (1, 0.9)):
        yield parts, replaced, one | {"plan": [{"path": "root", "part": part}]}, 0.3, gaussian_delta(mu, 0.3)
    cells = {"node": "cells", "inside": gaussian(0.7), "touched": gaussian(0.4)}
    for part, mu in ((0, 0.7), (1, math.sqrt(0.32))):
        yield cells, replaced, every | {"plan": [{"path": "root", "part": part}]}, 0.3, gaussian_delta(mu, 0.3)
    weights = list(enumerate(binomial(4, 0.1)))
    draws = {"scheme": "with_replacement", "population": 10, "batch_size": 4}
    yield sample(gaussian(0.5), 0.4, **draws), replaced, one, 0.3, half_line([(0.5 * j, w) for j, w in weights], 0.3)
    shares = [0.4 if k < 3 else 0.4 * 3 / (k + 1) for k in range(6)]
    rate = math.fsum(w * share for w, share in zip(binomial(5, 0.4), shares, strict=True))
    fields = {"scheme": "truncated_poisson", "population": 6, "batch_bound": 3}
    cut = rate * gaussian_delta(0.5, math.log1p(math.expm1(0.3) / rate))
    yield sample(gaussian(0.5), 0.4, **fields), added, one | {"attained": "assumed"}, 0.3, cut
    yield allocate(gaussian(0.6), 2, per_epoch=2, epochs=3), added, one, 0.2, gaussian_delta(0.6 * math.sqrt(6), 0.2)
    table = release("finite", first=[0.9, 0.1], second=[0.1, 0.9], dilution=2.0)
    leak = release("one_sided_wishart", trace_sensitivity=1.0, dimension=2, scale=2.0)
    c = math.exp(-0.25)
    p, q = [a * b for a in (0.7, 0.3) for b in (c, 1 - c)], [a * b for a in (0.3, 0.7) for b in (1.0, 0.0)]
    yield sequence(table, leak), added, every, 0.3, enumerated(p, q, 1, 0.3)


def met_from_below() -> Iterator[tuple[Data, str, Data, float, float]]:
    """Several secret places, with a relation, a witness, an epsilon and a delta: only the lower end is sharp."""
    one: Data = {"labels": ["sum"], "plan": [], "attained": "assumed"}
    for steps, places, p, epsilon in (
        (3, 2, [0.7, 0.3], 0.2),
        (4, 2, [0.6, 0.3, 0.1], 0.5),
        (4, 3, [0.6, 0.4], 0.1),
        (3, 2, [0.3, 0.7, 0.0], 0.2),  # one outcome tells all at each place
    ):
        q = p[::-1]
        ways, held = list(product(range(len(p)), repeat=steps)), list(combinations(range(steps), places))
        alone = [math.prod(q[i] for i in way) for way in ways]
        secret = [
            math.fsum(math.prod((p if j in at else q)[i] for j, i in enumerate(way)) for at in held) / len(held)
            for way in ways
        ]
        part = release("finite", first=p, second=q)
        yield allocate(part, steps, per_epoch=places), "add_remove", one, epsilon, enumerated(secret, alone, 1, epsilon)


def widths() -> Iterator[tuple[Data, str, float, float]]:
    """Declarations with a relation, an epsilon, and how wide the bracket of delta is at most there, relatively."""
    replaced, added = "replace_one", "add_remove"
    lattice = times(release("discrete_laplace", scale=1.5, l1_sensitivity=2), 3)
    whole = release("discrete_gaussian", stddev=5.0, l2_sensitivity=1)
    parts = {"node": "parallel", "parts": [laplace(0.5), gaussian(0.4)], "key": "a day"}
    yield times(laplace(0.1), 1000), replaced, 39.5, 7e-5
    yield times(laplace(1.0), 300), replaced, 120.0, 6e-5
    yield times(laplace(0.5), 4), replaced, 1.0, 1.3e-3
    yield times(laplace(0.5), 30), replaced, 0.0, 1.1e-5
    yield times(laplace(1e-4), 1000), replaced, 1e-2, 3e-4
    yield times(sample(gaussian(1.0), 0.01), 100), added, 0.5, 1.6e-4
    yield times(sample(laplace(0.5), 0.1), 20), added, 0.5, 3.7e-5
    yield sequence(times(laplace(0.2), 5), gaussian(0.6), lattice), replaced, 2.0, 2.1e-5
    yield allocate(gaussian(1.0), 10), added, 1.0, 5.7e-4
    yield allocate(laplace(1.0), 10), added, 0.3, 1.1e-6
    yield allocate(gaussian(1.0), 100, epochs=4), added, 1.0, 5.7e-3
    yield times(sample(sequence(laplace(0.5), laplace(0.4)), 0.2), 3), added, 0.3, 2.1e-5
    yield times(parts, 3), replaced, 0.6, 3.5e-5
    yield times(release("randomised_response", epsilon=0.5), 50), replaced, 6.0, 1.4e-3
    yield times(whole, 40), replaced, 3.0, 2.5e-4


def no_declarations() -> Iterator[tuple[Data, str]]:
    """Declarations with a relation that no bound may be derived from."""
    replaced, added = "replace_one", "add_remove"
    yield release("finite", first=[0.6, 0.3], second=[0.5, 0.5]), replaced
    yield release("finite", first=[0.0, 0.0], second=[1.0, 1.0]), replaced
    yield release("randomised_response", epsilon=1.0), added
    yield release("randomised_response", epsilon=1.0, categories=1), replaced
    yield release("laplace", scale=1.0, l1_sensitivity=1.0, neighbours=added), replaced
    yield release("laplace", scale=0.0, l1_sensitivity=1.0), replaced
    leaf = {"name": "laplace", "scale": 1.0, "l1_sensitivity": 1.0}
    yield release("matrix", strategy="square_root", horizon=8, leaf=leaf), replaced
    yield release("tree_aggregation", horizon=8, leaf=leaf, signs=[1, 1], separation=1), replaced
    yield sample(gaussian(1.0), 1.2), added
    yield sample(gaussian(1.0), 0.2, population=10, batch_size=2, scheme="poisson"), added
    yield sample(gaussian(1.0), 0.3, population=10, batch_size=2, scheme="without_replacement"), replaced
    yield sample(gaussian(1.0), 0.2, population=10, batch_bound=2, scheme="truncated_poisson"), replaced
    yield allocate(gaussian(1.0), 2, per_epoch=3), added
    yield {"node": "shuffle", "part": gaussian(1.0), "users": 5}, replaced
    yield {"node": "shuffle", "part": laplace(1.0), "users": 5}, added
    yield {"node": "stated", "epsilon": 1.0, "source": "a vendor", "neighbours": added}, replaced
    yield {"node": "cells", "inside": gaussian(0.1), "touched": gaussian(0.5)}, "zero_out"


def no_pairs() -> Iterator[tuple[Data, str, Data]]:
    """Declarations with a relation and a witness that describes no pair of them."""
    every: Data = {"labels": [], "plan": [], "attained": "assumed"}
    one: Data = {"labels": ["sum"], "plan": [], "attained": "by_definition"}
    cells = {"node": "cells", "inside": gaussian(0.7), "touched": gaussian(0.4)}
    parts = {"node": "parallel", "parts": [gaussian(0.2), gaussian(0.9)], "key": "a day"}
    for tree, relation, part in (
        (cells, "replace_one", 2),
        (cells, "add_remove", 0),
        (cells, "add_remove", 2),
        (parts, "replace_one", 2),
        (gaussian(1.0), "replace_one", 0),
    ):
        yield tree, relation, every | {"plan": [{"path": "root", "part": part}]}
    twice = [{"path": "root", "part": 0}, {"path": "root", "part": 1}]
    yield parts, "replace_one", every | {"plan": twice}
    yield gaussian(1.0), "replace_one", one | {"labels": ["other"]}
    yield gaussian(1.0), "replace_one", one | {"labels": ["sum", "other"]}
    yield gaussian(1.0), "replace_one", one | {"attained": "checked"}


def _counts_of_answers() -> Iterator[Truth]:
    """Shuffled answers of few users, where all others hold one value: a third one, or that of the neighbour."""
    for categories, users, epsilon in ((3, 3, 0.1), (2, 4, 0.1)):
        odds = math.exp(1.0)
        lie = 1 / (odds + categories - 1)
        hold = [[odds * lie if i == value else lie for i in range(categories)] for value in range(categories)]
        others = categories - 1  # the last value, which is the neighbour's if there are two
        laws: list[dict[tuple[int, ...], float]] = [{}, {}]
        for law, mine in zip(laws, (0, 1), strict=True):
            for way in product(range(categories), repeat=users):
                chance = hold[mine][way[0]] * math.prod(hold[others][i] for i in way[1:])
                counted_ = tuple(way.count(i) for i in range(categories))
                law[counted_] = law.get(counted_, 0.0) + chance
        keys = sorted(laws[0])
        p, q = ([law[key] for key in keys] for law in laws)
        answer = release("randomised_response", epsilon=1.0, categories=categories)
        yield {"node": "shuffle", "part": answer, "users": users}, "replace_one", epsilon, enumerated(p, q, 1, epsilon)


def _lower() -> Iterator[Truth]:
    """Mechanisms whose attained loss is another than the one from above, with its delta."""
    replaced, e = "replace_one", math.exp
    yield release("exponential", epsilon=2.0, linf_sensitivity=1.0), replaced, 0.5, (e(1) - e(0.25)) ** 2 / (e(2) - 1)
    gap = 0.5
    behind = e(-gap) * (1 + gap / 2) / 2
    top = release("report_noisy_max", scale=2.0, linf_sensitivity=1.0)
    yield top, replaced, 0.3, 1 - behind - e(0.3) * behind
    wishart = {"dimension": 2, "scale": 2.0}
    yield release("one_sided_wishart", trace_sensitivity=1.0, **wishart), replaced, 0.1, -math.expm1(-0.25)
    nuclear = release("symmetrised_wishart", nuclear_sensitivity=4.0, **wishart)
    yield nuclear, replaced, 0.1, 1 / 8 * -math.expm1(0.1 - 1.0)
    yield (
        times(nuclear, 2),
        replaced,
        0.0,
        enumerated([1 / 8, 7 / 8 - e(-1) / 8, e(-1) / 8], [e(-1) / 8, 7 / 8 - e(-1) / 8, 1 / 8], 2, 0.0),
    )
    ball = release("ball_laplace", dimension=4, scale=2.0, l2_sensitivity=1.0)
    yield ball, replaced, 1 - 1e-8, 1e-8 / 16


def arguments() -> Iterator[tuple[dp.Declaration, float, float]]:
    """Printed steps that just follow by their rule, with the epsilon and delta that they end at."""
    part = dp.Stated(epsilon=0.1, delta=1e-8, source="a vendor")
    k, e, d, delta = 30, 0.1, 1e-8, 1e-5
    spare = delta - k * d
    ends: dict[str, float] = {
        "basic": k * e,
        "advanced": e * math.sqrt(2 * k * math.log(1 / spare)) + k * e * math.expm1(e),
        "advanced_refined": e * math.sqrt(2 * k * math.log(1 / spare)) + k * e * math.tanh(e / 2),
        "optimal": _optimal(k, e, d, delta),
    }
    for rule, epsilon in ends.items():
        yield dp.Repeat(part=part, times=k, printed=dp.Printed(rule=rule, epsilon=epsilon, delta=delta)), epsilon, delta
    parts = (part, dp.Stated(epsilon=0.2, delta=2e-8, source="a vendor"))
    spare = delta - 2 * 2e-8
    uneven = 0.2 * math.sqrt(4 * math.log(1 / spare)) + 2 * 0.2 * math.expm1(0.2)
    yield dp.Sequential(parts=parts, printed=dp.Printed(rule="advanced", epsilon=uneven, delta=delta)), uneven, delta
    yield dp.Parallel(parts=parts, key="a day", printed=dp.Printed(rule="parallel", epsilon=0.2, delta=2e-8)), 0.2, 2e-8
    few = dp.Stated(epsilon=0.01, delta=1e-8, source="a vendor")
    short = 0.01 * math.sqrt(8 * k * math.log(2 / delta))
    yield (
        dp.Repeat(part=few, times=k, printed=dp.Printed(rule="advanced_short", epsilon=short, delta=delta)),
        short,
        delta,
    )
    grown = d * math.expm1(0.3) / math.expm1(0.1)
    yield dp.Group(part=part, size=3, printed=dp.Printed(rule="group", epsilon=0.3, delta=grown)), 0.3, grown
    for rule, odds in (("classic_gaussian", 1.25), ("classic_gaussian_2", 2.0)):
        noise = Gaussian(
            stddev=math.sqrt(2 * math.log(odds / delta)) / 0.5, l2_sensitivity=1.0, neighbours="replace_one"
        )
        yield (
            dp.Release(label="sum", mechanism=noise, printed=dp.Printed(rule=rule, epsilon=0.5, delta=delta)),
            0.5,
            delta,
        )
    counts = Laplace(scale=4.0, l1_sensitivity=1.0, neighbours="replace_one")
    yield dp.Release(label="counts", mechanism=counts, printed=dp.Printed(rule="laplace", epsilon=0.25)), 0.25, 0.0


def _optimal(k: int, e: float, d: float, delta: float) -> float:
    """Kairouz, Oh and Viswanath (2015), Theorem 3.5, for equal parts."""
    lost = -math.expm1(k * math.log1p(-d))
    spare = (delta - lost) / (1 - lost)
    root = math.sqrt(k * e**2)
    third = k * e * math.tanh(e / 2) + root * math.sqrt(2 * math.log(1 / spare))
    second = k * e * math.tanh(e / 2) + root * math.sqrt(2 * math.log(math.e + root / spare))
    return min(k * e, second, third)


def argued(moved: Callable[[float], float]) -> Iterator[dp.Certificate]:
    """Certificates of these steps with the printed epsilon moved: just above it they hold, just below they do not."""
    for tree, epsilon, delta in arguments():
        printed = replace(present(tree.printed), epsilon=moved(epsilon))
        yield dp.certify(
            replace(tree, printed=printed), dp.Claim(epsilon=moved(epsilon), delta=delta, neighbours="replace_one")
        )


def paired() -> Iterator[dp.Certificate]:
    """Certificates that rest on one pair of two queries: checked, assumed, and of one query alone."""
    claim = dp.Claim(epsilon=1.018, delta=1e-5, neighbours="replace_one")
    noises = [Gaussian(stddev=8.0, l2_sensitivity=moved, neighbours="replace_one") for moved in (math.sqrt(2), 2.0)]
    tree = dp.Sequential(
        parts=tuple(dp.Release(label=label, mechanism=noise) for label, noise in zip("ab", noises, strict=True))
    )
    for about in ((), ("a", "b")):
        text = "A replay saw one pair move both."
        yield dp.certify(
            tree, claim, conditions=(dp.Condition(kind="attained", about=about, text=text, status="checked"),)
        )
    yield dp.certify(tree, claim)
    yield dp.certify(tree, replace(claim, epsilon=0.1))
    yield dp.certify(
        tree, replace(claim, epsilon=1.1574906)
    )  # above the six digits of what is attained, and below that
    counts = dp.Release(label="counts", mechanism=Laplace(scale=8.0, l1_sensitivity=1.0, neighbours="replace_one"))
    for epsilon in (0.6, 0.3):
        yield dp.certify(dp.Repeat(part=counts, times=5), replace(claim, epsilon=epsilon, delta=1e-3))


def rare() -> Iterator[dp.Certificate]:
    """Certificates of a stated part that promises nothing, and of a quick and a sharp effort."""
    claim = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    yield dp.certify(dp.Stated(epsilon=math.inf, source="a vendor"), claim)
    counts = dp.Release(label="counts", mechanism=Laplace(scale=8.0, l1_sensitivity=1.0, neighbours="replace_one"))
    tree = dp.Sequential(parts=(counts, dp.Repeat(part=replace(counts, label="more"), times=3)))
    yield dp.certify(tree, claim, effort="quick")
    yield dp.certify(tree, replace(claim, epsilon=0.4), effort="sharp")
    leaf = Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="replace_one")
    stream = TreeAggregation(horizon=7, leaf=leaf, signs=(1, -1), separation=2)
    yield dp.certify(dp.Release(label="stream", mechanism=stream), claim)
    added = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove")
    noise = Laplace(scale=8.0, l1_sensitivity=1.0, neighbours="add_remove")
    for model in ("central", "local"):
        yield dp.certify(dp.Local(part=dp.Release(label="counts", mechanism=noise)), replace(added, model=model))
    alone = replace(counts, printed=dp.Printed(rule="laplace", epsilon=0.125))
    few = dp.Stated(epsilon=0.01, delta=1e-6, source="a vendor")
    short = dp.Printed(rule="advanced_short", epsilon=0.9, delta=1e-5)
    yield dp.certify(dp.Repeat(part=few, times=30, printed=short), claim)
    text = "Every release draws fresh noise, independent of all else that is published. Looked at: 40 draws."
    looked = (dp.Condition(kind="fresh_noise", text=text, status="checked"),)
    yield dp.certify(counts, claim, conditions=looked)
    yield dp.certify(dp.Repeat(part=alone, times=1, printed=dp.Printed(rule="basic", epsilon=1.0, slots=8)), claim)
