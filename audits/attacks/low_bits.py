"""The last bits of floating-point outputs as an attack of their own: values that one neighbour never produces.

Rounding a sum leaves a grid that depends on the size of both terms. So noise added to 0 has finer values than the same
noise added to 1, whatever its law; and noise added to 2 has finer values between 0 and 1 than noise added to 3. So last
bits are compared in windows: all values, those of one sign between two powers of two, those of one sign below one.
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from scipy.special import betaincinv, logit, rel_entr

from audits.outputs.bits import last_bits
from audits.outputs.fields import NUMBER, Fields
from dpaudit.model.mechanism import Array

_MOST_COLUMNS, _ZERO = 16, -1100.0
_FALSE_ALARM = 1e-9
"""The probability of a guess where in each window last bits have one law under both neighbours."""

_LEVEL = 1e-3
"""The level of the bound that an event promises."""

_COARSE = 16
"""Bits below the size of the numbers at which noise is coarse: rounding errors of float32 lie below them too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LowBits:
    """A guess from one number: `second` where its last bit that is 1 has at most, or else more than, `exponent`.

    Guessed are numbers of one `sign` (0: of any) whose first bit has an exponent from `smallest` to `largest`. Numbers
    are rounded to a multiple of `grid` first; 0 leaves them as they are.
    """

    name: str
    column: int
    exponent: float
    finer: bool
    second: bool
    sign: float = 0.0
    smallest: float = -inf
    largest: float = inf
    grid: float = 0.0

    @property
    def coarse(self) -> bool:
        """Whether it reads noise on a coarse grid, and no rounding of doubles."""
        return self.grid > 0

    def __call__(self, view: Any) -> Array:
        """Return one guess a run: 1 the second neighbour, -1 the first, 0 none."""
        values = view.get(self.name) if isinstance(view, Fields) else None
        if values is None or values.shape[1] <= self.column:
            return np.zeros(len(view) if not isinstance(view, Fields) else view.runs)
        numbers = _on_grid(values[:, self.column], self.grid)
        bits = last_bits(numbers)
        event = bits <= self.exponent if self.finer else bits > self.exponent
        if self.sign:
            first = first_bits(numbers)
            event &= (np.sign(numbers) == self.sign) & (first >= self.smallest) & (first <= self.largest)
        return np.where(event, 1.0 if self.second else -1.0, 0.0)


def learn_low_bits(
    view: Any, labels: Array, counted: int | None = None, *, rounded_above: float = inf, exact: bool = False
) -> LowBits | None:
    """Return the guess from last bits that promises the largest bound on `counted` runs; None where there is none.

    The guess is fixed here: runs that are counted must be others. It is believed where last bits differ between the
    neighbours more than by chance, within its window; of outputs that are known to be rounded by their data, also where
    it promises an epsilon above `rounded_above`. Shape: `labels` is (runs,), true for the second neighbour.
    With `exact`, numbers are rounded far above the errors of their arithmetic: noise on a grid that is coarser than the
    answers still shows them, and real-valued noise shows nothing.
    Guarantee: where in each window last bits have one law under both neighbours, a guess is believed by chance with
    probability at most 1e-9, over all columns, windows and events together.
    Source: Hoeffding (1963), Section 6, for shares of draws without replacement; Bonferroni's rule.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(2_000) < 0.5
    >>> guess = learn_low_bits(Fields({NUMBER + " ": (labels + rng.laplace(size=2_000))[:, None]}), labels)
    >>> guess.second, guess.finer
    (False, True)
    """
    if not isinstance(view, Fields) or labels.all() or not labels.any():
        return None
    columns = [
        (name, column)
        for name in view
        if name.startswith(NUMBER)
        for column in range(min(view[name].shape[1], _MOST_COLUMNS))
    ]
    times = (len(labels) if counted is None else counted) / len(labels)
    best, best_guess = 0.0, None
    for name, column in columns:
        grid = _grid_of(view[name][:, column]) if exact else 0.0
        events = _events_of(_on_grid(view[name][:, column], grid), labels)
        if events is None:
            continue
        promise, guess = events.best(times, _FALSE_ALARM / len(columns), rounded_above)
        if promise > best and guess is not None:
            best, best_guess = promise, replace(guess, name=name, column=column, grid=grid)
    return best_guess


@dataclass(frozen=True, slots=True, kw_only=True)
class BitOdds:
    """Log odds of the second neighbour from a guess about last bits: `odds` where it guesses, 0 elsewhere."""

    guess: LowBits
    odds: float

    def __call__(self, view: Any) -> Array:
        """Return one number a run."""
        return self.odds * self.guess(view)


def learn_bit_odds(view: Any, labels: Array, *, rounded_above: float = inf, exact: bool = False) -> BitOdds | None:
    """Return the odds of the guess from last bits that labelled runs favour; None where there is no such guess.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(2_000) < 0.5
    >>> odds = learn_bit_odds(Fields({NUMBER + " ": (labels + rng.laplace(size=2_000))[:, None]}), labels)
    >>> odds.odds > 4
    True
    """
    guess = learn_low_bits(view, labels, rounded_above=rounded_above, exact=exact)
    if guess is None:
        return None
    made = guess(view)
    right, wrong = (int(((made > 0) & second).sum() + ((made < 0) & ~second).sum()) for second in (labels, ~labels))
    return BitOdds(guess=guess, odds=float(np.log((right + 1) / (wrong + 1))))


