"""Bounds on a declaration in the measure of a claim: rho, mu, and Renyi divergences at listed orders.

rho of independent or adaptive releases adds up, Renyi divergences order by order, mu in squares; bounds from below are
those of one pair. A mass at infinity makes all of them infinite. Gaussian releases are counted as ratios, exactly.
Source: Bun and Steinke (2016), Lemma 1.7; Mironov (2017), Proposition 1; Dong, Roth and Su (2022), Corollary 3.3.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpaudit.accounting.curves.beyond_atoms import renyi_beyond
from dpaudit.accounting.curves.concentrated import (
    rho_of_atoms,
    rho_of_black_box,
    rho_of_laplace,
    rho_of_range,
    rho_of_threshold,
    rho_shown_by_atoms,
)
from dpaudit.accounting.curves.gaussian_dp import gaussian_table
from dpaudit.accounting.curves.hockey_stick import hockey_stick
from dpaudit.accounting.curves.renyi_divergence import envelope_of, renyi_of_loss, rho_above, rho_below
from dpaudit.accounting.normal_form import Alternatives, NormalForm, both_orders
from dpaudit.checks import meant
from dpaudit.errors import UnsupportedError
from dpaudit.model.losses import (
    ApproximateLoss,
    ChoiceLoss,
    Composition,
    ConcentratedLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
    SimpleLoss,
    ThresholdLoss,
)
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, RenyiClaim, RhoClaim

Number = Fraction | float
"""A bound: exact where it is a ratio, else rounded outwards; infinity is a float."""

_UP, _DOWN = 1 + 1e-12, 1 - 1e-12
_ATOMS = 1e-12  # relative; more than what sums of masses are off by
_CLOSE, _ROUNDED = 1e-10, 1e-13  # relative and absolute: more than rounding makes of a sum over atoms
_OUTWARDS, _MOMENT = 1e-7, 2e-13  # by which bounds are moved outwards that are no ratios: relative, and of a cumulant
_CURVED = 4e-6  # the same of the square of mu along a curve of sums, which other lattices know to about 1e-6
_BESIDE = 1e-6  # relative: what the rho beside a xi may be off by, where the supremum is a limit
_WRITTEN = 15  # digits of a decimal that somebody wrote; more are those of a root
_GAUSSIAN = (GaussianLoss, SampledGaussianLoss)


def limits_of(claim: MeasuredClaim) -> list[Number]:
    """Return the numbers of a claim as `bounds_of` counts them: the ratios that they mean, mu as its square."""
    return [meant(number) ** (2 if claim.measure == "mu" else 1) for _, number in claim.rows]


def bounds_of(form: NormalForm, claim: MeasuredClaim) -> list[tuple[Number, Number]]:
    """Return bounds on each number of a claim in rho, mu (as its square) or Renyi divergences.

    Raises: UnsupportedError: a claim in another measure.
    """
    match claim:
        case RhoClaim(xi=xi):
            return [rho_between(form, xi)]
        case MuClaim():
            return [squared_mu_between(form)]
        case RenyiClaim(renyi=points):
            return [renyi_between(form, order) for order, _ in points]
        case _:
            raise UnsupportedError(f"A claim in {claim.measure} has no rule here.")


def rho_between(form: NormalForm, xi: float = 0.0) -> tuple[Number, Number]:
    """Return bounds on the smallest rho such that every Renyi divergence of order a is at most xi + rho a."""
    high = max(_rho_above(way, xi) for way in both_orders(form.upper))
    low = max(_rho_below(way, xi) for way in both_orders(form.lower))
    return min(low, high), high


def renyi_between(form: NormalForm, order: float) -> tuple[Number, Number]:
    """Return bounds on the largest Renyi divergence of one order, over both orders of the neighbours."""
    high = max(_renyi(way, order, 1) for way in both_orders(form.upper))
    low = max(_renyi(way, order, -1) for way in both_orders(form.lower))
    return min(low, high), high


def squared_mu_between(form: NormalForm) -> tuple[Number, Number]:
    """Return bounds on the square of the smallest mu for which the declaration is mu-GDP."""
    if all(_exact(way) for way in (*form.upper, *form.lower)):
        return max(_squares(way, -1) for way in form.lower), max(_squares(way, 1) for way in form.upper)
    if any(loss.infinite_mass for way in both_orders(form.lower) for loss, _ in way.parts):
        return math.inf, math.inf
    laws = [[_finite_law(way) for way in both_orders(side)] for side in (form.lower, form.upper)]
    if None not in (*laws[0], *laws[1]):
        least, most = (max(_mu_of_atoms(law)[end] for law in side if law is not None) for end, side in enumerate(laws))
        return min(least, most) ** 2 * (1 - _OUTWARDS), most**2 * (1 + _OUTWARDS)
    star = gaussian_table(hockey_stick(form, violated=False), form, violated=False).ranges[0]
    return max(0.0, star.lower) ** 2 * (1 - _CURVED), star.upper**2 * (1 + _CURVED)


def _outwards(number: Number, sign: int, blur: float = 0.0) -> Number:
    """Return a bound of one loss that is no ratio, moved up or down so that other floating-point sums confirm it.

    It is known to a relative 5e-8, and to half of `blur`. A ratio, or a decimal that somebody wrote, is never moved.
    """
    if number == math.inf:
        return number
    return max(0.0, float(number) * (1 + sign * _OUTWARDS) + sign * blur)


def _is_ratio(loss: SimpleLoss) -> bool:
    """Return whether the rho of a loss is a ratio of written decimals."""
    match loss:
        case GaussianLoss(exact=exact):
            return exact != meant(loss.mu) or _written(loss.mu)
        case SampledGaussianLoss(mu=mu):
            return _written(mu)
        case DiscreteLoss(rho=rho, tail=tail):  # a theorem of its mechanism
            return rho is not None and tail is None and loss.infinite_mass > 0
        case _:
            return isinstance(loss, ConcentratedLoss)


def _written(number: float) -> bool:
    """Return whether a decimal is short enough to have been written by somebody."""
    return float(f"{number:.{_WRITTEN}g}") == number


def _finite_law(composition: Composition) -> DiscreteLoss | None:
    """Return the only loss of a composition, if it has finitely many values and is of one pair."""
    if composition.events != 1:
        return None
    ((loss, _),) = composition.parts
    if not isinstance(loss, DiscreteLoss) or loss.span is not None or loss.once is not None:
        return None
    return None if loss.infinite_mass or loss.reverse_infinite_mass else loss


def _mu_of_atoms(loss: DiscreteLoss) -> tuple[float, float]:
    """Return bounds on the mu of finitely many losses: at a corner of the trade-off curve, between which it is a line.

    What lies above the trade-off curve of a Gaussian is convex, so that a line between two such points does.
    """
    values, masses = np.array(loss.atoms[::-1]).T
    laws = masses, masses * np.exp(-values)
    over, under = ((np.cumsum(law)[:-1], np.cumsum(law[::-1])[-2::-1]) for law in laws)
    ends = []
    for off in (-_ATOMS, _ATOMS):
        first = _normal(over[0] * (1 + off), over[1] * (1 - off))
        second = _normal(under[0] * (1 - off), under[1] * (1 + off))
        ends.append(float(np.max(first - second, initial=0.0)))
    return ends[0] * _DOWN, ends[1] * _UP


def _normal(mass: NDArray[np.float64], complement: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal quantile of a mass, by the smaller one of it and the rest."""
    return np.where(mass < 0.5, ndtri(np.minimum(mass, 0.5)), -ndtri(np.minimum(complement, 0.5)))


