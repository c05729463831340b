"""Finite losses on a sample: in which order they meet the neighbours, and integer noise whose record is replaced."""

import math
from collections import Counter

import numpy as np
from scipy.special import ndtr

from dpaudit.verifier.losses import Loss, Multiset, discrete, either, on_sample, reverse
from dpaudit.verifier.mechanisms import sides_of
from dpaudit.verifier.refusals import Table, positive
from dpaudit.verifier.shape import TABLES
from dpaudit.verifier.shifts import Array

_LINE = ("discrete_laplace", "discrete_gaussian", "truncated_discrete_gaussian")


def either_answer(part: Table) -> Multiset:
    """Return the larger curve of a table of two laws, one of which a sample without the record has; else nothing."""
    noise = _noise(part)
    return either(sides_of(noise, noise["neighbours"])[0]) if noise.get("name") == "finite" else Counter()


def mapped(part: Multiset, rate: float) -> Loss:
    """Return one finite loss on a sample that holds the record with probability `rate`, atom by atom."""
    ((_, atoms, lost, other),) = part
    held: Counter[float] = Counter({math.log1p(-rate): (1 - rate) * other})
    for v, p in atoms:
        grown = v + math.log(rate + (1 - rate) * math.exp(-v)) if v > 1 else math.log1p(rate * math.expm1(v))
        held[grown] += rate * p + (1 - rate) * p * math.exp(-v)
    return discrete(list(held.items()), rate * lost)


def orders_alone(node: Table, relation: str) -> bool:
    """Return whether a node's alternatives are the orders of a sampled part, which a run does not change."""
    kind, parts = node["node"], node.get("parts", [node.get("part")])
    if kind in ("subsample", "allocate"):
        key = "allocate" if kind == "allocate" else node.get("scheme", "poisson")
        ordered = relation != "replace_one" != TABLES["relations"][key].get(relation)
        return ordered and _single(node["part"])
    if kind == "sequential":
        return all(_single(part) or orders_alone(part, relation) for part in parts)
    return kind in ("repeat", "post_process", "billboard") and orders_alone(node["part"], relation)


def _single(node: Table) -> bool:
    """Return whether a part has one alternative."""
    if node["node"] in ("release", "stated"):
        return True
    parts = node.get("parts", [node.get("part")])
    return node["node"] in ("sequential", "repeat", "post_process", "billboard", "local", "group") and all(
        map(_single, parts)
    )


def opposed(part: Table, rate: float, *, low: bool) -> Loss | None:
    """Return the law of ln (first / second), first and second with the record at +move and at -move; None if unknown.

    Outputs lie around 0, the noise being even: the ratio of noise at k - move and at k, in logarithms, is `away`.
    """
    noise = _noise(part)
    name, lost = noise.get("name"), 0.0
    if name not in _LINE:
        return None
    if name == "discrete_laplace":
        move, unit = noise["l1_sensitivity"], positive(noise, "scale")
        at = np.arange(-move, move + 1)
        masses = np.exp(-abs(at) / unit) * math.tanh(0.5 / unit)
        masses[[0, -1]] = math.exp(-move / unit) / (1 + math.exp(-1 / unit))
        away = (abs(at) - abs(at - move)) / unit
    else:
        move, unit = noise["l2_sensitivity"], positive(noise, "stddev")
        cut = name != "discrete_gaussian"
        reach = round(noise["cut"] * unit) if cut else math.ceil(22 * unit) + move + 1
        at = np.arange(-reach, reach + 1)
        masses = np.exp(-((at / unit) ** 2) / 2)
        masses /= masses.sum()
        away = np.where(cut & (at < move - reach), -np.inf, (at - move / 2) * (move / unit**2))
        lost = rate * float(masses[max(0, len(at) - move) :].sum()) if cut else 0.0 if low else 1e-106
    with np.errstate(divide="ignore"):
        near = np.log1p(rate * np.expm1(np.minimum(away, 1.0))) if rate < 1 else np.minimum(away, 1.0)
    grown = np.where(away > 1, away + np.log(rate + (1 - rate) * np.exp(-np.maximum(away, 1.0))), near)
    held = np.isfinite(grown) & np.isfinite(grown[::-1])
    first, loss = masses * np.exp(grown), grown[held] - grown[::-1][held]
    lost += float(first[~held].sum())
    return discrete(list(zip(loss.tolist(), first[held].tolist(), strict=True)), min(1.0, lost), min(1.0, lost))


def zeroed(mu: float, rate: float) -> Loss:
    """Return what is above a record of a fixed-size sample against its zero: all others opposite; back, all alike.

    Where all are opposite the loss is 0 at the output 1.5 mu and grows from there; what lies below is one output.
    """
    z = np.concatenate(([-np.inf], 1.5 * mu + np.arange(0, mu + 14, 1 / 256), [np.inf]))
    p, q = _cells(z, mu, rate)
    far, near = (np.logaddexp(math.log1p(-rate), math.log(rate) + m * z[1:-1] - m * m / 2) for m in (2 * mu, mu))
    at = np.maximum.accumulate(np.maximum(far - near, 0.0))
    rise = p[1:-1] - q[1:-1] * np.exp(at[:-1]) + 256 * 2.0**-53 * (1 + z[1:-2] ** 2) * p[1:].sum()
    up = np.clip(rise / -np.expm1(-np.maximum(np.diff(at), 1e-300)), 0.0, p[1:-1])
    held = [*zip(at[:-1], p[1:-1] - up, strict=True), *zip(at[1:], up, strict=True), (math.log(p[0] / q[0]), p[0])]
    whole = discrete([(float(v), float(mass)) for v, mass in held], float(p[-1]))
    return ("between", ("halves", whole, reverse(on_sample("gaussian", mu, rate))), zeroed_cells(mu, rate))


def zeroed_cells(mu: float, rate: float) -> Loss:
    """Return the same where all others are opposite, seen through cells of outputs."""
    p, q = _cells(np.concatenate(([-np.inf], np.arange(-12, 12 + 2 * mu, 1 / 256), [np.inf])), mu, rate)
    return discrete(list(zip(np.log(p / q).tolist(), p.tolist(), strict=True)))


def _cells(z: Array, mu: float, rate: float) -> tuple[Array, Array]:
    """Return the masses between outputs of a record that moves twice and once as far, each with its chance."""
    rows = []
    for move in (2 * mu, mu):
        over, under = ((1 - rate) * ndtr(s * z) + rate * ndtr(s * (z - move)) for s in (-1, 1))
        rows.append(np.where(over[:-1] < 0.5, over[:-1] - over[1:], under[1:] - under[:-1]))
    return rows[0], rows[1]


def _noise(part: Table) -> Table:
    """Return the mechanism of a part that is one release, post-processed or not; empty for any other."""
    while part["node"] in ("post_process", "billboard"):
        part = part["part"]
    noise: Table = part.get("mechanism", {})
    return {} if "stated" in noise else noise
