"""How truthful a report may be that is shuffled with others: the epsilon of one report, from the claim for them all."""

import math
from collections.abc import Callable
from functools import lru_cache

from dpaudit import Declaration, Shuffle, bracket_epsilon, fold

_MOST = 12.0
"""The largest epsilon of a report that is tried; a vote of it is false once in 160,000 times."""

_CLOSE = 0.01
_STEPS = 16

ReportOf = Callable[[float], Declaration]
"""report_of(epsilon) -> one user's report of that epsilon."""


@lru_cache(maxsize=64)
def report_epsilon(report_of: ReportOf, *, epsilon: float, delta: float, users: int) -> float:
    """Return an epsilon of reports of which `users` shuffled ones are (epsilon, delta)-private, 0.99 of it if found.

    The accountant says what they are, and its upper bound is read. The first guess takes sums of reports for normal:
    one answer moves a mean by 2 sinh(e / 2) / sqrt(users) deviations, e the epsilon of a report.
    Edge cases: reports of `epsilon` always meet the claim; above 12 nats no others are looked for.
    """
    if epsilon >= _MOST:
        return epsilon
    low, high = epsilon, _MOST
    tried = 2 * math.asinh(epsilon / math.sqrt(-2 * math.log(delta)) * math.sqrt(users) / 2)
    for _ in range(_STEPS):
        if not low < tried < high:
            tried = (low + high) / 2
        shuffled = fold(Shuffle(part=report_of(tried), users=users), "replace_one")
        excess = math.log(max(bracket_epsilon(shuffled, delta).upper, 1e-300) / epsilon)
        low, high = (tried, high) if excess <= 0 else (low, tried)
        if -_CLOSE <= excess <= 0 or high - low <= _CLOSE * low:
            break
        tried -= 2 * (excess + _CLOSE / 2)  # the logarithm of the proved epsilon grows like half of a report's epsilon
    return low