def _grid_of(values: Array) -> float:
    """Return a power of two far below the usual size of some numbers, and far above the errors of their arithmetic."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    return float(2.0 ** (np.floor(np.log2(np.quantile(sizes, 0.9))) - _COARSE)) if len(sizes) else 0.0


def _on_grid(values: Array, grid: float) -> Array:
    """Return numbers rounded to multiples of `grid`, a power of two or 0; what overflows stays as it is."""
    if not grid:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(values / grid) * grid
    return np.where(np.isfinite(rounded), rounded, values)


def first_bits(values: Array) -> Array:
    """Return the exponent of the first bit that is 1 of each double: the power of two that is next below its size.

    It is -1100 for 0 and NaN where not finite.

    >>> first_bits(np.array([0.5, 3.0, 0.0])).tolist()
    [-1.0, 1.0, -1100.0]
    """
    is_finite = np.isfinite(values)
    _, exponent = np.frexp(np.where(is_finite, values, 1.0))
    return np.where(is_finite, np.where(values == 0, _ZERO, exponent - 1.0), np.nan)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Events:
    """How often each event was seen: last bits up to an exponent, or beyond it, in each window of a column.

    Shape: `counts` is (neighbours, 2, windows, exponents), `totals` (neighbours, windows). `windows` holds the sign and
    the smallest and largest exponent of the first bit.
    """

    windows: tuple[tuple[float, float, float], ...]
    exponents: Array
    counts: Array
    totals: Array

    def best(self, times: float, false_alarm: float, rounded_above: float) -> tuple[float, LowBits | None]:
        """Return the largest promise of an event that is believed, on `times` as many runs, and its guess."""
        right, wrong = self.counts.max(axis=0), self.counts.min(axis=0)
        share = (right + 0.5) / (right + wrong + 1)
        seen = times * (right + wrong)
        believed = self._log_chance() <= np.log(false_alarm / right.size)
        asked = believed | (right > wrong) & np.isfinite(rounded_above)
        promise = np.zeros(right.shape)
        promise[asked] = logit(betaincinv((seen * share)[asked], (seen * (1 - share))[asked] + 1, _LEVEL))
        promise[~believed & ~(promise > rounded_above)] = 0.0
        kind, window, at = np.unravel_index(int(promise.argmax()), promise.shape)
        if promise[kind, window, at] <= 0:
            return 0.0, None
        sign, smallest, largest = self.windows[window]
        first, second = self.counts[:, kind, window, at]
        guess = LowBits(
            name="",
            column=0,
            exponent=float(self.exponents[at]),
            finer=bool(kind == 0),
            second=bool(second > first),
            sign=sign,
            smallest=smallest,
            largest=largest,
        )
        return float(promise[kind, window, at]), guess

    def _log_chance(self) -> Array:
        """Return a bound on the log probability of so large a share of each event in its window, given both sums."""
        window = self.totals[:, None, :, None]
        shares = np.divide(self.counts, window, out=np.zeros(self.counts.shape), where=window > 0)
        both = np.broadcast_to(self.counts.sum(axis=0) / np.maximum(window.sum(axis=0), 1), shares.shape)
        both = np.clip(both, 0.0, 1.0)
        apart = window * np.where(window > 0, rel_entr(shares, both) + rel_entr(1 - shares, 1 - both), 0.0)
        first, second = self.counts
        more = np.where(second > first, shares[1] > shares[0], shares[0] > shares[1])
        return np.where(more, -apart.max(axis=0), 0.0)


def _events_of(values: Array, labels: Array) -> _Events | None:
    """Return the events of a column; None for whole numbers, which have no last bits to compare."""
    is_finite = np.isfinite(values)
    values, labels = values[is_finite], labels[is_finite]
    bits, first = last_bits(values), first_bits(values)
    exponents, bit = np.unique(bits, return_inverse=True)
    if len(exponents) < 2 or exponents[exponents > _ZERO].min(initial=0.0) >= 0:
        return None
    sizes, size = np.unique(first, return_inverse=True)
    seen = np.zeros((2, 2, len(sizes), len(exponents)))
    np.add.at(seen, (labels.astype(int), (values > 0).astype(int), size.ravel(), bit.ravel()), 1)
    windows = [(0.0, -inf, inf)]
    windows += [(sign, float(exponent), float(exponent)) for sign in (-1.0, 1.0) for exponent in sizes]
    windows += [(sign, -inf, float(exponent)) for sign in (-1.0, 1.0) for exponent in sizes]
    parts = (seen.sum(axis=(1, 2))[:, None], seen, seen.cumsum(axis=2))
    windowed = np.concatenate([part.reshape(2, -1, len(exponents)) for part in parts], axis=1)
    finer, totals = windowed.cumsum(axis=2)[:, :, :-1], windowed.sum(axis=2)
    counts = np.stack([finer, totals[:, :, None] - finer], axis=1)
    return _Events(windows=tuple(windows), exponents=exponents[:-1], counts=counts, totals=totals)
