"""Algorithms of papers: each a frozen config with a plan, a claim, a declaration and a vectorised run."""

from importlib import import_module
from typing import Any

NAMES: dict[str, str] = {
    "capri": "kernel contextual bandit with random projections (joint or local)",
    "dp_sgd": "training with noisy gradients through Opacus, or a checkpoint of it (extra 'opacus')",
    "lplr": "linear contextual bandit by layered regression on private messages (local; as printed, or repaired)",
    "ldp_obi": "optimism from counts in tabular decision processes, noised on the device (local)",
    "lsvi_ucb": "batched least-squares value iteration for linear decision processes (joint)",
    "pucb": "optimism from noisy counts in tabular decision processes (joint)",
    "ucrl_vtr": "value-targeted regression for linear-mixture decision processes (joint or local)",
    "dp_ebs": "dueling bandit that removes options by private running counts (central or local)",
    "g_optimal_dueling": "dueling bandit in d dimensions, by designed comparisons and private group sums",
}
"""Every algorithm by name, with one line on what it does."""

_HOMES = {
    "capri": "algorithms.capri:Capri",
    "dp_sgd": "algorithms.dp_sgd:DpSgd",
    "lplr": "algorithms.lplr:Lplr",
    "ldp_obi": "algorithms.ldp_obi:LdpObi",
    "lsvi_ucb": "algorithms.lsvi_ucb:LsviUcb",
    "pucb": "algorithms.pucb:Pucb",
    "ucrl_vtr": "algorithms.ucrl_vtr:UcrlVtr",
    "dp_ebs": "algorithms.dp_ebs:DpEbs",
    "g_optimal_dueling": "algorithms.g_optimal_dueling:GOptimalDueling",
}


def load(name: str) -> Any:
    """Return the config class of the algorithm called `name`, importing only its module.

    Raises: KeyError: no such algorithm.
    """
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute)
