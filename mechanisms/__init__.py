"""Noise: one mechanism a file. A new one is a file, and the import of its class below."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpaudit.runtime.exports import described, lazy_exports

DISTRIBUTION = "dpaudit"
"""The distribution that this package belongs to; the guard of the package names reads this line."""

CARRIES_RELEASES = True
"""The line that asked for a release is that of the caller, as `dpaudit.model.tape` reads it."""

NAMES = described("mechanisms")
"""Every mechanism by the name of its file, with the first line of its docstring."""

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
