"""Dueling bandits without privacy, to compare with: uniform play, RUCB, double Thompson sampling, RMED1 and MaxInP.

They read every answer as it is, and promise nothing. Each is a policy with its own state; `simulate` runs one.
"""

from algorithms._dueling.baselines.copeland import DoubleThompson, RelativeUpperConfidence
from algorithms._dueling.baselines.divergence import RelativeMinimumDivergence
from algorithms._dueling.baselines.informative import MaximumInformativePair
from algorithms._dueling.baselines.simulation import Policy, Uniform, simulate
from algorithms.problems.duels import Duels
from dpaudit.checks import one_of

POLICIES = ("uniform", "rucb", "double_thompson", "rmed1", "maxinp")
"""The policies by name; the last one needs features."""

__all__ = [
    "POLICIES",
    "DoubleThompson",
    "MaximumInformativePair",
    "Policy",
    "RelativeMinimumDivergence",
    "RelativeUpperConfidence",
    "Uniform",
    "policy",
    "simulate",
]


def policy(name: str, problem: Duels, horizon: int) -> Policy:
    """Return a fresh policy called `name` for a problem, with the constants of its paper.

    Raises: ValueError: an unknown name, or maxinp on a problem without features.
    """
    one_of("name", name, POLICIES)
    match name:
        case "uniform":
            return Uniform(arms=problem.arms)
        case "rucb":
            return RelativeUpperConfidence(arms=problem.arms)
        case "double_thompson":
            return DoubleThompson(arms=problem.arms)
        case "rmed1":
            return RelativeMinimumDivergence(arms=problem.arms)
        case _:
            if problem.features is None:
                raise ValueError(f"Expected problem {problem.name!r} to bring features for maxinp; it brings none.")
            return MaximumInformativePair(features=problem.features)
