"""The loss of a mechanism with finitely many loss values."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dpaudit.checks import non_negative
from dpaudit.model.losses.laplace import ThresholdLoss
from dpaudit.model.losses.moment_tail import MomentTail

_VANISHED = 1e-300
_ROUNDING, _UNITS = 1e-14, 2.0**-51
"""What the rounding of stated probabilities may make of their sum, by itself and for each unit of loss."""


def _sorted(atoms: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    """Return atoms by loss, one for each and none without mass.

    Raises: ValueError: a loss that is not finite, or a probability that is none.
    """
    if {*map(type, chain.from_iterable(atoms))} <= {float}:
        values, masses = _columns(atoms or ((0.0, 1.0),))
        if np.isfinite(values).all() and (np.diff(values) > 0).all() and ((masses > 0) & (masses < math.inf)).all():
            return tuple(atoms)  # what they mostly are
    merged: dict[float, float] = {}
    for loss, probability in atoms:
        if not math.isfinite(loss):
            raise ValueError(f"Expected a finite loss, got {loss}; put infinite losses in infinite_mass.")
        merged[float(loss)] = merged.get(float(loss), 0.0) + non_negative("probability", probability)
    return tuple(sorted((v, p) for v, p in merged.items() if p > 0))


def _columns(atoms: tuple[tuple[float, float], ...]) -> NDArray[np.float64]:
    """Return the losses and their probabilities, of shape (2, n)."""
    return np.fromiter(chain.from_iterable(atoms), np.float64, 2 * len(atoms)).reshape(-1, 2).T.copy()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLoss:
    """Finitely many loss values with their probabilities under P, and a mass at infinity.

    Shape: `atoms` holds (loss, probability) pairs; the probabilities and `infinite_mass` sum to 1 under both laws, up
    to the rounding of each: 1e-14, and four units in the last place for each unit of loss. Mass that is missing has an
    unknown loss, and must be stated in `infinite_mass`. `reverse_infinite_mass` is the mass that Q puts where P has
    none. `largest` is the largest loss where that is a ratio, of which the last atom has the nearest float; without it,
    that float's decimal. `rho` is what a theorem proves of the mechanism in concentrated differential privacy, in both
    orders. `symmetric` says that the law of (Q, P) is the same, as for noise that is symmetric about 0; it is
    seen where rounding of the probabilities is all that hides it. `one_order` says that the record has the first law in
    every release of a run, as for one-sided noise; without it, each query may choose which law the record has.
    `pair` is the law of one order where this one holds the larger curve of both. `rounding` is a relative bound on what
    computing the losses has made of them, where that is more than the last place. `span` says of a law that dominates
    many pairs of neighbours that the losses of each pair lie within it of each other (bounded range); of a law that is
    attained, that each query may choose any two losses so far apart. `once` is, of a law that is attained, what
    other pairs attain: each point of its curve where the release is met once, and each of its Renyi divergences.
    `tail` bounds the moments of a symmetric law beyond its atoms.
    Raises: ValueError: a probability outside [0, 1], a loss that is not finite, a sum that is not 1, or a law that is
        said to be symmetric and has a loss l without -l.

    >>> fair_or_told = DiscreteLoss(atoms=((0.0, 0.75),), infinite_mass=0.25, reverse_infinite_mass=0.25)
    >>> fair_or_told.hockey_stick(5.0)
    0.25
    """

    atoms: tuple[tuple[float, float], ...]
    infinite_mass: float = 0.0
    reverse_infinite_mass: float = 0.0
    largest: Fraction | None = None
    rho: Fraction | None = None
    symmetric: bool = False
    one_order: bool = False
    pair: "DiscreteLoss | None" = None
    rounding: float = 0.0
    span: float | None = None
    once: ThresholdLoss | None = None
    tail: MomentTail | None = None
    _table: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "atoms", _sorted(self.atoms))
        for name in ("infinite_mass", "reverse_infinite_mass"):
            mass = non_negative(name, getattr(self, name))
            if mass > 1:
                raise ValueError(f"Expected {name}={mass} in [0, 1].")
            object.__setattr__(self, name, mass)
        object.__setattr__(self, "_table", _columns(self.atoms))
        values, masses = self._table
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):  # what is beyond a float is no sum of 1
            under = masses * np.exp(-values)
        forward, backward = masses.sum() + self.infinite_mass, under.sum() + self.reverse_infinite_mass
        blurs = [_ROUNDING + _UNITS * float(side @ np.abs(values)) for side in (masses, under)]
        if abs(forward - 1) > blurs[0] or abs(backward - 1) > blurs[1]:
            raise ValueError(
                f"Expected probabilities that sum to 1 under both laws; they sum to {forward} and {backward}. State "
                "what is missing as infinite_mass and reverse_infinite_mass; compute small ones without 1 - x."
            )

        if not self.symmetric and self._even():
            object.__setattr__(self, "symmetric", True)
        if self.symmetric and (self.infinite_mass != self.reverse_infinite_mass or not self._mirrored()):
            raise ValueError("Expected a symmetric law to have the loss -l beside each l, and equal infinite masses.")

    def _even(self) -> bool:
        """Return whether nothing but rounding tells both orders apart."""
        if self.infinite_mass != self.reverse_infinite_mass:
            return False
        mass_at = dict(self.atoms)
        return all(
            abs(mass_at.get(-loss, 0.0) - p * math.exp(-loss)) <= (_ROUNDING + _UNITS * abs(loss)) * p * math.exp(-loss)
            for loss, p in self.atoms
        )

    def _mirrored(self) -> bool:
        """Return whether each loss has its negative beside it, unless floating point cannot hold the mass of that."""
        values, masses = self._table
        with np.errstate(over="ignore", under="ignore"):
            return bool((np.isin(-values, values) | (masses * np.exp(-values) < _VANISHED)).all())

    @property
    def supremum(self) -> float:
        """The largest finite loss."""
        return self.atoms[-1][0] if self.atoms else 0.0  # they are sorted

    def hockey_stick(self, epsilon: float) -> float:
        """Return delta(epsilon) in floating point, with no claim on the last digits."""
        values, masses = self._table[:, self._table[0] > epsilon]
        with np.errstate(under="ignore"):
            return self.infinite_mass + math.fsum((-masses * np.expm1(epsilon - values)).tolist())

    def reversed(self) -> "DiscreteLoss":
        """Return the loss of (Q, P)."""
        return self if self.symmetric else _reversed(self)


LOST = DiscreteLoss(atoms=(), infinite_mass=1.0, reverse_infinite_mass=1.0)
"""The loss of a release that shows everything: delta is 1 at every epsilon."""


@lru_cache(maxsize=16)
def _reversed(loss: DiscreteLoss) -> DiscreteLoss:
    """Return the loss of (Q, P), which engines ask for many times."""
    return DiscreteLoss(
        atoms=tuple((-v, p * math.exp(-v)) for v, p in loss.atoms),
        infinite_mass=loss.reverse_infinite_mass,
        reverse_infinite_mass=loss.infinite_mass,
        rho=loss.rho,
        one_order=loss.one_order,
        rounding=loss.rounding,
        span=loss.span,
        once=loss.once,
        largest=loss.largest if loss.atoms and loss.atoms[0][0] == -loss.atoms[-1][0] else None,
    )
