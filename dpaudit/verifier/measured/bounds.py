"""Bounds on a multiset of losses in each measure, by formulas of this checker's own.

rho of a Gaussian is mu^2 / 2, of Laplace noise x - 1 + e^-x, of a bounded range r / (E - 1) - 1 + ln((E - 1) / r) with
E = e^r; of atoms it is the supremum of chords over the orders, as (a - 1) R_a is convex. Divergences add up. What is
not known here is left open, never guessed.
"""

import math
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.losses import Loss, Multiset, reversed_all
from dpaudit.verifier.refusals import Table

Bounds = tuple[float, float]
"""A lower and an upper bound; 0 and infinity where nothing is known."""

OPEN: Bounds = (0.0, math.inf)
_POWERS = np.geomspace(1e-7, 1e9, 20_000)
_ULPS = 4e-15  # relative; a dozen roundings
_SLIP = 1e-9  # relative; more than rounding makes of a supremum


def between(measure: str, at: float, alternatives: list[Multiset]) -> Bounds:
    """Return bounds on the largest value over alternatives and both orders of the neighbours."""
    ways = [way for held in alternatives for way in (held, reversed_all(held))]
    if measure == "profile":
        return Worst(alternatives).delta(at)
    sides = [_mu(way, alternatives) if measure == "mu" else _added(measure, at, way) for way in ways]
    lows, highs = zip(*sides, strict=True)
    return max(lows), max(highs)


def apart(node: Table, measure: str) -> tuple[Table, float]:
    """Return a tree without the parts stated in rho or mu, and what these add: rho, or mu as a square."""
    kind = node["node"]
    if kind == "stated":
        square, rho = node.get("mu", math.inf) ** 2, node.get("rho", math.inf)
        amount = {"mu": square, "profile": math.inf}.get(measure, min(rho, square / 2))
        return (node, 0.0) if amount == math.inf else ({**node, "epsilon": 0.0, "delta": 0.0}, float(amount))
    if kind == "sequential":
        parts, amounts = zip(*(apart(part, measure) for part in node["parts"]), strict=True)
        return {**node, "parts": list(parts)}, math.fsum(amounts)
    if kind in ("repeat", "post_process", "billboard", "local"):
        part, amount = apart(node["part"], measure)
        return {**node, "part": part}, amount * node.get("times", 1)
    return node, 0.0


def added(measure: str, at: float, bounds: Bounds, told: float) -> Bounds:
    """Return bounds with what stated parts add: mu in squares, a divergence by its order."""
    if not told:
        return bounds
    if measure == "mu":
        low, high = (math.sqrt(end * end + told) for end in bounds)
    else:
        low, high = (end + told * (at if measure == "renyi" else 1) for end in bounds)
    return low * (1 - _ULPS), high * (1 + _ULPS)


def lost(alternatives: list[Multiset]) -> float:
    """Return the largest mass that one loss puts where the other neighbour has none."""
    ways = [way for held in alternatives for way in (held, reversed_all(held))]
    return max((float(loss[2]) for way in ways for loss in way if loss[0] == "discrete"), default=0.0)


def _added(measure: str, at: float, losses: Multiset) -> Bounds:
    """Return the sum of the bounds of all losses; from below the limit at order 1 counts, where all have one."""
    sides = [(_rho(loss) if measure == "rho" else _renyi(loss, at), n) for loss, n in losses.items() if loss[1]]
    if any(low == math.inf for (low, _), _ in sides):
        return math.inf, math.inf
    low, high = (math.fsum(side[end] * n for side, n in sides) for end in (0, 1))
    if measure == "rho" and len(losses) == 1:  # one kind has its supremum at one order, however often it is met
        low = max(low, *(_shown(loss) * n for loss, n in losses.items()))
    return low, high


def _infinite(loss: Loss) -> bool:
    """Return whether some output has no counterpart under the other neighbour."""
    return loss[0] == "discrete" and bool(loss[2])


def _rho(loss: Loss) -> Bounds:
    """Return bounds on the rho of one loss; the lower one is its divergence at order 1."""
    if _infinite(loss):
        return math.inf, math.inf
    kind, size = loss[0], loss[1]
    if kind == "gaussian":
        return _rounded(size * size / 2)
    if kind == "laplace":
        exact = size + math.expm1(-size)
        return exact * (1 - _SLIP) - 1e-15, exact * (1 + _SLIP) + 1e-15
    if kind == "range":
        share = math.expm1(size) / size if 1e-3 < size < 500 else 0.0
        return 0.0, (1 / share - 1 + math.log(share) if share else size * size / 8) * (1 + _SLIP) + 1e-14
    return _of_atoms(loss) if kind == "discrete" else OPEN


def _rounded(value: float) -> Bounds:
    """Return bounds on a number of a few roundings, among them that of mu, which is squared."""
    return value * (1 - _ULPS), value * (1 + _ULPS)


