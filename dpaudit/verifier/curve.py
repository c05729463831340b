"""The privacy curve, computed anew: witnesses for delta(epsilon) and epsilon(delta)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from dpaudit.verifier.losses import Loss, Multiset, distinct, infinite_mass, reverse, reversed_all, supremum
from dpaudit.verifier.reading import require

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(800)
_MOST_ATOMS = 4096
_MANY = 200
_BETWEEN = 80.0
_DAMPED = 8.0


class Worst:
    """The largest curve over alternatives and both orders of the neighbours."""

    def __init__(self, alternatives: list[Multiset]) -> None:
        self.curves = [_Curve(a) for a in distinct([o for a in alternatives for o in (a, reversed_all(a))])]

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return the largest value at `epsilon`, and its relative error."""
        return max((curve.at(epsilon) for curve in self.curves), key=lambda pair: pair[0])

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return where the largest curve falls to `delta`, and the relative error there."""
        if delta == 0:
            floor = max(1 - curve.survival for curve in self.curves)
            return (math.inf if floor > 0 else max(0.0, *(curve.supremum for curve in self.curves))), 1e-12
        goal = delta * (1 + 1e-12)
        if self.delta(0.0)[0] <= goal:
            return 0.0, 1e-12
        low, high = 0.0, 1.0
        while self.delta(high)[0] > goal:
            low, high = high, 2 * high
            if high > 1e9:
                return math.inf, 1e-12
        while high - low > 1e-10 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle)[0] <= goal else (middle, high)
        return high, max(self.delta(high)[1], 1e-9)


class _Curve:
    """delta(epsilon) of one multiset in order (P, Q), with a relative error for each value."""

    def __init__(self, losses: Multiset) -> None:
        masses = [(infinite_mass(loss), n) for loss, n in losses.items()]
        certain = any(mass >= 1 for mass, _ in masses)
        self.survival = 0.0 if certain else math.exp(math.fsum(n * math.log1p(-mass) for mass, n in masses))
        self.finite = {loss: n for loss, n in losses.items() if supremum(loss) > 0 or loss[0] == "discrete"}
        self.supremum = math.fsum(n * supremum(loss) for loss, n in self.finite.items())
        self.grid: tuple[np.ndarray, np.ndarray, float] | None = None

    def at(self, epsilon: float) -> tuple[float, float]:
        """Return delta(epsilon) and the relative error of this witness."""
        if not self.survival or not self.finite or self.supremum <= epsilon:
            return 1 - self.survival, 1e-12
        if all(loss[0] == "gaussian" for loss in self.finite):
            mu = math.sqrt(math.fsum(n * loss[1] ** 2 for loss, n in self.finite.items()))
            part, error = float(_values(("gaussian", mu), np.array([epsilon]))[0]), 1e-9
        elif sum(self.finite.values()) == 1:
            part, error = float(_values(next(iter(self.finite)), np.array([epsilon]))[0]), 1e-9
        else:
            part, error = (None if self.grid else _contour(self.finite, epsilon)) or self._on_grid(epsilon)
        return (1 - self.survival) + self.survival * part, error

    def _on_grid(self, epsilon: float) -> tuple[float, float]:
        """Return the value that convolution on a grid gives, computing the grid once."""
        self.grid = self.grid or _grid(self.finite)
        losses, masses, infinite = self.grid
        held = losses > epsilon
        return infinite + float(np.sum(masses[held] * -np.expm1(epsilon - losses[held]))), 1e-4


def _log_moment(loss: Loss, s: Any) -> Any:
    """Return ln E_P[e^(s L)] for an array of complex s, given a finite loss."""
    if loss[0] == "gaussian":
        return loss[1] ** 2 / 2 * s * (1 + s)
    if loss[0] == "laplace":
        x = loss[1]
        return s * x + np.log((s + 1) / (2 * s + 1) + s / (2 * s + 1) * np.exp(-(1 + 2 * s) * x))
    if loss[0] == "sampled":
        _, mu, rate, order = loss
        half = (mu + 28) / 2
        x = _NODES * half + mu / 2
        mixture = np.log1p(rate * np.expm1(mu * x - mu**2 / 2))
        weights = _WEIGHTS * half * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
        power = np.exp(np.multiply.outer(s + 1 if order == "remove" else -s, mixture))
        return np.log(power @ weights)
    pairs, kept = _atoms(loss)
    values, masses = np.array(pairs).T
    top = float(values.max())
    return s * top + np.log(np.exp(np.multiply.outer(s, values - top)) @ (masses / kept))


def _contour(a: Multiset, epsilon: float) -> tuple[float, float] | None:
    """Invert M(s) e^(-s epsilon) / (s (s + 1)) on the vertical line through its saddle point.

    Returns None where the integrand does not die out: atoms make it return along the line, so the sum may stop
    only where a Gaussian part has damped it for good, or the mass between the atoms of many losses has.
    Source: Alghamdi et al. (2023), Theorem 3.1.
    """
    damping = math.sqrt(math.fsum(n * loss[1] ** 2 for loss, n in a.items() if loss[0] == "gaussian"))
    between = math.fsum(n * min(loss[1], 1.0) for loss, n in a.items() if loss[0] == "laplace")
    spread_out = between >= _BETWEEN or sum(n for loss, n in a.items() if loss[0] == "sampled") >= _MANY
    if not damping and not spread_out:
        return None
    if any(loss[0] == "discrete" and len(loss[1]) > _MOST_ATOMS for loss in a):
        return None

    def log_integrand(s: Any) -> Any:
        whole = sum((n * _log_moment(loss, s) for loss, n in a.items()), -s * epsilon)
        return whole - np.log(s) - np.log(s + 1)

    centre, peak, width = _saddle(log_integrand)
    for reach in (12, 48, 192):
        t = np.linspace(0, reach * width, reach * 128 + 1)
        values = np.real(np.exp(log_integrand(centre + 1j * t) - peak))
        settled = spread_out or damping * float(t[-1]) >= _DAMPED
        if settled and np.max(np.abs(values[-64:])) < 1e-13:
            integral = (values.sum() - values[0] / 2) * (t[1] - t[0]) / math.pi
            return float(integral * math.exp(min(700.0, peak))), 1e-7
    return None


def _saddle(log_integrand: Callable[[Any], Any]) -> tuple[float, float, float]:
    """Return where the integrand is smallest on the positive axis, its logarithm there, and its width across."""
    tried = np.exp(np.linspace(-14, 14, 801)) + 0j
    centre = 1.0
    for _ in range(3):  # the logarithm is convex on the axis: narrow the saddle down
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            heights = np.real(log_integrand(tried))
        place = int(np.nanargmin(np.where(np.isfinite(heights), heights, np.nan)))
        centre = float(tried[place].real)
        tried = np.linspace(tried[max(place - 1, 0)], tried[min(place + 1, len(tried) - 1)], 101)
    step = centre * 1e-3
    near = np.real(log_integrand(np.array([centre - step, centre, centre + step]) + 0j))
    return centre, float(near[1]), step / math.sqrt(max(float(near[0] + near[2] - 2 * near[1]), 1e-12))


def _grid(a: Multiset) -> tuple[np.ndarray, np.ndarray, float]:
    """Convolve losses on a grid whose masses keep the curve at every grid point (connecting the dots).

    Returns losses, masses and the mass at infinity; the excess is of second order in the step.
    Source: Doroshenko et al. (2022), Section 4.
    """
    step = max(math.fsum(n * _reach(loss) for loss, n in a.items()) / 2**18, 1e-7)
    require(step < 1, "a composition is too wide for this checker's grid")
    masses, low, infinite = np.array([1.0]), 0, 0.0
    for loss, left in a.items():
        high = math.ceil(_reach(loss) / step) + 1
        curve = _values(loss, np.arange(-high, high + 1) * step)
        drop = np.diff(curve)
        part = np.concatenate(([1 - curve[0]], drop / np.expm1(-step)))
        part = np.maximum(part + np.concatenate((drop / np.expm1(step), [0.0])), 0.0)
        start, infinite, count = -high, infinite + left * max(float(curve[-1]), 0.0), left
        while count:
            if count & 1:
                masses, low = _convolved(masses, part), low + start
            count >>= 1
            if count:
                part, start = _convolved(part, part), 2 * start
    return (low + np.arange(len(masses))) * step, masses, infinite


def _reach(loss: Loss) -> float:
    """Return how far a loss extends on the grid; Gaussian tails are cut at fourteen deviations."""
    if loss[0] in ("gaussian", "sampled"):
        return float(loss[1] ** 2 / 2 + 14 * loss[1])
    return max(supremum(loss), supremum(reverse(loss)))


def _values(loss: Loss, epsilon: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) of one finite loss, for an array of epsilons."""
    if loss[0] == "gaussian":
        mu = loss[1]
        a, b = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        return np.asarray(-np.expm1(np.minimum(0.0, b - a)) * np.exp(a))
    if loss[0] == "laplace":
        x = loss[1]
        inner = np.where(epsilon <= -x, -np.expm1(np.minimum(epsilon, 0.0)), -np.expm1((epsilon - x) / 2))
        return np.asarray(np.where(epsilon >= x, 0.0, inner))
    if loss[0] == "sampled":
        return _sampled_values(loss, epsilon)
    pairs, kept = _atoms(loss)
    values, masses = np.array(sorted(pairs)).T
    above = np.concatenate((np.cumsum(masses[::-1])[::-1], [0.0]))
    tilted = np.concatenate((np.cumsum((masses * np.exp(-values))[::-1])[::-1], [0.0]))
    place = np.searchsorted(values, epsilon, side="right")
    return np.asarray(np.maximum(above[place] - np.exp(epsilon) * tilted[place], 0.0) / kept)


