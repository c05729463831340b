"""Five ways to read "add -1 to C^j" when an option is removed, and what a person's answer then touches.

    R1  one element -1 whatever happened: data-free, private, and a biased mean
    R2  one element, minus the wins to be taken back: an answer touches two leaves of one tree, with opposite signs
    R3  R2 with the right-hand option credited too: two leaves in the survivor's tree, one in the other's
    R0  the counter is called on a win only: its clock is the data, and it is exactly 0 before the first win
    R4  one element -1 for each win to be taken back: the stream's length is the data

R0 and R4 are what a literal reading of the pseudo-code gives. Neither is private at any epsilon.
Source: Saha and Asi (2024), Algorithm 1 and Lemma 2.
"""

from mechanisms import TreeAggregation

READINGS = ("R0", "R1", "R2", "R3", "R4")
"""The readings by name."""

BROKEN = ("R0", "R4")
"""The readings that no noise makes private."""


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
    pair = _worst(horizon, signs_of(reading))
    return pair + _worst(horizon, (1,)) if reading == "R3" else pair


def _worst(horizon: int, signs: tuple[int, ...]) -> int:
    """Return the exact count for one tree."""
    from mechanisms import Laplace

    leaf = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    tree: TreeAggregation = TreeAggregation(horizon=horizon, leaf=leaf, signs=signs)
    return int(tree.squared_nodes)
