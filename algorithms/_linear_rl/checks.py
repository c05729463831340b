"""Conditions that runs of both algorithms check.

Each text says what the run saw and no more, so that a checked run does not discharge a general condition of the
declaration. The sensitivity is decided by replays on neighbours.
"""

from dpaudit import Condition

VALUES = Condition(
    kind="clipping",
    about=("optimistic values",),
    text="Every optimistic value lay in [0, R] of its step.",
)
FEATURES = Condition(
    kind="clipping",
    about=("feature vectors",),
    text="Every feature vector had norm at most R where it entered the statistics.",
)
TARGETS = Condition(
    kind="clipping",
    about=("regression targets",),
    text="Every regression target lay between 0 and its bound where it entered the statistics.",
)


def attained_by_construction(labels: tuple[str, ...]) -> Condition:
    """Return that one pair of records moves the releases `labels` by the stated l1 distances, which are its own.

    The pair has the unit features that `l1_moves` builds, at every step, and opposite targets; the distances that the
    releases state are measured on it.
    """
    text = "One pair of records, built from unit features, moves every matrix and vector by the stated l1 distances."
    return Condition(kind="attained", about=labels, text=text, status="checked")


TOLERANCE = 1e-9
