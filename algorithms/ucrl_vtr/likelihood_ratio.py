"""Likelihood ratios of released sums and of messages, by the declared noise: no test of two first users does better."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.ucrl_vtr.canaries import Canary
from algorithms.ucrl_vtr.plan import products
from algorithms.ucrl_vtr.regressions import Regression
from algorithms.ucrl_vtr.sums import parts_of
from dpaudit.model.mechanism import Array


def nodes_of(view: Mapping[str, Array], episode: int) -> Array:
    """Return the nodes that hold `episode`, as the target and noise alone left them. Shape: (n_runs, m, G, d, d + 1).

    Prefix k less prefix k - lowbit(k) is the node that ends at k.
    """
    own = view["released"] - view["others"]
    length = own.shape[1]
    nodes: list[Array] = []
    k = episode
    while k <= length:
        before = k & (k - 1)
        nodes.append(own[:, k - 1] - (own[:, before - 1] if before else 0.0))
        k += k & -k
    return np.stack(nodes, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BillboardRatio:
    """The log likelihood ratio of all nodes that hold the target, second neighbour over first: no test does better."""

    regressions: tuple[Regression, ...]
    pair: tuple[Canary, Canary]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run. Shape: (n_runs,)."""
        nodes = nodes_of(view, self.pair[0].episode)
        scores: Array = ratio(self.regressions, self.pair, nodes).sum(axis=1)
        return scores


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MessageRatio:
    """The log likelihood ratio of one message."""

    regressions: tuple[Regression, ...]
    pair: tuple[Canary, Canary]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a user. Shape: (n_runs,)."""
        return ratio(self.regressions, self.pair, view["message"])


def ratio(regressions: tuple[Regression, ...], pair: tuple[Canary, Canary], outputs: Array) -> Array:
    """Return the log likelihood ratio of outputs (..., G, d, d + 1) over all regressions. Shape: (...)."""
    first, second = (products(canary.features, canary.targets) for canary in pair)
    total: Any = 0.0
    for index, regression in enumerate(regressions):
        for side, value in ((-1.0, first[index]), (1.0, second[index])):
            for (_, mechanism, output), (_, _, mean) in zip(
                parts_of(regression, outputs[..., index, :, :]), parts_of(regression, value), strict=True
            ):
                density = mechanism.log_density(output, mean)
                surplus = density.ndim - (outputs.ndim - 3)
                total = total + side * (density.sum(axis=tuple(range(-surplus, 0))) if surplus else density)
    result: Array = total
    return result