def one_sided_mass(alternatives: Alternatives) -> float:
    """Return the largest probability of outputs that only one of two neighbours has, a lower bound."""
    return max((loss.infinite_mass for way in both_orders(alternatives) for loss, _ in way.parts), default=0.0)


def _exact(composition: Composition) -> bool:
    """Return whether all losses are Gaussian; on samples the least mu is that of the whole."""
    return all(isinstance(loss, _GAUSSIAN) for loss, _ in composition.parts)


def _squares(composition: Composition, sign: int) -> Fraction:
    """Return a bound on the sum of mu^2 over Gaussian losses, sampled ones as whole ones: above, or below at -1."""
    gaussian_parts = ((loss, times) for loss, times in composition.parts if isinstance(loss, _GAUSSIAN))
    return sum((_square(loss, sign) * times for loss, times in gaussian_parts), start=Fraction(0))


def _square(loss: GaussianLoss | SampledGaussianLoss, sign: int) -> Fraction:
    """Return a bound on mu^2, exact of a ratio."""
    square = _mu(loss) ** 2
    return square if _is_ratio(loss) else Fraction(_outwards(square, sign))


def _mu(loss: GaussianLoss | SampledGaussianLoss) -> Fraction:
    """Return the shift of a Gaussian release as a ratio."""
    return loss.exact if isinstance(loss, GaussianLoss) else meant(loss.mu)