def _shown(loss: Loss) -> float:
    """Return what some order shows of the rho of finite losses, or 0."""
    moments = _log_moments(loss) * (1 - _SLIP) - 1e-14 if loss[0] == "discrete" else np.zeros(1)
    return max(0.0, float((moments / (_POWERS * (1 + _POWERS))).max()))


def _log_moments(loss: Loss) -> Any:
    """Return `_log_moment` at every power."""
    values, masses = np.array(loss[1]).T
    return np.array([_log_moment(values, masses, power) for power in _POWERS])


def _of_atoms(loss: Loss) -> Bounds:
    """Return bounds on the rho of finite losses: at order 1 from below, chords over the orders from above."""
    values, masses = np.array(loss[1]).T
    mean, top = float(masses @ values), float(np.abs(values).max())
    moments = _log_moments(loss) * (1 + _SLIP) + 1e-14
    low, high = _POWERS[:-1], _POWERS[1:]
    slope = np.diff(moments) / (high - low)
    start = np.minimum(0.0, moments[:-1] - slope * low)  # (u + v s) / (s (1 + s)) is largest at a knot or a root
    best = np.clip((-start + np.sqrt(start * start - start * slope)) / np.maximum(slope, 1e-300), low, high)
    chord = (moments[:-1] + slope * (best - low)) / (best * (1 + best))
    cells = np.maximum(chord, np.maximum(moments[:-1] / (low * (1 + low)), moments[1:] / (high * (1 + high))))
    first = float(moments[0] / _POWERS[0])
    return max(0.0, mean * (1 - _SLIP) - 1e-13), max(first, float(cells.max()), top / float(_POWERS[-1]))


def _log_moment(values: Any, masses: Any, power: float) -> float:
    """Return ln E[e^(power L)]; near 0 by the excess over 1."""
    if power * float(np.abs(values).max()) < 1:
        return math.log1p(float(masses @ np.expm1(power * values)))
    largest = float(values.max())
    return power * largest + math.log(float(np.exp(power * (values - largest)) @ masses))


def _renyi(loss: Loss, order: float) -> Bounds:
    """Return bounds on the divergence of one loss at an order."""
    if _infinite(loss):
        return math.inf, math.inf
    kind, size, s = loss[0], loss[1], order - 1
    if kind == "gaussian":
        return _rounded(order * size * size / 2)
    if kind == "laplace":
        value = (s * size + math.log1p(s / (2 * s + 1) * math.expm1(-(2 * s + 1) * size))) / s
    elif kind == "discrete":
        values, masses = np.array(size).T
        value = _log_moment(values, masses, s) / s
    elif kind == "range":
        low = -math.expm1(-s * size)
        high = math.expm1(size) + low
        best = s * high / (order * low)
        value = math.log(best) + math.log(high / order / math.expm1(size)) / s
        return 0.0, value * (1 + _SLIP) + 1e-13 / s
    else:
        return OPEN
    return max(0.0, value * (1 - _SLIP) - 1e-13 / s), value * (1 + _SLIP) + 1e-13 / s


def _mu(losses: Multiset, alternatives: list[Multiset]) -> Bounds:
    """Return bounds on mu: squares of Gaussian ones add up; of others what some epsilon shows, and the largest loss."""
    if any(map(_infinite, losses)):
        return math.inf, math.inf
    if {loss[0] for loss in losses if loss[1]} <= {"gaussian"}:
        return _rounded(math.sqrt(math.fsum(loss[1] ** 2 * n for loss, n in losses.items())))
    curve = Worst(alternatives)
    shown = [_mu_at(epsilon, curve.delta(float(epsilon))[0]) for epsilon in np.linspace(0.0, 6.0, 61)]
    squares = [(_of_largest(loss) ** 2, n) for loss, n in losses.items() if loss[1]]
    return max(shown), math.sqrt(math.fsum(square * n for square, n in squares)) * (1 + _SLIP)


def _of_largest(loss: Loss) -> float:
    """Return a mu for a Gaussian, or for what loses at most so much either way."""
    if loss[0] == "gaussian":
        return float(loss[1])
    if loss[0] == "discrete":
        largest = max(abs(value) for value, _ in loss[1])
        return -2 * float(ndtri(1 / (1 + math.exp(largest)))) if largest < 700 else math.inf
    return -2 * float(ndtri(1 / (1 + math.exp(loss[1])))) if loss[0] in ("laplace", "range") else math.inf


def _mu_at(epsilon: float, delta: float) -> float:
    """Return a mu whose Gaussian has at most this delta at an epsilon, rounded down."""
    low, high = 0.0, 40.0
    if delta <= 0:
        return 0.0
    for _ in range(60):
        mu = (low + high) / 2
        value = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
        low, high = (mu, high) if value < delta * (1 - 1e-9) - 1e-13 else (low, mu)
    return low
