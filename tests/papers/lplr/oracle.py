"""The oracle of Algorithm 2 written down user by user, with a dictionary for a tree: slow, and without any array trick.

It follows Figure 2 and Algorithms 3 to 6 for one action in the repaired variant with calibrated widths, draws every
user's noise for every stored bin that somebody falls in, and shares no code with the lock-step run but the noise.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from algorithms.lplr.plan import Plan
from dpaudit.model.mechanism import Array
from tests.narrowing import present, scale_of


class Node:
    """A stored bin: what was published about it."""

    def __init__(self, u: Array, slope: float, eta: Callable[[Array], float], parent: "Node | None") -> None:
        self.u, self.slope, self.eta, self.parent = u, slope, eta, parent


def key_of(vector: Array, gamma: float, depth: int) -> int:
    best = 0
    for k in range(depth + 1):
        if np.linalg.norm(vector) <= gamma**-k:
            best = k
    return best


def walked(
    phi: Array, tree: dict[tuple[int, ...], Node], layers: int, gamma: float, depth: int
) -> tuple[tuple[int, ...], Array, float, Node | None] | None:
    """The bin of `phi` on the layer after `layers`: its key, what is left, the prediction and the width so far."""
    key: tuple[int, ...] = ()
    left, prediction, node = phi, 0.0, None
    for _ in range(layers):
        key = (*key, key_of(left, gamma, depth))
        node = tree.get(key)
        if node is None:
            return None
        along = float(node.u @ left)
        prediction += node.slope * along
        left = left - along * node.u
    return (*key, key_of(left, gamma, depth)), left, prediction, node


def width_at(phi: Array, node: Node | None) -> float:
    return 0.0 if node is None else node.eta(phi)


def naive_oracle(
    plan: Plan, phases: Iterator[list[tuple[Array, Any]]], users: int, rng: np.random.Generator
) -> dict[Any, Any]:
    """The tree after all phases; `phases` yields lists of (features, reward), one entry a user."""
    tree: dict[tuple[int, ...], Node] = {}
    for layer in range(1, plan.dimension + 1):
        sums = update_sums(plan, tree, layer, next(phases), rng)
        found = {}
        for key, held in sums.items():
            fit = fitted(plan, tree, layer, key, held, users)
            if fit is not None:
                found[key] = fit
        totals = confidence_sums(plan, tree, layer, found, next(phases), rng) if layer > 1 else {}
        for key, fit in found.items():
            tree[key] = stored(plan, tree, layer, key, fit, totals.get(key), users)
    return tree


def update_sums(
    plan: Plan,
    tree: dict[tuple[int, ...], Node],
    layer: int,
    arrived: list[tuple[Array, float]],
    rng: np.random.Generator,
) -> dict[tuple[int, ...], list[Any]]:
    """Algorithm 3: every user adds something, if only noise, to every bin that somebody falls in."""
    gamma, depth, d = plan.resolution.gamma, plan.resolution.depth, plan.dimension
    bound = 1.0 if layer == 1 else 2.0
    places = [walked(phi, tree, layer - 1, gamma, depth) for phi, _ in arrived]
    keys = sorted({place[0] for place in places if place is not None and place[0][-1] < depth})
    sums: dict[tuple[int, ...], list[Any]] = {key: [0.0, np.zeros(d), np.zeros((d, d))] for key in keys}
    for (_, reward), place in zip(arrived, places, strict=True):
        for key, held in sums.items():
            mine, scaled, residual = 0.0, np.zeros(d), 0.0
            if place is not None and place[0] == key:
                mine, scaled = 1.0, place[1] * gamma ** key[-1]
                residual = (reward - min(1.0, max(-1.0, place[2]))) / bound
            held[0] += plan.leaves.of("count").release(np.array([mine]), rng)[0]
            held[1] = held[1] + plan.leaves.of("vector").release(residual * scaled, rng)
            held[2] = held[2] + plan.leaves.of("matrix").release(np.outer(scaled, scaled), rng)
    return sums


def fitted(
    plan: Plan, tree: dict[tuple[int, ...], Node], layer: int, key: tuple[int, ...], held: list[Any], users: int
) -> tuple[Array, float, float, Any, float] | None:
    """Algorithm 4 with calibrated thresholds: direction, slope, eigenvalue, share, width; None where inactive."""
    (count, vector, matrix), d, gamma, z = held, plan.dimension, plan.resolution.gamma, plan.quantile
    parents = [tree[key[:place]].u for place in range(1, layer)]
    away = np.eye(d) - sum((np.outer(u, u) for u in parents), np.zeros((d, d)))
    values, vectors = np.linalg.eigh(away @ matrix @ away)
    u, top, psi = vectors[:, -1], values[-1], count / users
    deviation = scale_of(plan.leaves.of("matrix")) * math.sqrt(2 * (d + 1) * users * d)
    if psi <= z * scale_of(plan.leaves.of("count")) * math.sqrt(2 / users) or top <= z * deviation:
        return None
    reach, bound = gamma ** -key[-1], 1.0 if layer == 1 else 2.0
    slope = max(-1.0, min(1.0, bound / reach * float(u @ vector) / top))
    s = min(reach**2, max(reach**2 / (gamma**2 * 2 * d), reach**2 * top / (psi * users)))
    return u, slope, s, psi, reach


def confidence_sums(
    plan: Plan,
    tree: dict[tuple[int, ...], Node],
    layer: int,
    found: dict[Any, Any],
    arrived: list[tuple[Array, float]],
    rng: np.random.Generator,
) -> dict[Any, float]:
    """Algorithm 5, the users' part, in units of gamma^-k / sqrt(s)."""
    totals = dict.fromkeys(found, 0.0)
    for phi, _ in arrived:
        place = walked(phi, tree, layer - 1, plan.resolution.gamma, plan.resolution.depth)
        for key, (u, _, _, _, reach) in found.items():
            entry = 0.0
            if place is not None and place[0] == key:
                entry = width_at(phi, place[3]) * abs(float(u @ place[1])) / reach
            totals[key] += plan.leaves.of("width").release(np.array([entry]), rng)[0]
    return totals


