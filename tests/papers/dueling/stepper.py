"""DP-EBS round by round, for one run, written from Algorithm 1 alone: the slow oracle of the fast engines."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.model.mechanism import Array


class Counter:
    """A binary-tree counter in Fenwick form, with its own node noise."""

    def __init__(self, scale: float, rng: np.random.Generator) -> None:
        self.scale, self.rng, self.sums, self.noise = scale, rng, [0.0], [0.0]

    def push(self, element: float) -> float:
        n = len(self.sums)
        self.sums.append(self.sums[-1] + element)
        fresh = self.rng.laplace(0, self.scale) if self.scale else 0.0
        self.noise.append(self.noise[n & (n - 1)] + fresh)
        return self.sums[-1] + self.noise[-1]

    @property
    def clock(self) -> int:
        return len(self.sums) - 1


def step_by_step(
    *,
    arms: int,
    horizon: int,
    scale: float,
    width: Callable[..., float],
    reading: str,
    preferences: Array,
    rng: np.random.Generator,
    vote: Any = None,
) -> tuple[list[int], Array]:
    """Return (eliminated_at, plays) of one run. `width(kept, clock)`; `vote(left, right)` where not simulated."""
    left = list(range(arms))
    kept, upper, lower = [0] * arms, [math.inf] * arms, [-math.inf] * arms
    pairs, wins = np.zeros((arms, arms)), np.zeros((arms, arms))
    counters = [Counter(scale, rng) for _ in range(arms)]
    eliminated = [horizon + 1] * arms
    both = reading == "R3"

    def bound(i: int, output: float) -> None:
        if kept[i] == 0:
            upper[i], lower[i] = math.inf, -math.inf
        else:
            half = width(kept[i], counters[i].clock)
            upper[i], lower[i] = output / kept[i] + half, output / kept[i] - half

    for t in range(horizon):
        if len(left) == 1:
            pairs[left[0], left[0]] += 1
            continue
        a = min(left, key=lambda i: (kept[i], i))
        b = left[rng.integers(len(left))]
        o = vote(a, b) if vote else float(rng.random() < preferences[a, b])
        kept[a] += 1
        pairs[a, b] += 1
        wins[a, b] += o
        bound(a, counters[a].push(o))
        if both and a != b:
            kept[b] += 1
            bound(b, counters[b].push(1 - o))
        best = max(lower[i] for i in left)
        gone = [i for i in left if upper[i] < best]
        for i in gone:
            left.remove(i)
            eliminated[i] = t + 1
        for i in gone:
            for j in left:
                met, won = pairs[j, i], wins[j, i]
                if both:
                    met, won = met + pairs[i, j], won + pairs[i, j] - wins[i, j]
                kept[j] -= met
                bound(j, counters[j].push(-1.0 if reading == "R1" else -won))
    return eliminated, pairs
