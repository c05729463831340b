"""The noise of DP-EBS: how many tree nodes one answer shifts, and the mechanisms calibrated to that number.

There are five ways to read "add -1 to C^j" when an option is removed; each touches other nodes:

    R1  one element -1 whatever happened: data-free, private, and a biased mean
    R2  one element, minus the wins to be taken back: an answer touches two leaves of one tree, with opposite signs
    R3  R2 with the right-hand option credited too: two leaves in the survivor's tree, one in the other's
    R0  the counter is called on a win only: its clock is the data, and it is exactly 0 before the first win
    R4  one element -1 for each win to be taken back: the stream's length is the data

R0 and R4 are what a literal reading of the pseudo-code gives. Neither is private at any epsilon.
Source: Saha and Asi (2024), Algorithm 1 and Lemma 2.
"""

from algorithms.dp_ebs.settings import DpEbsSettings
from dpaudit.model.mechanism import AdditiveMechanism
from mechanisms import DiscreteLaplace, Laplace, RandomisedResponse, TreeAggregation

_SAFETY = 1 + 1e-9


def signs_of(reading: str) -> tuple[int, ...]:
    """Return the signs with which one answer enters the tree of the option that stays."""
    return (1,) if reading == "R1" else (1, -1)


def touched_nodes(reading: str, horizon: int) -> int:
    """Return the most tree nodes that one answer shifts by 1, in trees of `horizon` elements.

    Exact for R1, R2 and R3, each node counted once whatever the sign; for R0 and R4 that of R2, to which their
    noise is calibrated in vain.

    >>> [touched_nodes(reading, 100_005) for reading in ("R1", "R2", "R3")]
    [17, 33, 50]
    """
    pair = _most_nodes(horizon, signs_of(reading))
    return pair + _most_nodes(horizon, (1,)) if reading == "R3" else pair


def tree_of(settings: DpEbsSettings) -> TreeAggregation:
    """Return the mechanism of one option's counter: `horizon` answers and at most arms - 1 removals must fit.

        paper   node scale 4 L / epsilon, L levels: a budget of epsilon / 4 for each tree
        tight   node scale m / epsilon, m the nodes that one answer really shifts

    Edge cases: for the readings R0 and R4 both are in vain.
    Source: Saha and Asi (2024), Lemmas 1 and 2; m by enumeration of the paths, see `touched_nodes`.
    """
    capacity = settings.horizon + settings.arms
    if settings.calibration == "paper":
        nodes: float = 4 * capacity.bit_length()
    else:
        nodes = touched_nodes(settings.removal, capacity) * _SAFETY
    kind = DiscreteLaplace if settings.noise == "discrete" else Laplace
    leaf: AdditiveMechanism = kind(scale=nodes / settings.epsilon, l1_sensitivity=1, neighbours="replace_one")
    return TreeAggregation(horizon=capacity, leaf=leaf, signs=signs_of(settings.removal))


def vote_response(epsilon: float) -> RandomisedResponse:
    """Return the randomised response that a person runs on their own answer (local model; Remark 3)."""
    return RandomisedResponse(epsilon=epsilon)


def batch_noise(epsilon: float) -> Laplace:
    """Return the noise of one batch's sums: a person's answer is in one of them, and moves it by at most 1."""
    return Laplace(scale=_SAFETY / epsilon, l1_sensitivity=1, neighbours="replace_one")


def _most_nodes(horizon: int, signs: tuple[int, ...]) -> int:
    """Return the exact count for one tree, whose squared shift is the number of nodes shifted by 1."""
    leaf = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    tree: TreeAggregation = TreeAggregation(horizon=horizon, leaf=leaf, signs=signs)
    return int(tree.squared_nodes)