def _rho_above(composition: Composition, xi: float = 0.0) -> Number:
    """Return the smaller of two bounds: the losses' own rho added up, and the supremum of the whole divergence.

    Beside a positive `xi` the first is enough, too, and exact of Gaussian losses, as xi counts for nothing at large
    orders.
    """
    parts = [part for loss, times in composition.parts for part in envelope_of(loss, times)]
    if any(_rho_of(loss) == math.inf for loss, _ in parts):
        return math.inf
    normal, others = ([part for part in parts if isinstance(part[0], _GAUSSIAN) == kind] for kind in (True, False))
    if _largest_of(others) <= meant(xi):  # no divergence of the others exceeds it
        return _added(normal)
    added, least = sum(map(_least_rho, composition.parts), start=Fraction(0)), rho_above(composition, xi)
    rho_of_all = _outwards(least, 1, _BESIDE * min(xi, least))
    return added if rho_of_all == math.inf else min(added, Fraction(rho_of_all))


def _least_rho(part: tuple[SimpleLoss, int]) -> Fraction:
    """Return the smaller bound on the rho of a hidden draw: its own, or that of what it holds, which may be finite."""
    squares = _added([*envelope_of(*part)])
    return squares if _rho_of(part[0]) == math.inf else min(squares, _added([part]))


def _added(parts: list[tuple[SimpleLoss, int]]) -> Fraction:
    """Return the sum of what is proved of the rho of each loss; each is finite."""
    own = [(rho if _is_ratio(loss) else _outwards(rho, 1), n) for loss, n in parts for rho in (_rho_of(loss),)]
    return sum((Fraction(rho) * times for rho, times in own), start=Fraction(0))


def _largest_of(parts: Iterable[tuple[SimpleLoss, int]]) -> Number:
    """Return the sum of the largest losses: of written decimals exactly, else of floats rounded up."""
    sizes = [(max(loss.supremum, loss.reversed().supremum), times) for loss, times in parts]
    if any(size == math.inf for size, _ in sizes):
        return math.inf
    return sum((meant(x if _written(x) else math.nextafter(x, math.inf)) * n for x, n in sizes), start=Fraction(0))


