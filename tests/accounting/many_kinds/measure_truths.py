"""Random finite tables and other mechanisms whose rho, mu and Renyi divergences are known to 50 digits."""

from collections.abc import Iterator
from dataclasses import dataclass

import mpmath
import numpy as np
from mpmath import mp

from dpaudit import Declaration, Release, Repeat
from dpaudit.model.mechanism import Mechanism
from mechanisms import Exponential, Finite, Gaussian, Laplace, RandomisedResponse

DIGITS = 50
Law = list[mpmath.mpf]


@dataclass(frozen=True)
class Truth:
    """A declaration with its measure, the order of a Renyi divergence, and the exact value."""

    declaration: Declaration
    measure: str
    order: float
    value: mpmath.mpf


def table(rng: np.random.Generator) -> tuple[Finite, Law, Law]:
    """A table of 2 to 5 outcomes in thousandths, with its exact laws."""
    size = int(rng.integers(2, 6))
    rows = [rng.multinomial(1000 - size, rng.dirichlet(np.ones(size))) + 1 for _ in range(2)]
    first, second = ([mpmath.mpf(int(n)) / 1000 for n in row] for row in rows)
    counts = (tuple(float(n) for n in row) for row in rows)
    return Finite(first=next(counts), second=next(counts), neighbours="replace_one"), first, second


def response(rng: np.random.Generator) -> tuple[RandomisedResponse, Law, Law]:
    """A k-ary response with the laws of two categories."""
    epsilon, categories = float(np.round(rng.uniform(0.1, 5.0), 3)), int(rng.integers(2, 60))
    noise = RandomisedResponse(epsilon=epsilon, categories=categories, neighbours="replace_one")
    lie = 1 / (mp.exp(mpmath.mpf(str(epsilon))) + categories - 1)
    truth = 1 - (categories - 1) * lie
    return noise, [truth, lie, (categories - 2) * lie], [lie, truth, (categories - 2) * lie]


def renyi(first: Law, second: Law, order: mpmath.mpf) -> mpmath.mpf:
    """The divergence of one order, the larger one of both directions."""
    held = [(p, q) for p, q in zip(first, second, strict=True) if p]
    sums = [mp.fsum(p**order * q ** (1 - order) for p, q in way) for way in (held, [(q, p) for p, q in held])]
    return mp.log(max(sums)) / (order - 1)


def rho(first: Law, second: Law) -> mpmath.mpf:
    """The supremum over the order, by a grid and a golden search beside its best place, and the limit at order 1."""
    held = [(p, q) for p, q in zip(first, second, strict=True) if p]
    limit = max(mp.fsum(p * mp.log(p / q) for p, q in way) for way in (held, [(q, p) for p, q in held]))
    powers = [mp.mpf(10) ** (mp.mpf(k) / 20) for k in range(-60, 61)]
    ratios = [renyi(first, second, 1 + s) / (1 + s) for s in powers]
    best = max(range(len(powers)), key=lambda k: ratios[k])
    low, high = powers[max(0, best - 1)], powers[min(len(powers) - 1, best + 1)]
    for _ in range(60):
        one, two = low + (high - low) * mp.mpf("0.382"), low + (high - low) * mp.mpf("0.618")
        rises = renyi(first, second, 1 + one) / (1 + one) < renyi(first, second, 1 + two) / (1 + two)
        low, high = (one, high) if rises else (low, two)
    return max(limit, renyi(first, second, 1 + low) / (1 + low), *ratios)


def mu(first: Law, second: Law) -> mpmath.mpf:
    """The largest difference of normal quantiles over events of large ratios."""

    def quantile(p: mpmath.mpf) -> mpmath.mpf:
        return mp.sqrt(2) * mp.erfinv(2 * p - 1)

    held = sorted(((p, q) for p, q in zip(first, second, strict=True) if p), key=lambda row: -row[0] / row[1])
    sums = [(mp.fsum(p for p, _ in held[:k]), mp.fsum(q for _, q in held[:k])) for k in range(1, len(held))]
    return max(quantile(p) - quantile(q) for p, q in sums)


def _gaussian(size: mpmath.mpf, order: mpmath.mpf) -> dict[str, mpmath.mpf]:
    """Of normal noise on an answer that moves by `size` standard deviations."""
    return {"rho": size**2 / 2, "mu": size, "renyi": order * size**2 / 2}


def _laplace(size: mpmath.mpf, order: mpmath.mpf) -> dict[str, mpmath.mpf]:
    """Of Laplace noise on an answer that moves by `size` scales (Mironov, 2017, Proposition 6)."""
    up, down = order * mp.exp((order - 1) * size), (order - 1) * mp.exp(-order * size)
    return {"rho": size - 1 + mp.exp(-size), "renyi": mp.log((up + down) / (2 * order - 1)) / (order - 1)}


def _choice(size: mpmath.mpf, order: mpmath.mpf) -> dict[str, mpmath.mpf]:
    """Of a choice whose loss has a range of `size`: the worst shift of the range."""
    one, two = mp.exp(size) - mp.exp(size - order * size), -mp.expm1(size - order * size)
    t = (order - 1) * one / (order * two)
    divergence = mp.log(t ** (order - 1) * (one - t * two) / mp.expm1(size)) / (order - 1)
    share = mp.expm1(size) / size
    return {"rho": 1 / share - 1 + mp.log(share), "renyi": divergence}


def _closed(rng: np.random.Generator, measure: str, order: float) -> tuple[Mechanism, mpmath.mpf]:
    """Noise or a choice, with its measure in closed form."""
    number = float(np.round(rng.uniform(0.05, 4.0), 3))
    size, at = mpmath.mpf(str(number)), mpmath.mpf(str(order))
    options: list[tuple[Mechanism, dict[str, mpmath.mpf]]] = [
        (Gaussian(stddev=1.0, l2_sensitivity=number, neighbours="replace_one"), _gaussian(size, at)),
        (Laplace(scale=1.0, l1_sensitivity=number, neighbours="replace_one"), _laplace(size, at)),
        (Exponential(epsilon=number, linf_sensitivity=1.0, neighbours="replace_one"), _choice(size, at)),
    ]
    known = [(noise, values[measure]) for noise, values in options if measure in values]
    return known[rng.integers(len(known))]


def truths(seed: int, count: int) -> Iterator[Truth]:
    """Yield `count` declarations: tables, responses and closed forms, alone or repeated."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        measure = str(rng.choice(["rho", "mu", "renyi"]))
        times = 1 if measure == "mu" else int(rng.integers(1, 6))
        order = float(np.round(rng.uniform(1.05, 30.0), 2))
        if rng.random() < 0.4:
            noise, value = _closed(rng, measure, order)
        else:
            noise, first, second = table(rng) if rng.random() < 0.6 else response(rng)
            whole = {"rho": rho, "mu": mu}
            value = whole[measure](first, second) if measure in whole else renyi(first, second, mp.mpf(str(order)))
        yield Truth(Repeat(part=Release(label="x", mechanism=noise), times=times), measure, order, value * times)
