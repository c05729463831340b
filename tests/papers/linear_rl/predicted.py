"""The mu at which likelihood ratios separate two first users, from declared noise in closed form."""

import math

from algorithms.lsvi_ucb.canaries import weights_of, worst_cosine
from algorithms.lsvi_ucb.plan import BatchPlan
from algorithms.ucrl_vtr.canaries import Canary
from algorithms.ucrl_vtr.likelihood_ratio import ratio
from algorithms.ucrl_vtr.plan import products
from algorithms.ucrl_vtr.regressions import Regression


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
