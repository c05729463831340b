"""Numbers that a checker of certificates must find, from closed forms and published examples, and printed arguments.

They are small and quick: each tells apart a formula from the same with one operator changed.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from dpaudit import Certificate, Claim, Declaration, Group, Printed, Release, Repeat, Stated, certify
from mechanisms import Gaussian, Laplace
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
    yield from _finite(replaced)
    yield from _nodes(replaced, added)


def _sampled(replaced: str, added: str) -> Iterator[Truth]:
    """Samples, secret steps and shuffled reports: quadratures with 10 digits, and the curve of one sampled shift."""
    fixed = {"scheme": "without_replacement"}
    yield sample(laplace(1.0), 0.1), added, 0.05, 0.0254013898
    yield sample(gaussian(0.5), 0.1), replaced, 0.1, 0.0085320897
    yield sample(gaussian(1.0), 0.1, **fixed), replaced, 0.1, 0.0184719307
    yield sample(gaussian(0.5), 0.1), added, 0.1, 0.1 * gaussian_delta(0.5, math.log1p(math.expm1(0.1) / 0.1))
    yield sample(laplace(0.8), 0.25), added, 0.1, 0.25 * laplace_delta(0.8, math.log1p(math.expm1(0.1) / 0.25))
    inside = 0.2 * gaussian_delta(1.0, math.log1p(math.expm1(0.3) / 0.2))
    yield sample(gaussian(1.0), 0.2, **fixed), added, 0.3, inside
    yield times(sample(laplace(1.0), 1.0), 1), added, 0.2, laplace_delta(1.0, 0.2)
    cut = {"scheme": "truncated_poisson", "population": 20, "batch_bound": 25}
    yield sample(gaussian(1.0), 0.2, **cut), added, 0.3, inside
    yield times(sample(gaussian(1.0), 1.0, **cut), 4), added, 1.0, gaussian_delta(2.0, 1.0)
    for steps, epsilon, delta in ((2, 0.2, 0.2320795912), (2, 1.0, 0.0592065011), (10, 1.0, 0.00278287)):
        yield allocate(gaussian(1.0), steps), added, epsilon, delta
    yield allocate(gaussian(0.5), 2, epochs=4, positions="repeated"), added, 1.0, 0.0592065011
    yield allocate(gaussian(0.5), 3, per_epoch=3, epochs=4), added, 1.0, gaussian_delta(math.sqrt(3), 1.0)
    answer = release("randomised_response", epsilon=1.0)
    yield {"node": "shuffle", "part": answer, "users": 3}, replaced, 0.3, 0.1980040617
    yield {"node": "shuffle", "part": laplace(1.0), "users": 3}, replaced, 0.3, 0.2457029347
    yield {"node": "shuffle", "part": answer, "users": 1000}, replaced, 0.1, 8.201166e-5


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
    ]
    for strategy, fields, square in strategies:
        leaf = {"name": "gaussian", "stddev": 1.0, "l2_sensitivity": 0.2}
        noise = release("matrix", strategy=strategy, horizon=16, leaf=leaf, **fields)
        yield noise, replaced, 0.3, gaussian_delta(0.2 * math.sqrt(square), 0.3)
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


def arguments() -> Iterator[tuple[Declaration, float, float]]:
    """Printed steps that just follow by their rule, with the epsilon and delta that they end at."""
    part = Stated(epsilon=0.1, delta=1e-8, source="a vendor")
    k, e, d, delta = 30, 0.1, 1e-8, 1e-5
    spare = delta - k * d
    ends: dict[str, float] = {
        "basic": k * e,
        "advanced": e * math.sqrt(2 * k * math.log(1 / spare)) + k * e * math.expm1(e),
        "advanced_refined": e * math.sqrt(2 * k * math.log(1 / spare)) + k * e * math.tanh(e / 2),
        "optimal": _optimal(k, e, d, delta),
    }
    for rule, epsilon in ends.items():
        yield Repeat(part=part, times=k, printed=Printed(rule=rule, epsilon=epsilon, delta=delta)), epsilon, delta
    few = Stated(epsilon=0.01, delta=1e-8, source="a vendor")
    short = 0.01 * math.sqrt(8 * k * math.log(2 / delta))
    yield Repeat(part=few, times=k, printed=Printed(rule="advanced_short", epsilon=short, delta=delta)), short, delta
    grown = d * math.expm1(0.3) / math.expm1(0.1)
    yield Group(part=part, size=3, printed=Printed(rule="group", epsilon=0.3, delta=grown)), 0.3, grown
    for rule, odds in (("classic_gaussian", 1.25), ("classic_gaussian_2", 2.0)):
        noise = Gaussian(
            stddev=math.sqrt(2 * math.log(odds / delta)) / 0.5, l2_sensitivity=1.0, neighbours="replace_one"
        )
        yield Release(label="sum", mechanism=noise, printed=Printed(rule=rule, epsilon=0.5, delta=delta)), 0.5, delta
    counts = Laplace(scale=4.0, l1_sensitivity=1.0, neighbours="replace_one")
    yield Release(label="counts", mechanism=counts, printed=Printed(rule="laplace", epsilon=0.25)), 0.25, 0.0


def _optimal(k: int, e: float, d: float, delta: float) -> float:
    """Kairouz, Oh and Viswanath (2015), Theorem 3.5, for equal parts."""
    lost = -math.expm1(k * math.log1p(-d))
    spare = (delta - lost) / (1 - lost)
    root = math.sqrt(k * e**2)
    third = k * e * math.tanh(e / 2) + root * math.sqrt(2 * math.log(1 / spare))
    second = k * e * math.tanh(e / 2) + root * math.sqrt(2 * math.log(math.e + root / spare))
    return min(k * e, second, third)


def argued(moved: Callable[[float], float]) -> Iterator[Certificate]:
    """Certificates of these steps with the printed epsilon moved: just above it they hold, just below they do not."""
    for tree, epsilon, delta in arguments():
        printed = replace(present(tree.printed), epsilon=moved(epsilon))
        yield certify(
            replace(tree, printed=printed), Claim(epsilon=moved(epsilon), delta=delta, neighbours="replace_one")
        )
