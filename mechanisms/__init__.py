"""Noise: one mechanism a file. Adding one is a file, its line in `NAMES`, and nothing else."""

from importlib import import_module
from typing import Any

NAMES: dict[str, str] = {
    "ball_laplace": "Laplace noise on a vector of known l2 sensitivity",
    "discrete_gaussian": "exact integer Gaussian noise on an integer query",
    "discrete_laplace": "exact integer Laplace noise on integer queries of known l1 sensitivity",
    "exponential": "a candidate drawn with probability exponential in its utility",
    "gaussian": "Gaussian noise on a query of known l2 sensitivity",
    "joint_gaussian": "Gaussian noise on a Gram matrix and a target vector under their joint sensitivity",
    "laplace": "Laplace noise on a query of known l1 sensitivity",
    "one_sided_wishart": "KNOWN BAD: Wishart noise, whose support gives the data away",
    "randomised_response": "a category reported truthfully with a fixed advantage",
    "report_noisy_max": "the candidate whose score is largest after Laplace noise",
    "symmetric_gaussian": "Gaussian noise on a symmetric matrix of known Frobenius sensitivity",
    "symmetrised_wishart": "the difference of two Wishart matrices, on a symmetric matrix",
    "tree_aggregation": "all prefix sums of a stream, each made of a few noisy tree nodes",
}
"""Every mechanism by the name of its file, with one line on what it does."""


def load(name: str) -> Any:
    """Return the class of the mechanism called `name`, importing only its file.

    Raises: KeyError: no such mechanism.
    """
    if name not in NAMES:
        raise KeyError(name)
    return getattr(import_module(f"mechanisms.{name}"), _class_name(name))


def __getattr__(attribute: str) -> Any:
    """Return a mechanism's class by its own name, as in `from mechanisms import Gaussian`."""
    for name in NAMES:
        if _class_name(name) == attribute:
            return load(name)
    raise AttributeError(f"module 'mechanisms' has no attribute {attribute!r}")


def _class_name(name: str) -> str:
    """Return the class name of a file name: `randomised_response` holds `RandomisedResponse`."""
    return "".join(word.capitalize() for word in name.split("_"))
