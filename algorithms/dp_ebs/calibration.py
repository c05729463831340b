"""From (epsilon, horizon, options) to the noise of a tree node, of one vote, or of one batch sum."""

from algorithms.dp_ebs.readings import signs_of, touched_nodes
from dpaudit.model.mechanism import AdditiveMechanism
from mechanisms import DiscreteLaplace, Laplace, RandomisedResponse, TreeAggregation

CALIBRATIONS = ("paper", "tight")
"""The calibrations by name."""

NOISES = ("laplace", "discrete")
"""What a node's noise is drawn from: Laplace in floating point, or integers with exact probabilities."""

_SAFETY = 1 + 1e-9


def counter_tree(
    *, epsilon: float, horizon: int, arms: int, calibration: str, reading: str, noise: str
) -> TreeAggregation:
    """Return the tree of one option's counter: `horizon` answers and at most arms - 1 removals, which it must hold.

        paper   node scale 4 L / epsilon, L levels: a budget of epsilon / 4 for each tree
        tight   node scale m / epsilon, m the nodes that one answer really shifts

    Edge cases: for the readings R0 and R4 both are in vain.
    Source: Saha and Asi (2024), Lemma 2; m by enumeration of the paths, see `readings.touched_nodes`.
    """
    capacity = horizon + arms
    nodes = 4 * capacity.bit_length() if calibration == "paper" else touched_nodes(reading, capacity) * _SAFETY
    kind = DiscreteLaplace if noise == "discrete" else Laplace
    leaf: AdditiveMechanism = kind(scale=nodes / epsilon, l1_sensitivity=1, neighbours="replace_one")
    return TreeAggregation(horizon=capacity, leaf=leaf, signs=signs_of(reading))


def vote_response(epsilon: float) -> RandomisedResponse:
    """Return the randomised response that a person runs on their own answer (local model; Remark 3)."""
    return RandomisedResponse(epsilon=epsilon)


def batch_noise(epsilon: float) -> Laplace:
    """Return the noise of one batch's sums: a person's answer is in one of them, and moves it by at most 1."""
    return Laplace(scale=_SAFETY / epsilon, l1_sensitivity=1, neighbours="replace_one")
