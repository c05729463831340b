"""A privacy loss cut into cells of equal width, from which both bounds of the transform start.

Knots l_0 < l_1 < ... lie `width` apart. A cell is the event that the loss L lies between two neighbouring
knots; all that matters of it is its probability p under P and q under Q. Those two numbers are held as

    up   = (p - q e^(l_j)) / (1 - e^-width)         down = p - up,

the one way to split p between the two knots that keeps both p and q ("connect the dots"). Each is the
integral of a positive function and computed as such, so that it is right to a *relative* `error`; nothing
is ever the difference of nearly equal numbers. Atoms that lie on a knot are held in `knots`.
Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), Section 4.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from dpaudit.checks import meant
from dpaudit.engines.cells.half_lines import half_line_cells
from dpaudit.engines.cells.mixture import MOST_CELLS, KnotCells, mixture_cells
from dpaudit.errors import UnsupportedError
from dpaudit.model.losses import (
    AllocatedLoss,
    ApproximateLoss,
    AverageLoss,
    ChoiceLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    MixtureLoss,
    SampledGaussianLoss,
    SampledLoss,
    SimpleLoss,
    StitchedLoss,
)
from dpaudit.model.losses.sampled_ratios import absent, sampled_losses

Floats: TypeAlias = NDArray[np.float64]
_TINY = 1e-300  # stands for a probability that underflows: one unit when rounded up, none when rounded down
_SNAP = 1e-9  # an atom this near to a knot, in units of the width, is put on it


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscretisedLoss:
    """Probabilities under P of knots and cells, each within a relative `error`.

    Shape: `knots` has one entry more than `up` and `down`. `above` and `below` bound the probability of a
    loss outside all cells, `below_other` that under Q of a loss below them; every stated loss is within `slack`
    of the true one.
    """

    origin: Fraction
    width: Fraction
    knots: Floats
    up: Floats
    down: Floats
    infinite: float = 0.0
    above: float = 0.0
    below: float = 0.0
    below_other: float = 0.0
    error: float
    slack: Fraction = Fraction(0)


def own_cells(loss: SimpleLoss, width: float, tail: float) -> DiscretisedLoss:
    """Return `loss` in cells of about `width`; losses of probability about `tail` may be left outside.

    A loss with atoms takes the nearest finer width that puts them on knots, where there is one.
    Raises: UnsupportedError: a choice, or a loss made of others.
    """
    match loss:
        case GaussianLoss(mu=mu):
            return _gaussian(mu, width, tail)
        case SampledGaussianLoss():
            return _sampled(loss, width, tail)
        case LaplaceLoss(shift=shift, exact=exact):
            return replace(_laplace(shift, width), slack=abs(exact - Fraction(shift)))
        case ApproximateLoss(epsilon=epsilon, delta=delta):
            low = math.exp(-epsilon) if epsilon < 700 else _TINY
            knots = np.array([low, 1.0]) * (1 - delta) / (1 + low) if epsilon else np.array([1 - delta])
            none = np.zeros(len(knots) - 1)
            spread = Fraction(2 * epsilon or 1.0)
            return DiscretisedLoss(
                origin=-Fraction(epsilon),
                width=spread,
                knots=knots,
                up=none,
                down=none,
                infinite=delta,
                error=2e-15,
                slack=abs(meant(epsilon) - Fraction(epsilon)),
            )
        case DiscreteLoss():
            return _atoms(loss, width)
        case MixtureLoss():
            return _half_lines(loss, width, tail)
        case SampledLoss() | AverageLoss() | StitchedLoss() | AllocatedLoss() | ChoiceLoss():
            raise UnsupportedError("A loss made of others has no cells of its own.")
        case _:
            assert_never(loss)


def deviation(loss: SimpleLoss) -> float:
    """Return the standard deviation of a loss under P, in floating point; it only steers grid widths."""
    match loss:
        case GaussianLoss(mu=mu):
            return mu
        case SampledGaussianLoss(mu=mu, rate=rate):
            x = np.linspace(-12, 12 + mu, 4001)
            losses = sampled_losses(mu * x - mu * mu / 2, rate)
            density = absent(rate) * np.exp(-x * x / 2) + rate * np.exp(-((x - mu) ** 2) / 2)
            return _deviation(losses, density)
        case SampledLoss(inside=inside, rate=rate):
            return max(rate * deviation(part) * math.sqrt(times) for part, times in inside)
        case AverageLoss(options=weighted):
            return max(deviation(part) for _, part in weighted)
        case StitchedLoss(positive=part, negative=_):
            return deviation(part)
        case AllocatedLoss(inside=inside, steps=steps):
            return max(deviation(part) * math.sqrt(times / steps) for part, times in inside)
        case LaplaceLoss(shift=shift) if shift > 1:
            return math.sqrt(4 - 4 * (shift + 1) * math.exp(-shift) - math.expm1(-shift) ** 2)
        case LaplaceLoss(shift=shift):
            cells = _laplace(shift, shift / 64)
        case ChoiceLoss(options=options):
            return max(deviation(option) for option in options)
        case _:
            cells = own_cells(loss, 1e-3, 0.0)
    masses = cells.knots.copy()
    masses[1:] += cells.up
    masses[:-1] += cells.down
    return _deviation(np.asarray(float(cells.origin) + float(cells.width) * np.arange(len(masses)), np.float64), masses)


def _deviation(losses: Floats, masses: Floats) -> float:
    """Return the standard deviation of atoms."""
    share = masses / masses.sum()
    return math.sqrt(float(share @ (losses - share @ losses) ** 2))


def _laplace(shift: float, width: float) -> DiscretisedLoss:
    """Return the loss of Laplace(shift, 1) against Laplace(0, 1); a half and e^-shift/2 are atoms at +-shift.

    Between them the density under P is e^((l - shift)/2) / 4, whose integrals are elementary.
    """
    number = min(MOST_CELLS, 1 << max(2, math.ceil(math.log2(2 * shift / width))))
    exact = 2 * Fraction(shift) / number
    h = float(exact)
    lower_ends = h * np.arange(number) - 2 * shift
    common = np.exp(lower_ends / 2) / 2 * math.expm1(-h / 2) ** 2 / -math.expm1(-h)
    knots = np.zeros(number + 1)
    knots[0], knots[-1] = max(math.exp(-shift) / 2, _TINY), 0.5
    return DiscretisedLoss(
        origin=-Fraction(shift),
        width=exact,
        knots=knots,
        up=np.maximum(common * math.exp(h / 2), _TINY),
        down=np.maximum(common, _TINY),
        error=1e-14 * (2 + shift),
    )


def _gaussian(mu: float, width: float, tail: float) -> DiscretisedLoss:
    """Return the loss of N(mu, 1) against N(0, 1)."""
    return _cells_of(mixture_cells(mu, 1.0, width, tail))


def _half_lines(loss: MixtureLoss, width: float, tail: float) -> DiscretisedLoss:
    """Return the loss of two mixtures of shifts."""
    return _cells_of(half_line_cells(loss, width, tail))


def _sampled(loss: SampledGaussianLoss, width: float, tail: float) -> DiscretisedLoss:
    """Return the loss of a Gaussian release on a Poisson sample."""
    held = mixture_cells(loss.mu, loss.rate, width, tail)
    cells = _cells_of(held)
    return cells if loss.order == "remove" else _swapped(cells, above=held.below_other, below=cells.above)


def _cells_of(held: KnotCells) -> DiscretisedLoss:
    """Return cells without atoms."""
    return DiscretisedLoss(
        origin=held.origin,
        width=Fraction(held.width),
        knots=np.zeros(len(held.up) + 1),
        up=held.up,
        down=held.down,
        above=held.above,
        below=held.below,
        below_other=held.below_other,
        error=held.error,
        slack=Fraction(held.slack),
    )


def _swapped(cells: DiscretisedLoss, above: float, below: float) -> DiscretisedLoss:
    """Return the cells of the reversed loss: an atom of p at l becomes one of p e^-l at -l."""
    losses = float(cells.origin) + float(cells.width) * np.arange(len(cells.knots))
    weight = np.exp(-losses)
    return DiscretisedLoss(
        origin=-(cells.origin + cells.width * (len(losses) - 1)),
        width=cells.width,
        knots=(weight * cells.knots)[::-1],
        up=np.maximum(weight[:-1] * cells.down, _TINY)[::-1],
        down=np.maximum(weight[1:] * cells.up, _TINY)[::-1],
        above=above,
        below=below,
        below_other=cells.above,
        error=cells.error + 2 * float(cells.slack) + 1e-15 * (1 + float(np.abs(losses).max())),
        slack=cells.slack,
    )


def _atoms(loss: DiscreteLoss, width: float) -> DiscretisedLoss:
    """Return finitely many atoms, on knots where a common spacing is found and in cells of `width` otherwise.

    Probabilities that miss a sum of 1 count as wrong by as much, so that both bounds move outwards.
    """
    values = np.array([value for value, _ in loss.atoms])
    masses = np.array([probability for _, probability in loss.atoms])
    span = float(values[-1] - values[0]) if len(values) else 0.0
    h = common_spacing([float(gap) for gap in np.diff(values)], max(span / 4096, _SNAP * span)) or max(
        width, span / MOST_CELLS
    )
    h = h or 1.0
    number = math.ceil(span / h - _SNAP)
    phase = number - (values[-1] - values) / h if len(values) else values
    knots, up, down = np.zeros(number + 1), np.zeros(number), np.zeros(number)
    at, part = split_phase(phase)
    on = part == 0
    np.add.at(knots, at[on], masses[on])
    lift, stay = split_weights(part[~on], h)
    np.add.at(up, at[~on], masses[~on] * lift)
    np.add.at(down, at[~on], masses[~on] * stay)
    top = Fraction(float(values[-1])) if len(values) else Fraction(0)
    return DiscretisedLoss(
        origin=top - Fraction(h) * number,
        width=Fraction(h),
        knots=knots,
        up=up,
        down=down,
        infinite=loss.infinite_mass,
        error=1e-14 + 1e-15 * len(values) + abs(math.fsum(masses) + loss.infinite_mass - 1),
        slack=Fraction(3 * _SNAP * h + (1e-15 + loss.rounding) * float(np.abs(values).max(initial=0.0))),
    )


def split_phase(phase: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return each atom's knot below it and its distance from there in cell widths, 0 when nearly on a knot."""
    nearest = np.rint(phase)
    snapped = np.where(np.abs(phase - nearest) < _SNAP, nearest, phase)
    at = np.floor(snapped)
    return at.astype(np.int64), snapped - at


def split_weights(part: Floats, width: float) -> tuple[Floats, Floats]:
    """Return which shares of an atom `part` of a cell above a knot go up and down, keeping p and q.

    Guarantee: each is right to a relative 1e-14, given `part`.
    """
    whole = math.expm1(-width)
    return np.expm1(-part * width) / whole, np.exp(-part * width) * np.expm1(-(1 - part) * width) / whole


def common_spacing(gaps: list[float], least: float) -> float | None:
    """Return the largest spacing of which every gap is nearly a whole multiple, if one above `least` exists."""
    common = 0.0
    for gap in gaps:
        large, small = max(common, gap), min(common, gap)
        while small > 1e-10 * large and small >= least / 2:
            large, small = small, abs(large - small * round(large / small))
        if small > 1e-10 * max(common, gap):
            return None
        common = large
    return common if common >= least and gaps else None
