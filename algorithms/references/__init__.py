"""Methods to compare with in a study, by name: some protect nobody, and some are private baselines of a paper."""

from importlib import import_module
from typing import Any

NAMES: dict[str, str] = {
    "lin_ucb": "linear: optimism on raw statistics, without privacy",
    "sufficient_statistics": "linear: ridge regression on noisy statistics (pure, local)",
    "gaussian_ucb": "linear: optimism on statistics with Gaussian noise (local)",
    "kernel_ucb": "kernel: optimism on raw rewards of a finite domain, without privacy",
    "rucb": "dueling: relative upper confidence bounds, without privacy",
    "double_thompson": "dueling: double Thompson sampling, without privacy",
    "rmed1": "dueling: relative minimum empirical divergence, without privacy",
}
"""Every method by name, with one line on what it is."""

_HOMES = {
    "lin_ucb": ("algorithms.lplr.baselines", "LinUcb"),
    "sufficient_statistics": ("algorithms.lplr.baselines", "SufficientStatistics"),
    "gaussian_ucb": ("algorithms.lplr.baselines", "GaussianUcb"),
    "kernel_ucb": ("algorithms.references.kernel", "KernelUcb"),
    "rucb": ("algorithms.references.dueling", "Rucb"),
    "double_thompson": ("algorithms.references.dueling", "DoubleThompsonSampling"),
    "rmed1": ("algorithms.references.dueling", "Rmed1"),
}


def load(name: str) -> Any:
    """Return the class of the method called `name`, importing only its module.

    Raises: KeyError: no such method.
    """
    module, class_name = _HOMES[name]
    return getattr(import_module(module), class_name)
