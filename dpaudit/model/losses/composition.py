"""A multiset of losses: what engines compose."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter

from dpaudit.errors import UnsupportedError
from dpaudit.model.losses.composed import ComposedLoss, Loss, SimpleLoss
from dpaudit.model.losses.discrete import LOST
from dpaudit.model.losses.gaussian import GaussianLoss
from dpaudit.model.losses.laplace import LaplaceLoss

_MOST = 10**150  # times that a loss is met, whose square is a float


def _flat(loss: Loss, times: int) -> Iterable[tuple[SimpleLoss, int]]:
    """Return the losses that `times` copies of a loss stand for."""
    return (
        ((part, copies * times) for part, copies in loss.parts) if isinstance(loss, ComposedLoss) else ((loss, times),)
    )


@dataclass(frozen=True, slots=True)
class Composition:
    """A multiset of losses: what adaptive composition leaves of a declaration, in any order.

    Equal losses are merged and counted once, here and nowhere else. The parts are sorted, so that equal
    compositions are equal objects. The empty composition is a perfectly private release.

    >>> from dpaudit.model.losses import LaplaceLoss
    >>> Composition.of(LaplaceLoss(shift=1), LaplaceLoss(shift=1)).parts
    ((LaplaceLoss(shift=1.0), 2),)
    """

    parts: tuple[tuple[SimpleLoss, int], ...] = ()

    @classmethod
    def of(cls, *losses: Loss) -> "Composition":
        """Return the multiset of `losses`, with composed ones taken apart."""
        if len(losses) == 1 and isinstance(losses[0], LaplaceLoss | GaussianLoss) and losses[0].supremum > 0:
            return cls(((losses[0], 1),))
        return cls._merged((loss, 1) for loss in losses)

    @classmethod
    def _merged(cls, pairs: Iterable[tuple[Loss, int]]) -> "Composition":
        """Return composed losses taken apart, equal ones counted once and harmless ones dropped.

        Beside a loss of everything no other one counts.
        """
        counts: dict[SimpleLoss, int] = {}
        flat = (part for pair in pairs for part in _flat(*pair))
        for loss, times in flat:
            if times and (loss.supremum > 0 or loss.infinite_mass > 0):
                counts[loss] = counts.get(loss, 0) + times
                if counts[loss] > _MOST:
                    raise UnsupportedError(
                        f"A release that is met {Decimal(counts[loss]):.3g} times is not covered; the most is "
                        f"{_MOST:.0e}. Repeat it less often."
                    )
        if LOST in counts:
            counts = {LOST: 1}
        return cls(tuple(sorted(counts.items(), key=repr) if len(counts) > 1 else counts.items()))

    @classmethod
    def total(cls, compositions: "Iterable[Composition]") -> "Composition":
        """Return all `compositions` together, in time that grows with the number of their parts."""
        return cls._merged(part for composition in compositions for part in composition.parts)

    def __add__(self, other: "Composition") -> "Composition":
        return self._merged((*self.parts, *other.parts))

    def __mul__(self, times: int) -> "Composition":
        return self._merged((loss, times * copies) for loss, copies in self.parts)

    def reversed(self) -> "Composition":
        """Return the composition of the reversed losses: the same claim read from the other neighbour."""
        reversed_losses = [loss.reversed() for loss, _ in self.parts]
        if all(other is loss for other, (loss, _) in zip(reversed_losses, self.parts, strict=True)):
            return self
        return self._merged((other, times) for other, (_, times) in zip(reversed_losses, self.parts, strict=True))

    @property
    def events(self) -> int:
        """How many losses are composed, counted with repetition."""
        return sum(map(itemgetter(1), self.parts))