def stored(
    plan: Plan,
    tree: dict[tuple[int, ...], Node],
    layer: int,
    key: tuple[int, ...],
    fit: Any,
    total: float | None,
    users: int,
) -> Node:
    """The bin with its width as a function of the features."""
    (u, slope, s, psi, reach), z, d = fit, plan.quantile, plan.dimension
    bound, parent, mean = 1.0 if layer == 1 else 2.0, tree.get(key[:-1]), 0.0
    if total is not None:
        noise = z * scale_of(plan.leaves.of("width")) * math.sqrt(2 / users) / psi
        mean = (max(0.0, total / (psi * users)) + noise) * reach / math.sqrt(s)
    noisy = 2 * users * (bound * reach * scale_of(plan.leaves.of("vector"))) ** 2
    deviation = scale_of(plan.leaves.of("matrix")) * math.sqrt(2 * (d + 1) * users * d)
    radius = z * (math.sqrt(noisy + users * psi * (bound * reach) ** 2) + reach**2 * deviation) / (s * psi * users)

    def eta(phi: Array) -> float:
        left = present(walked(phi, tree, len(key) - 1, plan.resolution.gamma, plan.resolution.depth))[1]
        along = abs(float(u @ left))
        return min(1.0, max(0.0, width_at(phi, parent) + along * radius + mean * along / math.sqrt(s)))

    return Node(u, slope, eta, parent)


def naive_prediction(plan: Plan, tree: dict[tuple[int, ...], Node], phi: Array) -> tuple[float, float]:
    """The value and half width at `phi`: walk until a bin is missing (Algorithm 6)."""
    gamma, depth = plan.resolution.gamma, plan.resolution.depth
    value, half_width = 0.0, 0.0
    for layer in range(1, plan.dimension + 1):
        key, left, value, node = present(walked(phi, tree, layer - 1, gamma, depth))
        here = tree.get(key) if key[-1] < depth else None
        if here is None:
            half_width = min(1.0, width_at(phi, node) + gamma ** -key[-1])
            break
        value += here.slope * float(here.u @ left)
        half_width = here.eta(phi)
    if half_width >= 1:
        return 0.0, 1.0
    return max(-1.0, min(1.0, value)), half_width
