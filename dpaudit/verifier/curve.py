"""The privacy curve delta(epsilon), computed anew.

One loss, or Gaussian ones alone, have a closed form. Anything else is put on a grid of losses, weighted by
e^(s L) so that its mean lies near the epsilon in question (a delta of 1e-30 is then as easy as one of 0.1), and
composed by a power of its Fourier transform. The masses on the grid keep the curve of each loss at every grid
point and exceed it between them ("connecting the dots"); halving the step shows by how much, and is the error.
Source: Doroshenko et al. (2022), Section 4, for the masses; Koskela et al. (2020) for the transform.
"""

import math

import numpy as np
from scipy.special import log_ndtr

from dpaudit.verifier.losses import Loss, Multiset, distinct, leak, merged, most, options, reach, require, reversed_all

_EXACT, _COARSE = 1e-9, 1000  # error of a closed form; steps for moments
_SIZE, _KINDS = 2**18, 512  # points of a grid, and the most kinds of losses on it


class Worst:
    """The largest curve over alternatives and both orders of the neighbours."""

    def __init__(self, alternatives: list[Multiset]) -> None:
        self.curves = [_Curve(a) for a in distinct([o for a in alternatives for o in (a, reversed_all(a))])]

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return the largest delta of an epsilon, and the relative error of this witness."""
        return max(curve.delta(epsilon) for curve in self.curves)


class _Curve:
    """The curve of one multiset in order (P, Q): the mass at infinity apart, and a finite part."""

    def __init__(self, losses: Multiset) -> None:
        self.supremum, self.lost = most(losses)
        self.finite = {loss: n for loss, n in merged(losses).items() if loss[1]}
        self.sums: tuple[_Sum, ...] = ()

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return the delta of an epsilon, and the relative error of this witness."""
        if self.supremum <= epsilon:
            return self.lost, _EXACT
        if sum(self.finite.values()) == 1:
            fine = coarse = float(_values(next(iter(self.finite)), np.array([epsilon]))[0])
        else:
            if not self.sums or abs(epsilon - self.sums[0].centre) > self.sums[0].within:
                require(len(self.finite) <= _KINDS, f"more than {_KINDS} kinds of losses cannot be derived again")
                self.sums = (_Sum(self.finite, epsilon, _SIZE), _Sum(self.finite, epsilon, _SIZE // 2))
            fine, coarse = (held.delta(epsilon) for held in self.sums)
        error = abs(coarse - fine) / max(abs(fine), 1e-300) + _EXACT
        finite = max(fine - (coarse - fine) / 3, 1e-300)  # below its supremum no curve is 0
        return self.lost + (1 - self.lost) * finite, error


class _Sum:
    """The law of a sum of losses on a grid, weighted by e^(s L) for the s that brings its mean to `centre`."""

    def __init__(self, losses: dict[Loss, int], centre: float, size: int) -> None:
        coarse = [_law(loss, n, reach(loss) / _COARSE) for loss, n in losses.items()]
        plain = _moments(coarse, 0.0)[1]
        tried = np.geomspace(1e-3, 50, 40) / max(plain, 1e-9)  # looking at no less than a fiftieth deviation
        heights = [_moments(coarse, s)[0] - s * centre - math.log(s + s * s) for s in tried]
        self.s = float(tried[np.argmin(heights)])
        deviation = _moments(coarse, self.s)[1]
        self.centre, self.within = centre, max(5 * deviation, plain / 10)
        widest = max(reach(of) if of[0] == "discrete" else 3 * of[1] for loss in losses for of in options(loss))
        half = min(12 * deviation + 4 * widest, math.fsum(n * reach(loss) for loss, n in losses.items()) + centre)
        step = 2.1 * half / size
        require(step < 0.5, "a composition is too wide for this checker's grid")
        whole, self.log_moment = np.ones(size // 2 + 1, dtype=complex), 0.0
        for loss, n in losses.items():
            _, x, masses = _law(loss, n, step)
            weights, log_moment = _weighted(x, masses, self.s)
            whole *= np.fft.rfft(np.bincount(np.rint(x / step).astype(np.int64) % size, weights, size)) ** n
            self.log_moment += n * log_moment
        first = math.floor(centre / step) - size // 2
        self.losses = (first + np.arange(size)) * step
        self.weights = np.roll(np.fft.irfft(whole, size), -first)

    def delta(self, epsilon: float) -> float:
        """Return the delta of an epsilon near the centre."""
        above = self.losses[self.losses > epsilon] - epsilon
        held = self.weights[len(self.losses) - len(above) :] * np.exp(-self.s * above) * -np.expm1(-above)
        return float(math.exp(min(700.0, self.log_moment - self.s * epsilon)) * held.sum())


def _moments(laws: list[tuple[int, np.ndarray, np.ndarray]], s: float) -> tuple[float, float]:
    """Return ln E[e^(s L)] of the sum L of all losses, and its standard deviation when weighted by e^(s L)."""
    held = [(n, x, *_weighted(x, masses, s)) for n, x, masses in laws]
    variance = math.fsum(n * float(weights @ (x - weights @ x) ** 2) for n, x, weights, _ in held)
    return math.fsum(n * log_moment for n, _, _, log_moment in held), math.sqrt(max(variance, 0.0))


def _weighted(x: np.ndarray, masses: np.ndarray, s: float) -> tuple[np.ndarray, float]:
    """Return masses times e^(s x), scaled to sum 1, and the logarithm of their sum."""
    sizes = np.where(masses, np.log(np.abs(masses) + (masses == 0)), -np.inf) + s * x
    weights = np.sign(masses) * np.exp(sizes - sizes.max())
    total = float(weights.sum())
    return weights / total, float(sizes.max()) + math.log(total)


def _law(loss: Loss, n: int, step: float) -> tuple[int, np.ndarray, np.ndarray]:
    """Return how often a loss occurs, a grid, and the masses that keep its curve at every point of the grid."""
    number = math.ceil(reach(loss) / step) + 1
    require(number < 2**23, "a loss is too wide for this checker's grid")
    x = np.arange(-number, number + 1) * step
    curve = _values(loss, x)
    drop = np.diff(curve)
    masses = np.concatenate(([1 - curve[0]], drop / np.expm1(-step)))
    masses[:-1] += drop / np.expm1(step)
    return n, x, masses


def _values(loss: Loss, epsilon: np.ndarray) -> np.ndarray:
    """Return delta(epsilon) of one finite loss, for an array of epsilons."""
    if loss[0] == "gaussian":
        mu = loss[1]
        a, b = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        return np.asarray(-np.expm1(np.minimum(0.0, b - a)) * np.exp(a))
    if loss[0] in ("laplace", "range"):
        x, near = loss[1], np.clip(epsilon, -loss[1], loss[1])
        rest = (x - near) / 2
        inner = -np.expm1(-rest) if loss[0] == "laplace" else np.expm1(rest) ** 2 * np.exp(near) / math.expm1(x)
        return np.asarray(np.where(epsilon <= -x, -np.expm1(np.minimum(epsilon, 0.0)), inner))
    if loss[0] == "sampled":  # from the unsampled curve at another epsilon (Balle, Barthe and Gaboardi, 2018)
        mu, rate, removed = loss[1], loss[2], loss[3] == "remove"
        inner = rate + np.expm1(epsilon) if removed else rate * np.exp(epsilon) - np.expm1(epsilon)
        size = np.log(np.maximum(inner, 1e-300) / rate)
        held = (rate if removed else inner) * _values(("gaussian", mu), size if removed else epsilon - size)
        return np.asarray(np.where(inner > 0, held, -np.expm1(epsilon) if removed else 0.0))
    if loss[0] == "choice":
        whole = [leak(option) + (1 - leak(option)) * _values(option, epsilon) for option in loss[1]]
        return np.asarray((np.max(whole, axis=0) - leak(loss)) / (1 - leak(loss)))
    values, masses = np.array(loss[1]).T
    above = np.concatenate((np.cumsum(masses[::-1])[::-1], [0.0]))
    tilted = np.concatenate((np.cumsum((masses * np.exp(-values))[::-1])[::-1], [0.0]))
    place = np.searchsorted(values, epsilon, side="right")
    return np.asarray(np.maximum(above[place] - np.exp(epsilon) * tilted[place], 0.0) / (1 - loss[2]))
