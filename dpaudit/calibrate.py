"""The smallest noise that certifies a claim."""

import math
from collections.abc import Callable

from dpaudit.accountant import bracket_delta
from dpaudit.claim import Claim
from dpaudit.declaration import Declaration, Release, scaled
from dpaudit.errors import UnsupportedError
from dpaudit.folding import fold
from dpaudit.mechanism import Mechanism

_TOLERANCE = 1e-10


def smallest_noise(subject: "Declaration | Mechanism", claim: Claim) -> float:
    """Return the smallest factor on all the noise in `subject` for which the accountant certifies `claim`.

    Guarantee: scaled by the factor, `subject` is certified; by a factor 1e-9 smaller it is not (as far as the
    accountant's own bracket allows).
    Raises: UnsupportedError: no amount of noise helps (a pure claim on Gaussian noise, a stated part).
    """
    tree: Declaration = Release(label="release", mechanism=subject) if isinstance(subject, Mechanism) else subject

    def certified(factor: float) -> bool:
        form = fold(scaled(tree, factor), claim.neighbours)
        return bracket_delta(form, claim.epsilon).upper <= claim.delta

    return smallest_factor(certified, f"epsilon={claim.epsilon}, delta={claim.delta}")


def smallest_factor(holds: Callable[[float], bool], goal: str) -> float:
    """Return the smallest factor for which `holds`, within a relative 1e-10 and never below it.

    `holds` must turn from false to true once as the factor grows; `goal` names it in the error.
    Raises: UnsupportedError: it does not hold even at 1e12.
    """
    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, 4 * high
        if high > 1e12:
            raise UnsupportedError(f"No amount of noise reaches {goal}; allow a positive delta or a larger epsilon.")
    while low == 0.0:
        if high < 1e-12:
            return high
        if holds(high / 4):
            high /= 4
        else:
            low = high / 4
    while high - low > _TOLERANCE * high:
        middle = math.sqrt(low * high)
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
