"""Closed forms of the printed noise, as oracles."""

import math


def matrix_delta(budget: float, epsilon: float, first: float | None, second: float | None) -> float:
    """Return delta(epsilon) of the printed matrix noise, whose budget is `budget`, between two records.

    `first` and `second` are the records' squared scaled norms, in different cells; None is no record at all.
    Both orders differ: the law of the first record is held against that of the second.
    """
    rate = budget / 9
    if first is None and second is None:
        return 0.0
    missed = 0.0 if second is None else -math.expm1(-rate * second)
    seen = (first or 0.0) - (second or 0.0)
    return missed + (1 - missed) * max(0.0, -math.expm1(epsilon - rate * seen))


def printed_update_loss_of_one(epsilon: float) -> float:
    """Return the largest finite loss of a printed update message, one record against none: 7 epsilon / 9.

    The matrix costs epsilon / 9 of it.
    """
    return 7 * epsilon / 9


def two_laplace_delta(each: float, epsilon: float) -> float:
    """Return delta(epsilon) of two Laplace releases of shift `each` met together, for epsilon of 0 or more.

    A loss lies z below its largest value, z = 0 with probability 1/2 and else of density e^(-z / 2) / 4 up to 2 each;
    the expectation of (1 - e^(epsilon - sum))_+ is integrated over both in turn.
    """
    gap = max(0.0, 2 * each - epsilon)
    root = math.exp(-gap / 2)
    both_at_top = -math.expm1(-gap) / 4
    one_at_top = (1 - root) ** 2 / 2
    none_at_top = (4 - 4 * root**2 - 4 * gap * root) / 16
    return both_at_top + one_at_top + none_at_top
