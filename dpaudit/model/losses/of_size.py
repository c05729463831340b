"""What losses share that one number describes, the same for both orders of a pair of neighbours."""

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, Self

from dpaudit.checks import meant, non_negative


class LossOfSize:
    """A loss by the number in its field `size`, with the same curve in both orders and no impossible output.

    `exact` is that number as a ratio: the shortest decimal of the number, or what `exactly` was given.
    """

    __slots__ = ()
    size: ClassVar[str]
    rounded: ClassVar[Callable[[Fraction], float]] = float
    """How a ratio becomes the number of the field."""
    exact: Fraction
    infinite_mass: ClassVar[float] = 0.0
    """The probability, under P, of an output that Q cannot produce."""

    def __post_init__(self) -> None:
        number = non_negative(self.size, getattr(self, self.size))
        object.__setattr__(self, self.size, number)
        object.__setattr__(self, "exact", meant(number))

    @classmethod
    def exactly(cls, ratio: Fraction) -> Self:
        """Return the loss of a number that is a ratio; the field then has the float that `rounded` makes of it."""
        loss = object.__new__(cls)
        object.__setattr__(loss, cls.size, non_negative(cls.size, cls.rounded(ratio)))
        object.__setattr__(loss, "exact", ratio)
        return loss

    def reversed(self) -> Self:
        """Return the loss of (Q, P), which is the same."""
        return self