def _rho_of(loss: SimpleLoss) -> Number:
    """Return an upper bound on the rho of one loss in both orders; infinity where none is known."""
    if isinstance(loss, ChoiceLoss):
        return max(map(_rho_of, loss.options))
    if isinstance(loss, DiscreteLoss) and loss.rho is not None and loss.infinite_mass > 0:
        return loss.rho  # a theorem, whatever was left out of the atoms
    if loss.infinite_mass > 0 or loss.reversed().infinite_mass > 0:
        return math.inf
    match loss:
        case GaussianLoss() | SampledGaussianLoss():
            return _mu(loss) ** 2 / 2
        case ThresholdLoss(shift=shift):
            return Fraction(rho_of_threshold(shift)[1])
        case ConcentratedLoss(exact=rho):
            return rho
        case LaplaceLoss(exact=shift):
            return rho_of_laplace(shift)
        case ApproximateLoss(epsilon=epsilon):
            return rho_of_black_box(meant(epsilon))
        case DiscreteLoss(span=span, rho=rho, pair=pair):
            bounds = [
                rho_of_atoms(loss if pair is None else pair),
                *([] if span is None else [Fraction(rho_of_range(span)[1])]),
            ]
            return min(bounds if rho is None else [*bounds, rho])
        case _:
            largest = max(loss.supremum, loss.reversed().supremum)
            return rho_of_black_box(Fraction(largest)) if largest < math.inf else math.inf


def _rho_below(composition: Composition, xi: float = 0.0) -> Number:
    """Return a lower bound: exact for Gaussian losses, else what some order shows, or the limit at order 1."""
    if any(loss.infinite_mass > 0 for loss, _ in composition.parts):
        return math.inf
    if all(isinstance(loss, _GAUSSIAN) for loss, _ in composition.parts):
        return _squares(composition, -1) / 2
    if len(composition.parts) == 1 and not xi:  # one kind has its supremum at one order, however often it is met
        ((loss, times),) = composition.parts
        if isinstance(loss, DiscreteLoss) and loss.span is None:
            return _outwards(rho_shown_by_atoms(loss) * times, -1)
    at_one = math.fsum(_at_one(loss) * times for loss, times in composition.parts)
    shown = max(rho_below(composition, xi), at_one - xi)
    return _outwards(shown, -1, _BESIDE * min(xi, shown))


def _at_one(loss: SimpleLoss) -> float:
    """Return a lower bound on the Kullback-Leibler divergence of a loss, the limit of its divergence at order 1."""
    match loss:
        case ThresholdLoss(shift=shift):
            return rho_of_threshold(shift)[0]
        case GaussianLoss() | LaplaceLoss() | ApproximateLoss():
            return float(_rho_of(loss)) * (1 - _CLOSE)  # their suprema are these limits
        case DiscreteLoss(span=span) if span is not None:
            return rho_of_range(span)[0]  # one of its pairs has this divergence at order 1
        case DiscreteLoss(atoms=atoms):
            return max(0.0, math.fsum(p * value for value, p in atoms) * (1 - _CLOSE) - _ROUNDED)
        case _:
            return 0.0


def _renyi(composition: Composition, order: float, sign: int) -> Number:
    """Return a bound on the divergence of a composition: from above, or from below at -1."""
    exact = all(isinstance(loss, GaussianLoss | ConcentratedLoss) for loss, _ in composition.parts)
    if exact and all(_is_ratio(loss) for loss, _ in composition.parts):
        return meant(order) * sum((Fraction(_rho_of(loss)) * n for loss, n in composition.parts), start=Fraction(0))
    sides = [(_renyi_of(loss, order)[sign > 0], times) for loss, times in composition.parts]
    blur = _MOMENT / (order - 1)
    return math.fsum(float(_outwards(value, sign, blur)) * times for value, times in sides)


def _renyi_of(loss: SimpleLoss, order: float) -> tuple[float, float]:
    """Return bounds on one divergence; where each order has a pair of its own, that of the worst one."""
    low, high = renyi_of_loss(loss, order)
    if isinstance(loss, DiscreteLoss) and loss.once is not None:
        low = max(low, renyi_of_loss(loss.once, order)[0])
    if isinstance(loss, DiscreteLoss) and loss.tail is not None:
        high = min(high, renyi_beyond(loss, order))
    if isinstance(loss, DiscreteLoss) and loss.rho is not None:
        high = min(high, float(loss.rho) * order * _UP)
    if isinstance(loss, DiscreteLoss) and loss.pair is not None:  # either order, picked at each release
        high = min(high, max(renyi_of_loss(way, order)[1] for way in (loss.pair, loss.pair.reversed())))
    return low, high
