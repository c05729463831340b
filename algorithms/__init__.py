"""Algorithms of papers: each a frozen config with a plan, a claim, a declaration and a vectorised run."""

from importlib import import_module
from typing import Any

NAMES: dict[str, str] = {
    "capri": "kernel contextual bandit with random projections (joint or local)",
    "dp_ebs": "dueling bandit that removes options by private running counts (central or local)",
    "g_optimal_dueling": "dueling bandit in d dimensions, by designed comparisons and private group sums",
}
"""Every algorithm by name, with one line on what it does."""

_HOMES = {
    "capri": "algorithms.capri:Capri",
    "dp_ebs": "algorithms.dp_ebs:DpEbs",
    "g_optimal_dueling": "algorithms.g_optimal:GOptimalDueling",
}


def load(name: str) -> Any:
    """Return the config class of the algorithm called `name`, importing only its module.

    Raises: KeyError: no such algorithm.
    """
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute)
