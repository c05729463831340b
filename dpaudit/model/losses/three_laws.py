"""What a release shows of an empty sample, of a record and of the opposite record: three laws on the same outputs.

On a Poisson sample whose record is replaced the pair is (1 - q) P0 + q P+ against (1 - q) P0 + q P-. For x >= 1 its
curve is the largest u P+(S) - v P0(S) - w P-(S), u, v, w >= 0. If for each release one nested family of tests attains
both trade-offs of P+, against P0 and against P-, no record and no opposite one exceed this largest value, whatever the
weights. So several releases inside one sample may be replaced by their worst three laws one after another, the last
first, also where a query depends on earlier outputs: the three laws compose before the sample is drawn.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.model.losses.discrete import DiscreteLoss
from dpaudit.model.losses.opposed import outer_losses
from dpaudit.model.losses.sampled_ratios import sampled_losses

Floats: TypeAlias = NDArray[np.float64]
_EQUAL = 1e-12  # outputs whose logarithms differ by less may count as one
_JOINED = 2_000_000  # outputs of two releases together that are listed
_ATOMS, _OFTEN = 4096, 1e-7  # knots of a long law; up to the loss that is exceeded so often, and as many beyond
_SEEN, _TINY = 1e-60, 1e-290  # outputs that are rarer under every law, or under P0, are left out
_DOWN = 1e-13  # relative to a loss and one more nat; what rounding may make of a loss from above
_ERASED = 1e-12  # probability with which the lower pair shows nothing, so that rounding stays inside


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ThreeLaws:
    """Outputs with their masses under P0 and the logarithms of what P+ (`more`) and P- (`less`) have for each.

    Shape: (outputs,); minus infinity where a law has none. `alone` is the mass of P+ where P0 has none, `opposite` that
    of P- where the laws are not even, and `left_out` a bound on the mass of other outputs. `even` says that P+ and P-
    may change places. `blur` bounds what joining outputs has made of the logarithms.
    """

    masses: Floats
    more: Floats
    less: Floats
    alone: float = 0.0
    opposite: float = 0.0
    left_out: float = 0.0
    even: bool = True
    blur: float = 0.0

    @property
    def less_alone(self) -> float:
        """The mass of P- where P0 has none."""
        return self.alone if self.even else self.opposite

    def joined(self, other: "ThreeLaws") -> "ThreeLaws":
        """Return both releases together, outputs that are alike in all three laws as one."""
        products = np.outer(self.masses, other.masses).ravel()
        more, less = np.add.outer(self.more, other.more).ravel(), np.add.outer(self.less, other.less).ravel()
        top = np.maximum(0.0, np.maximum(more, less))
        seen = (np.log(np.maximum(products, _TINY)) + top > math.log(_SEEN)) & (products > _TINY)
        unseen = math.fsum(np.minimum(1.0, np.maximum(products, _TINY) * np.exp(np.minimum(top, 700.0)))[~seen])
        masses, more, less = _merged(products[seen], more[seen], less[seen])
        return ThreeLaws(
            masses=masses,
            more=more,
            less=less,
            alone=self.alone + other.alone - self.alone * other.alone,
            opposite=(alone := self.less_alone) + (other_alone := other.less_alone) - alone * other_alone,
            left_out=min(1.0, self.left_out + other.left_out + unseen),
            even=self.even and other.even,
            blur=self.blur + other.blur + 2 * _EQUAL,
        )


def composed_laws(parts: Iterable[tuple[ThreeLaws, int]]) -> ThreeLaws | None:
    """Return all releases together, each so many times; None where their outputs are too many to list.

    >>> fair = ThreeLaws(masses=np.array([0.5, 0.5]), more=np.log([1.5, 0.5]), less=np.log([0.5, 1.5]))
    >>> whole = composed_laws([(fair, 2)])
    >>> len(whole.masses), round(float(whole.masses.max()), 12)
    (3, 0.5)
    """
    composed: ThreeLaws | None = None
    for laws, times in sorted(parts, key=lambda part: len(part[0].masses)):
        power: ThreeLaws | None = laws
        for bit in bin(times)[:1:-1]:
            if power is None:
                return None
            if bit == "1" and (composed := power if composed is None else _within_reach(composed, power)) is None:
                return None
            power = _within_reach(power, power)
    return composed


def _within_reach(first: ThreeLaws, second: ThreeLaws) -> ThreeLaws | None:
    """Return both together, unless there are too many outputs."""
    return first.joined(second) if len(first.masses) * len(second.masses) <= _JOINED else None


def _merged(masses: Floats, more: Floats, less: Floats) -> tuple[Floats, Floats, Floats]:
    """Return outputs, those as one whose logarithms agree; each of the three laws keeps its mass."""
    keys = [np.where(np.isfinite(ratios), np.round(ratios / _EQUAL), -np.inf) for ratios in (more, less)]
    order = np.lexsort(keys)
    new = np.ones(len(order), bool)
    new[1:] = (keys[0][order][1:] != keys[0][order][:-1]) | (keys[1][order][1:] != keys[1][order][:-1])
    first, group = order[new], np.cumsum(new) - 1
    total = np.bincount(group, masses[order])
    moved = []
    for ratios in (more, less):
        base = ratios[first]
        off = np.where(
            np.isfinite(base[group]), ratios[order] - np.where(np.isfinite(base[group]), base[group], 0.0), 0.0
        )
        moved.append(np.asarray(base + np.log1p(np.bincount(group, masses[order] * np.expm1(off)) / total), np.float64))
    return np.asarray(total, np.float64), moved[0], moved[1]


def sampled_apart(laws: ThreeLaws, rate: float, *, above: bool) -> DiscreteLoss:
    """Return the loss of (1 - rate) P0 + rate P+ against (1 - rate) P0 + rate P-, rounded to one side.

    Guarantee: the curve lies nowhere below the exact one (nowhere above it), up to the rounding of stated masses.
    Edge cases: many outputs are put on a few thousand losses, which keeps both laws.

    >>> fair = ThreeLaws(masses=np.array([0.5, 0.5]), more=np.log([1.5, 0.5]), less=np.log([0.5, 1.5]))
    >>> loss = sampled_apart(fair, 0.5, above=True)
    >>> loss.symmetric, round(loss.supremum, 9) == round(math.log(1.25 / 0.75), 9)
    (True, True)
    """
    more, less = sampled_losses(laws.more, rate), sampled_losses(laws.less, rate)
    first = laws.masses * np.exp(more)
    shared = (more > -np.inf) & (less > -np.inf) & (first > 0)
    lost = rate * laws.alone + math.fsum(first[~shared]) + (laws.left_out if above else 0.0)
    other = lost if laws.even else rate * laws.less_alone + math.fsum((laws.masses * np.exp(less))[~shared])
    losses, masses = more[shared] - less[shared], first[shared]
    if laws.even and not above:
        losses, masses = losses[losses > _DOWN], masses[losses > _DOWN]
    if len(losses) > 4 * _ATOMS:
        losses, masses = _spread(losses, masses) if above else _gathered(losses, masses)
    share = 1.0 if above else 1 - _ERASED
    if above:
        off = laws.blur + _DOWN * (1 + np.abs(losses))
        near = np.abs(losses) <= off  # half of which may lie above 0
        losses, masses = losses + off * (1 + near), np.where(near & laws.even, masses / 2, masses)
    law = _even if laws.even else partial(_uneven, above=above)
    return outer_losses(law(losses, masses * share, min(1.0, lost * share), min(1.0, other * share)), above=above)


def _even(losses: Floats, masses: Floats, lost: float, other: float) -> DiscreteLoss:
    """Return the symmetric law with the masses at positive losses, what is left being at 0."""
    masses, losses = masses[losses > 0], losses[losses > 0]
    mirrored = masses * np.exp(-losses)
    at_zero = 1 - lost - math.fsum((*masses, *mirrored))
    atoms = ((0.0, max(0.0, at_zero)), *_pairs(-losses, mirrored), *_pairs(losses, masses))
    return DiscreteLoss(atoms=atoms, infinite_mass=lost, reverse_infinite_mass=other, symmetric=True)


def _uneven(losses: Floats, masses: Floats, lost: float, other: float, *, above: bool) -> DiscreteLoss:
    """Return the law with the masses at any losses; what both laws lack is at 0.

    What one law lacks by rounding is met by itself from above, and is not at infinity from below.
    """
    lacks = 1 - lost - math.fsum(masses), 1 - other - math.fsum(masses * np.exp(-losses))
    at_zero = max(0.0, min(lacks))
    alone = max(0.0, lacks[1] - at_zero) if above else 0.0
    atoms = ((0.0, at_zero), *_pairs(losses, masses))
    return DiscreteLoss(atoms=atoms, infinite_mass=lost, reverse_infinite_mass=min(1.0, other + alone))


def _pairs(losses: Floats, masses: Floats) -> Iterator[tuple[float, float]]:
    """Return losses with their masses as plain numbers."""
    return zip(losses.tolist(), masses.tolist(), strict=True)


def _knots(losses: Floats, masses: Floats) -> Floats:
    """Return losses for many outputs: dense where most of them lie, and 0 among them."""
    order = np.argsort(-np.abs(losses))
    often = float(np.abs(losses)[order][np.searchsorted(np.cumsum(masses[order]), _OFTEN, side="right") - 1])
    far = float(np.abs(losses).max())
    sides = [np.linspace(0.0, end, _ATOMS // 2) for end in (often, far)]
    return np.unique(np.concatenate([*sides, *(-side for side in sides)]))


def _spread(losses: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Return the outputs shared between the losses beside them, so that both laws keep their masses: from above."""
    knots = _knots(losses, masses)
    at = np.clip(np.searchsorted(knots, losses, side="right") - 1, 0, len(knots) - 2)
    share = np.clip(np.expm1(knots[at] - losses) / np.expm1(knots[at] - knots[at + 1]), 0.0, 1.0)
    knot_masses = np.bincount(at, masses * (1 - share), len(knots)) + np.bincount(at + 1, masses * share, len(knots))
    return knots[knot_masses > 0], np.asarray(knot_masses[knot_masses > 0], np.float64)


def _gathered(losses: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """Return the outputs of each cell as one, which any law dominates."""
    at = np.searchsorted(_knots(losses, masses), losses, side="right")
    cell_masses, other = np.bincount(at, masses), np.bincount(at, masses * np.exp(-losses))
    not_tiny = (cell_masses > 1e-290) & (other > 1e-290)
    return np.log(cell_masses[not_tiny] / other[not_tiny]), np.asarray(cell_masses[not_tiny], np.float64)
