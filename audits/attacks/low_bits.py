"""The last bits of floating-point outputs as an attack of their own: values that one neighbour never produces.

Rounding a sum leaves a grid that depends on the size of both terms. So noise added to 0 has finer values than the same
noise added to 1, whatever its law.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.attacks.bits import last_bits
from audits.outputs.fields import NUMBER, Fields
from dpaudit.model.mechanism import Array

_MOST_COLUMNS, _ZERO = 16, -1100.0
_CHANCE = 6.0
"""So many standard deviations above chance, a share is believed to differ between the neighbours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LowBits:
    """A guess from one number: `second` where its last bit that is 1 has at most, or else more than, `exponent`."""

    name: str
    place: int
    exponent: float
    finer: bool
    second: bool

    def __call__(self, view: Any) -> Array:
        """Return one guess a run: 1 the second neighbour, -1 the first, 0 none."""
        values = view.get(self.name) if isinstance(view, Fields) else None
        if values is None or values.shape[1] <= self.place:
            return np.zeros(len(view) if not isinstance(view, Fields) else view.runs)
        bits = last_bits(values[:, self.place])
        event = bits <= self.exponent if self.finer else bits > self.exponent
        guess: Array = np.where(event, 1.0 if self.second else -1.0, 0.0)
        return guess


def learn_low_bits(view: Any, labels: Array) -> LowBits | None:
    """Return the guess from last bits that labelled runs favour, None where they differ no more than by chance.

    The guess is fixed here: runs that are counted must be others. Shape: `labels` is (runs,), true for the second.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(2_000) < 0.5
    >>> guess = learn_low_bits(Fields({NUMBER + " ": (labels + rng.laplace(size=2_000))[:, None]}), labels)
    >>> guess.second, guess.finer
    (False, True)
    """
    if not isinstance(view, Fields) or labels.all() or not labels.any():
        return None
    best, found = _CHANCE, None
    for name in (name for name in view if name.startswith(NUMBER)):
        for place in range(min(view[name].shape[1], _MOST_COLUMNS)):
            excess, guess = _best_event(name, place, last_bits(view[name][:, place]), labels)
            if excess > best:
                best, found = excess, guess
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BitOdds:
    """Log odds of the second neighbour from a guess about last bits: `odds` where it guesses, 0 elsewhere."""

    guess: LowBits
    odds: float

    def __call__(self, view: Any) -> Array:
        """Return one number a run."""
        return self.odds * self.guess(view)


def learn_bit_odds(view: Any, labels: Array) -> BitOdds | None:
    """Return the odds of the guess from last bits that labelled runs favour; None where there is no such guess.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(2_000) < 0.5
    >>> odds = learn_bit_odds(Fields({NUMBER + " ": (labels + rng.laplace(size=2_000))[:, None]}), labels)
    >>> odds.odds > 4
    True
    """
    guess = learn_low_bits(view, labels)
    if guess is None:
        return None
    made = guess(view)
    right, wrong = (int(((made > 0) & second).sum() + ((made < 0) & ~second).sum()) for second in (labels, ~labels))
    return BitOdds(guess=guess, odds=float(np.log((right + 1) / (wrong + 1))))


def _best_event(name: str, place: int, bits: Array, labels: Array) -> tuple[float, LowBits | None]:
    """Return how many standard deviations above chance the best event of a column is, and its guess.

    A column of whole numbers has no event.
    """
    exponents = np.unique(bits[np.isfinite(bits)])[:-1]
    if len(exponents) == 0 or exponents[exponents > _ZERO].min(initial=0.0) >= 0:
        return 0.0, None
    order = [np.sort(bits[labels == label]) for label in (False, True)]
    first, second = (np.searchsorted(part, exponents, side="right") / len(part) for part in order)
    best, found = 0.0, None
    for finer, shares in ((True, (first, second)), (False, (1 - first, 1 - second))):
        low, high = np.minimum(*shares), np.maximum(*shares)
        runs = len(bits) / 4
        excess = (high - low) * np.sqrt(runs) / np.sqrt(low + high + 1 / runs)
        at = int(np.argmax(excess))
        if excess[at] > best:
            second_more = bool(shares[1][at] > shares[0][at])
            best = float(excess[at])
            found = LowBits(name=name, place=place, exponent=float(exponents[at]), finer=finer, second=second_more)
    return best, found
