"""The privacy claims that algorithms make: one unit of each kind, and records that are replaced."""

from typing import cast

from dpaudit import Claim
from dpaudit.model.claim import Model

ROUND = "one round: a context and its reward"
MESSAGE = "one user's context, action and reward"
EPISODE = "one user's whole episode"
ANSWER = "one person's answer to one comparison"


def claim_of(unit: str, model: str, epsilon: float, delta: float = 0.0) -> Claim:
    """Return the claim of (epsilon, delta) where one `unit` is replaced; `model` is one that the settings have checked.

    >>> claim_of(ROUND, "joint", 1.0, 1e-5).unit
    'one round: a context and its reward'
    """
    return Claim(epsilon=epsilon, delta=delta, neighbours="replace_one", model=cast("Model", model), unit=unit)
