"""The oracle of Algorithm 2 written down user by user, with a dictionary for a tree: slow, and without any array trick.

It follows Figure 2 and Algorithms 3 to 6 for one action in the repaired variant with calibrated widths, draws every
user's noise for every stored bin that somebody falls in, and shares no code with the lock-step run but the noise.
"""

import math

import numpy as np


class Node:
    """A stored bin: what was published about it."""

    def __init__(self, u, slope, eta, parent):
        self.u, self.slope, self.eta, self.parent = u, slope, eta, parent


def key_of(vector, gamma, depth):
    best = 0
    for k in range(depth + 1):
        if np.linalg.norm(vector) <= gamma**-k:
            best = k
    return best


def walked(phi, tree, layers, gamma, depth):
    """The bin of `phi` on the layer after `layers`: its key, what is left, the prediction and the width so far."""
    left, prediction, node, key = phi, 0.0, None, ()
    for _ in range(layers):
        key = (*key, key_of(left, gamma, depth))
        node = tree.get(key)
        if node is None:
            return None
        along = float(node.u @ left)
        prediction += node.slope * along
        left = left - along * node.u
    return (*key, key_of(left, gamma, depth)), left, prediction, node


def width_at(phi, node):
    return 0.0 if node is None else node.eta(phi)


def naive_oracle(plan, phases, users, rng):
    """The tree after all phases; `phases` yields lists of (features, reward), one entry a user."""
    gamma, depth, d = plan.resolution.gamma, plan.resolution.depth, plan.dimension
    count_noise, vector_noise, matrix_noise = (plan.leaves.of(label) for label in ("count", "vector", "matrix"))
    z, tree = plan.quantile, {}
    for layer in range(1, d + 1):
        bound = 1.0 if layer == 1 else 2.0
        sums = {}
        arrived = next(phases)
        places = [walked(phi, tree, layer - 1, gamma, depth) for phi, _ in arrived]
        stored = sorted({place[0] for place in places if place is not None and place[0][-1] < depth})
        for key in stored:
            sums[key] = [0.0, np.zeros(d), np.zeros((d, d))]
        for (_, reward), place in zip(arrived, places, strict=True):
            for key in stored:
                mine = place is not None and place[0] == key
                scaled = place[1] * gamma ** key[-1] if mine else np.zeros(d)
                residual = (reward - min(1.0, max(-1.0, place[2]))) / bound if mine else 0.0
                sums[key][0] += count_noise.release(np.array([float(mine)]), rng)[0]
                sums[key][1] = sums[key][1] + vector_noise.release(residual * scaled, rng)
                sums[key][2] = sums[key][2] + matrix_noise.release(np.outer(scaled, scaled), rng)
        found = {}
        for key in stored:
            count, vector, matrix = sums[key]
            parents = [tree[key[:place]].u for place in range(1, layer)]
            away = np.eye(d) - sum((np.outer(u, u) for u in parents), np.zeros((d, d)))
            values, vectors = np.linalg.eigh(away @ matrix @ away)
            u, top, psi = vectors[:, -1], values[-1], count / users
            deviation = matrix_noise.scale * math.sqrt(2 * (d + 1) * users * d)
            count_deviation = count_noise.scale * math.sqrt(2 / users)
            if psi <= z * count_deviation or top <= z * deviation:
                continue
            reach = gamma ** -key[-1]
            slope = max(-1.0, min(1.0, bound / reach * float(u @ vector) / top))
            s = min(reach**2, max(reach**2 / (gamma**2 * 2 * d), reach**2 * top / (psi * users)))
            found[key] = (u, slope, s, psi, reach, deviation)
        means = {}
        if layer > 1:
            totals = dict.fromkeys(found, 0.0)
            for phi, _ in next(phases):
                place = walked(phi, tree, layer - 1, gamma, depth)
                for key, (u, _, _, _, reach, _) in found.items():
                    mine = place is not None and place[0] == key
                    entry = width_at(phi, place[3]) * abs(float(u @ place[1])) / reach if mine else 0.0
                    totals[key] += plan.leaves.of("width").release(np.array([entry]), rng)[0]
            noise = z * plan.leaves.of("width").scale * math.sqrt(2 / users)
            for key, (_, _, s, psi, reach, _) in found.items():
                means[key] = (max(0.0, totals[key] / (psi * users)) + noise / psi) * reach / math.sqrt(s)
        for key, (u, slope, s, psi, reach, deviation) in found.items():
            vector_part = math.sqrt(
                2 * users * (bound * reach * vector_noise.scale) ** 2 + users * psi * (bound * reach) ** 2
            )
            radius = z * (vector_part + reach**2 * deviation) / (s * psi * users)
            parent = tree.get(key[:-1])

            def eta(phi, u=u, radius=radius, mean=means.get(key, 0.0), s=s, parent=parent, key=key):
                left = walked(phi, tree, len(key) - 1, gamma, depth)[1]
                along = abs(float(u @ left))
                return min(1.0, max(0.0, width_at(phi, parent) + along * radius + mean * along / math.sqrt(s)))

            tree[key] = Node(u, slope, eta, parent)
    return tree


def naive_prediction(plan, tree, phi):
    """The value and half width at `phi`: walk until a bin is missing (Algorithm 6)."""
    gamma, depth = plan.resolution.gamma, plan.resolution.depth
    value, half_width = 0.0, 0.0
    for layer in range(1, plan.dimension + 1):
        key, left, value, node = walked(phi, tree, layer - 1, gamma, depth)
        here = tree.get(key) if key[-1] < depth else None
        if here is None:
            half_width = min(1.0, width_at(phi, node) + gamma ** -key[-1])
            break
        value += here.slope * float(here.u @ left)
        half_width = here.eta(phi)
    if half_width >= 1:
        return 0.0, 1.0
    return max(-1.0, min(1.0, value)), half_width
