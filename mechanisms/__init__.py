"""Noise: one mechanism a file. A new one is a file, its line in `NAMES`, and its import below."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpaudit.runtime.exports import lazy_exports

DISTRIBUTION = "dpaudit"
"""The distribution that this package belongs to; the guard of the package names reads this line."""

CARRIES_RELEASES = True
"""The line that asked for a release is that of the caller, as `dpaudit.model.tape` reads it."""

NAMES: dict[str, str] = {
    "above_threshold": "which of many queries exceed a threshold, until so many did (sparse vector)",
    "above_threshold_answers": "KNOWN BAD: a sparse vector that prints the noisy answers it compared",
    "ball_laplace": "Laplace noise on a vector of known l2 sensitivity",
    "discrete_gaussian": "exact integer Gaussian noise on an integer query",
    "discrete_laplace": "exact integer Laplace noise on integer queries of known l1 sensitivity",
    "exponential": "a candidate drawn with probability proportional to e^(epsilon utility / (2 linf_sensitivity))",
    "finite": "a release with finitely many outcomes, given by its two laws",
    "gaussian": "Gaussian noise on a query of known l2 sensitivity",
    "joint_gaussian": "Gaussian noise on a Gram matrix and a target vector under their joint sensitivity",
    "laplace": "Laplace noise on a query of known l1 sensitivity",
    "matrix": "a stream through a strategy matrix, Gaussian noise on every row",
    "noisy_plurality": "the label with most votes after Gaussian noise, as in PATE",
    "one_sided_wishart": "KNOWN BAD: Wishart noise, whose support gives the data away",
    "permute_and_flip": "the candidate whose score is largest after exponential noise",
    "randomised_response": "a category reported truthfully with a fixed advantage",
    "report_noisy_max": "the candidate whose score is largest after Laplace noise",
    "subset_selection": "a random set of categories that holds the true one with a fixed advantage",
    "symmetric_gaussian": "Gaussian noise on a symmetric matrix of known Frobenius sensitivity",
    "symmetrised_wishart": "the difference of two Wishart matrices, on a symmetric matrix",
    "tree_aggregation": "all prefix sums of a stream, each made of a few noisy tree nodes",
    "truncated_discrete_gaussian": "exact integer Gaussian noise that never exceeds a bound",
    "unary_encoding": "a category as bits of which one is set, each flipped by itself, as in RAPPOR",
}
"""Every mechanism by the name of its file, with one line on what it does."""

if TYPE_CHECKING:
    from mechanisms.above_threshold import AboveThreshold as AboveThreshold
    from mechanisms.above_threshold_answers import AboveThresholdAnswers as AboveThresholdAnswers
    from mechanisms.ball_laplace import BallLaplace as BallLaplace
    from mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from mechanisms.exponential import Exponential as Exponential
    from mechanisms.finite import Finite as Finite
    from mechanisms.gaussian import Gaussian as Gaussian
    from mechanisms.joint_gaussian import JointGaussian as JointGaussian
    from mechanisms.laplace import Laplace as Laplace
    from mechanisms.matrix import Matrix as Matrix
    from mechanisms.noisy_plurality import NoisyPlurality as NoisyPlurality
    from mechanisms.one_sided_wishart import OneSidedWishart as OneSidedWishart
    from mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from mechanisms.randomised_response import RandomisedResponse as RandomisedResponse
    from mechanisms.report_noisy_max import ReportNoisyMax as ReportNoisyMax
    from mechanisms.subset_selection import SubsetSelection as SubsetSelection
    from mechanisms.symmetric_gaussian import SymmetricGaussian as SymmetricGaussian
    from mechanisms.symmetrised_wishart import SymmetrisedWishart as SymmetrisedWishart
    from mechanisms.tree_aggregation import TreeAggregation as TreeAggregation
    from mechanisms.truncated_discrete_gaussian import TruncatedDiscreteGaussian as TruncatedDiscreteGaussian
    from mechanisms.unary_encoding import UnaryEncoding as UnaryEncoding
else:
    __getattr__, __dir__ = lazy_exports(__name__)


def load(name: str) -> Any:
    """Return the class of the mechanism called `name`, importing only its file.

    Raises: KeyError: no such mechanism.
    """
    if name not in NAMES:
        raise KeyError(name)
    class_name = "".join(word.capitalize() for word in name.split("_"))
    return getattr(import_module(f"mechanisms.{name}"), class_name)
