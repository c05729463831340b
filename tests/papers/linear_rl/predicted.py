"""The mu at which likelihood ratios separate two first users: by closed forms, and as runs show it."""

import math
from typing import Any

import numpy as np

from algorithms.lsvi_ucb.canaries import weights_of, worst_cosine
from algorithms.lsvi_ucb.plan import BatchPlan
from algorithms.ucrl_vtr.canaries import Canary
from algorithms.ucrl_vtr.cases import ratio
from algorithms.ucrl_vtr.plan import products
from algorithms.ucrl_vtr.regressions import Regression
from dpaudit import AuditCase
from dpaudit.model.mechanism import Array
from tests.narrowing import present


def batches_mu(plan: BatchPlan, cosine: float | None = None) -> float:
    """The mu of two first users of LSVI-UCB at `cosine`, the worst by default."""
    a, b = weights_of(plan)
    c = worst_cosine(plan) if cosine is None else cosine
    return math.sqrt(2 * (1 - c**2) * a + 2 * (1 - c) * b)


def mixture_mu(regressions: tuple[Regression, ...], pair: tuple[Canary, Canary], nodes: int) -> float:
    """The mu of `pair` in UCRL-VTR over `nodes` nodes a regression, for Gaussian noise.

    The log likelihood ratio at the second neighbour's own mean is mu^2 / 2.
    """
    at_second = products(pair[1].features, pair[1].targets)
    return math.sqrt(2 * nodes * float(ratio(regressions, pair, at_second)))


def scores_of(case: AuditCase, runs: int, seed: int = 0) -> list[Array]:
    """The scores of runs on either neighbour."""
    rngs = np.random.default_rng(seed).spawn(2)
    return [present(case.score)(case.run(data, rng, runs)) for data, rng in zip(case.neighbours, rngs, strict=True)]


def separation(low: Array, high: Array) -> tuple[Any, float]:
    """The difference of means in standard deviations, and its standard error."""
    shift = (high.mean() - low.mean()) / math.sqrt((low.var() + high.var()) / 2)
    return shift, math.sqrt(2 / len(low)) * math.sqrt(1 + shift**2 / 8)
