"""The smallest noise of a mechanism whose own loss meets a claim."""

from typing import Protocol, Self, TypeVar

from dpaudit import Claim, meets, smallest_holding
from dpaudit.model.losses import SimpleLoss


class Scalable(Protocol):
    """A mechanism that knows its loss at any noise."""

    def loss(self) -> SimpleLoss:
        """Return the loss of one release."""
        ...

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        ...


Scaled = TypeVar("Scaled", bound=Scalable)


def meeting(unit: Scaled, claim: Claim) -> Scaled:
    """Return `unit` with the smallest noise that meets `claim`, within 1e-9 and never below.

    Raises: UnsupportedError: no amount of noise helps.
    """

    def holds(factor: float) -> bool:
        return meets(unit.scaled(factor).loss(), claim.epsilon, claim.delta)

    return unit.scaled(smallest_holding(holds, f"epsilon={claim.epsilon}, delta={claim.delta}"))