def _sampled_values(loss: Loss, epsilon: np.ndarray) -> np.ndarray:
    """Both orders follow from the unsampled curve at another epsilon (Balle, Barthe and Gaboardi, 2018)."""
    _, mu, rate, order = loss
    if order == "remove":
        inner = np.expm1(epsilon) + rate
        held = _values(("gaussian", mu), np.log(np.maximum(inner, 1e-300) / rate))
        return np.asarray(np.where(inner > 0, rate * held, -np.expm1(epsilon)))
    outer = -np.expm1(epsilon) + np.exp(epsilon) * rate
    shifted = epsilon + math.log(rate) - np.log(np.maximum(outer, 1e-300))
    return np.asarray(np.where(outer > 0, outer * _values(("gaussian", mu), shifted), 0.0))


def _atoms(loss: Loss) -> tuple[tuple[tuple[float, float], ...], float]:
    """Return the finite atoms of a loss and their total mass."""
    if loss[0] == "discrete":
        return loss[1], 1 - loss[2]
    truth = 1 / (1 + math.exp(-loss[1]))
    return ((loss[1], truth), (-loss[1], 1 - truth)), 1.0


def _convolved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the convolution of two mass vectors."""
    size = len(a) + len(b) - 1
    if min(len(a), len(b)) < 64:
        return np.convolve(a, b)
    n = 1 << (size - 1).bit_length()
    return np.maximum(np.fft.irfft(np.fft.rfft(a, n) * np.fft.rfft(b, n), n)[:size], 0.0)
