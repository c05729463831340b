"""The loss of any releases on a sample: the losses inside are composed first, and sampled after."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, get_args

from dpaudit.checks import count, meant, one_of, open_probability
from dpaudit.errors import UnsupportedError
from dpaudit.model.losses.sampled_gaussian import SampledOrder

if TYPE_CHECKING:
    from dpaudit.model.losses.composed import SimpleLoss


_EXACT = 1000


def infinite_of(inside: "tuple[tuple[SimpleLoss, int], ...]") -> Fraction | float:
    """Return the mass at infinity of all losses together, exactly for up to a thousand, else rounded up."""
    masses = [(loss.infinite_mass, times) for loss, times in inside if loss.infinite_mass]
    if any(mass == 1 for mass, _ in masses):
        return Fraction(1)
    if sum(times for _, times in masses) <= _EXACT:
        return 1 - math.prod(((1 - meant(mass)) ** times for mass, times in masses), start=Fraction(1))
    return -math.expm1(math.fsum(times * math.log1p(-mass) for mass, times in masses)) * (1 + 1e-14)


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledLoss:
    """The loss of (1 - rate) Q + rate P against Q, (P, Q) being all `inside` together; or of the reverse, order "add".

    Edge cases: the mass at infinity of (P, Q) counts `rate` times; a mass that only Q has is met as -ln(1 - rate).
    Raises: ValueError: nothing inside, a rate outside (0, 1), or an unknown order.
    Source: Zhu, Dong and Wang (2022), Theorem 11; Balle, Barthe and Gaboardi (2018), Theorem 2.

    >>> from dpaudit.model.losses import LaplaceLoss
    >>> noise = SampledLoss(inside=((LaplaceLoss(shift=1.0), 1),), rate=0.1)
    >>> round(noise.hockey_stick(0.05), 10), round(noise.reversed().hockey_stick(0.05), 10)
    (0.0254013898, 0.0082179483)
    """

    inside: "tuple[tuple[SimpleLoss, int], ...]"
    rate: float
    order: SampledOrder = "remove"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", open_probability("rate", self.rate))
        one_of("order", self.order, get_args(SampledOrder))
        if not self.inside:
            raise ValueError("Expected one loss or more inside a sample, got none.")
        for _, times in self.inside:
            count("times", times)

    @property
    def supremum(self) -> float:
        """The largest finite loss, rounded up."""
        if self.order == "add":
            return math.nextafter(-math.log1p(-self.rate), math.inf)
        largest = math.fsum(loss.supremum * times for loss, times in self.inside)
        if largest > 700:
            return largest
        return math.log1p(self.rate * math.expm1(max(0.0, largest))) * (1 + 1e-14) + 1e-300

    @property
    def infinite_mass(self) -> float:
        """The probability, under P, of an output that Q cannot produce."""
        if self.order == "add":
            return 0.0
        lost = infinite_of(self.inside)
        return float(meant(self.rate) * lost) if isinstance(lost, Fraction) else self.rate * lost

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits.

        Of several losses inside, what their sum of curves gives: nowhere less, and about as large where it is small.
        """
        if self.order == "remove":
            inner = math.expm1(epsilon) + self.rate
            if inner <= 0:
                return -math.expm1(epsilon)
            return self.rate * self._plain(math.log(inner / self.rate), back=False)
        outer = -math.expm1(epsilon) + math.exp(epsilon) * self.rate
        if outer <= 0:
            return 0.0
        return outer * self._plain(epsilon + math.log(self.rate) - math.log(outer), back=True)

    def _plain(self, epsilon: float, *, back: bool) -> float:
        """Return the delta of what is inside, of either order."""
        losses = ((loss.reversed() if back else loss, times) for loss, times in self.inside)
        return min(1.0, math.fsum(times * loss.hockey_stick(epsilon) for loss, times in losses))

    def reversed(self) -> "SampledLoss":
        """Return the loss of (Q, P)."""
        return replace(self, order="add" if self.order == "remove" else "remove")

    def group(self, size: int) -> "SampledLoss":
        """Return the loss itself for one record; several sampled records are covered for Gaussian releases only.

        Raises: UnsupportedError: size above 1.
        """
        if size == 1:
            return self
        raise UnsupportedError(
            f"'group' of size {size} over 'subsample' is covered for Gaussian releases on a 'poisson' sample only. "
            "Sample persons, not records, and put the group inside the sample."
        )
