"""The privacy of the printed noise in closed form.

The accountant arrives at the same numbers from the declaration; nothing here is used to certify anything.
"""

import math


def delta_floor(epsilon: float) -> float:
    """Return the delta that printed Wishart noise has at *every* epsilon, however large: 1 - e^(-epsilon / 9).

    That is of a record of norm 1; the floor does not depend on the dimension.
    Proof: a record adds A = x x^T to W, whose density on the cone of positive semi-definite matrices is proportional
    to e^(-c tr W) with c = 1 / (2 * 4.5 / epsilon) and 0 outside, so that P(W >= A) = e^(-c tr A).

    >>> [round(delta_floor(epsilon), 6) for epsilon in (0.1, 0.5, 1.0, 4.0)]
    [0.01105, 0.054041, 0.105161, 0.35882]
    """
    return -math.expm1(-epsilon / 9)


def printed_update_loss(epsilon: float) -> float:
    """Return the largest finite loss of a printed update message, residuals being at most 1: 4 epsilon / 3.

    Counts and vectors cost epsilon / 3 in each of the two cells that a replacement changes; at equal norms the matrix
    noise adds nothing finite. Attained by records of norm 1 with equal entries, in different cells.
    """
    return 4 * epsilon / 3


def printed_confidence_loss(epsilon: float) -> float:
    """Return the loss of a printed confidence message beyond the first layer: 2 epsilon, one for each cell."""
    return 2 * epsilon
