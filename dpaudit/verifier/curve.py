"""The privacy curve delta(epsilon), computed anew: a proved lower and a proved upper bound.

One loss, or Gaussian ones alone, have a closed form. Anything else is put on a lattice, weighted by e^(theta L) so that
its mean lies near the epsilon in question (a delta of 1e-30 is then as easy as one of 0.1), and summed in a window by
its Fourier transform. The upper bound adds what lies outside of the window; the lower bound is the best test on the
sum of labels, and takes off what was wrapped around. The proofs are in docs/theory/verifier.md.
"""

import math

import numpy as np

from dpaudit.verifier.lattice import Cut, cut
from dpaudit.verifier.losses import Loss, Multiset, distinct, merged, most, require, reversed_all
from dpaudit.verifier.sums import Law, Window, log_moments, summed
from dpaudit.verifier.tails import Array, blur, ends, tails

_FINE = 1e-6  # relative width of a bracket that the lattice aims at
_SIZES, _KINDS, _COARSE = (2**10, 2**20), 512, 600  # of a window; the most kinds of losses; cells for a first look
_WIDE = 1e-3  # relative width beyond which another epsilon gets a window of its own
_OUTSIDE = 50.0  # -ln of the weighted mass that may lie outside of a window
_NOTHING, _TINY = 1e-290, 1e-32  # no number below is told from it; a delta below which no width is reported

Bounds = tuple[float, float]


class Worst:
    """The largest curve over alternatives and both orders of the neighbours."""

    def __init__(self, alternatives: list[Multiset]) -> None:
        self.curves = [_Curve(a) for a in distinct([o for a in alternatives for o in (a, reversed_all(a))])]
        self.known: dict[float, Bounds] = {}

    @property
    def width(self) -> float:
        """Return the largest relative width of an answer so far, where delta is large enough to matter."""
        return max(((high - low) / high for low, high in self.known.values() if high > _TINY), default=0.0)

    def never(self, delta: float) -> bool:
        """Return whether no epsilon brings delta down to this one."""
        return any(c.lost > delta or (c.supremum == math.inf and c.lost >= delta) for c in self.curves)

    def delta(self, epsilon: float) -> Bounds:
        """Return proved bounds on the largest delta of an epsilon, or refuse where they contradict each other."""
        if epsilon not in self.known:
            lows, highs = zip(*(curve.delta(epsilon) for curve in self.curves), strict=True)
            self.known[epsilon] = max(lows), max(highs)
            ordered = sorted(self.known.items())
            falls = all(a[1] >= b[0] for i, (_, a) in enumerate(ordered) for _, b in ordered[i:])
            require(falls and max(lows) >= 0 and max(highs) <= 1, "the checker's own curve is no privacy curve")
        return self.known[epsilon]


class _Curve:
    """The curve of one multiset in order (P, Q): the mass at infinity apart, and a finite part."""

    def __init__(self, losses: Multiset) -> None:
        self.supremum, self.lost = most(losses)
        self.finite = {loss: n for loss, n in merged(losses).items() if loss[1]}
        self.blur = sum(n * blur(loss) for loss, n in self.finite.items())
        self.sums: list[_Sum] = []

    def delta(self, epsilon: float) -> Bounds:
        """Return bounds on the delta of an epsilon."""
        low, high = (0.0, 0.0) if self.supremum <= epsilon else self._finite(epsilon)
        off = self.lost * 1e-13
        return max(0.0, self.lost - off + (1 - self.lost) * low), min(1.0, self.lost + off + (1 - self.lost) * high)

    def _finite(self, epsilon: float) -> Bounds:
        """Return bounds for the finite part, the epsilon moved by what rounding did to the losses."""
        before, after = epsilon - self.blur, epsilon + self.blur
        if sum(self.finite.values()) == 1:
            (loss,) = self.finite
            return _plain(loss, after)[0], _plain(loss, before)[1]
        require(len(self.finite) <= _KINDS, f"more than {_KINDS} kinds of losses cannot be derived again")
        for held in self.sums:
            low, high = held.lower(after), held.upper(before)
            if high - low <= _WIDE * high:
                return low, high
        self.sums = [*self.sums[-2:], _Sum(self.finite, epsilon)]
        return self.sums[-1].lower(after), self.sums[-1].upper(before)


def _plain(loss: Loss, epsilon: float) -> Bounds:
    """Return bounds on the delta of one loss, in closed form."""
    above, scaled, off, moved = (float(row[0]) for row in tails(loss, np.array([epsilon]))[0])
    return max(0.0, above - scaled - off - moved), min(1.0, max(0.0, above - scaled) + off + moved + _NOTHING)


class _Sum:
    """The law of a sum of losses on a lattice, weighted by e^(theta L), in a window around its mean."""

    def __init__(self, losses: dict[Loss, int], epsilon: float) -> None:
        self.theta, window, tilts = _window(losses, epsilon)
        cuts = [(cut(loss, window.step), n) for loss, n in losses.items()]
        self.window, self.at = window, window.losses
        self.over, self.p, self.q = (
            summed([(held.first, getattr(held, side), n) for held, n in cuts], self.theta, window, tilts)
            for side in ("upper", "under_p", "under_q")
        )
        self.beyond = -math.expm1(sum(n * math.log1p(-min(held.beyond, 1 - 1e-16)) for held, n in cuts))

    def _scale(self, law: Law, epsilon: float, side: int) -> float:
        """Return M^n e^(-theta epsilon) with the relative error of everything, on one side."""
        exponent = law.log_moment - self.theta * epsilon
        spread = law.relative + 2.0**-50 * (
            self.window.size + 100 + abs(law.log_moment) + self.theta * (abs(epsilon) + np.abs(self.at[[0, -1]]).max())
        )
        return math.exp(min(exponent + side * spread, 700.0))

    def upper(self, epsilon: float) -> float:
        """Return an upper bound on the delta of an epsilon."""
        law, excess = self.over, self.at - epsilon
        inside = excess > 0
        payoff = np.exp(-self.theta * excess[inside]) * -np.expm1(-excess[inside])
        held = float(np.maximum(0.0, law.masses[inside] + law.error) @ payoff)
        held += law.above * math.exp(-self.theta * max(0.0, self.window.top - epsilon))
        held += law.below if self.window.bottom > epsilon else 0.0
        return min(1.0, self._scale(law, epsilon, 1) * held + self.beyond + _NOTHING)

    def lower(self, epsilon: float) -> float:
        """Return a lower bound on the delta of an epsilon: the best test that a sum of labels exceeds a threshold."""
        excess = self.at - epsilon
        near = excess > -1 / (1 + self.theta)
        if not near.any():
            return 0.0
        excess, masses_p, masses_q = excess[near], self.p.masses[near], self.q.masses[near]
        shrunk = np.exp(-self.theta * excess)
        p = np.maximum(0.0, masses_p - self.p.error) * shrunk
        q = np.maximum(0.0, masses_q + self.q.error) * shrunk * np.exp(-excess)
        p, q = np.cumsum(p[::-1])[::-1], np.cumsum(q[::-1])[::-1]
        p -= (self.p.above + self.p.below) * shrunk
        q += self.q.above * math.exp(-min((self.theta + 1) * (self.window.top - epsilon), 700.0))
        tests = self._scale(self.p, epsilon, -1) * p - self._scale(self.q, epsilon, 1) * q
        return max(0.0, float(tests.max()))


def _window(losses: dict[Loss, int], epsilon: float) -> tuple[float, Window, Array]:
    """Return theta, a window that holds next to all weighted mass, and tilts that prove it.

    Nothing here is proved: from masses of a few hundred cells a loss, whatever is found serves.
    """
    held = [_coarse(loss, n) for loss, n in losses.items()]
    _, plain, _ = _moments(held, 0.0)
    tried = np.geomspace(1e-3, 1e3, 72) / max(plain, 1e-9)
    theta = float(tried[np.argmin(_growth(held, tried) - tried * epsilon - np.log(tried + tried**2))])
    _, deviation, sizes = _moments(held, theta)
    ways = np.geomspace(0.5, 100, 24) / max(deviation, 1e-9)
    origin = _growth(held, np.array([theta]))[0]
    above, below = (np.asarray(_growth(held, theta + way) - origin + _OUTSIDE) / ways for way in (ways, -ways))
    low, high = -float(below.min()), float(above.min())
    tilts = np.array([-ways[np.argmin(below)], ways[np.argmin(above)]])[:, None] * np.array([0.5, 1.0, 2.0])
    step = _step(sizes, max(theta, 1 / max(deviation, 1e-9)))
    size = 2 ** math.ceil(math.log2(min(max((high - low) / step + 8, _SIZES[0]), _SIZES[1])))
    step = max(step, (high - low) / (size - 8))
    require(step < 50, "a composition is too wide for this checker's lattice")
    return theta, Window(math.floor(low / step) - 2, size, step), tilts.ravel()


def _coarse(loss: Loss, n: int) -> tuple[Cut, int, float]:
    """Return a loss in cells of an eighth of its deviation or less."""
    low, high = ends(loss)
    step = max(high - low, 1e-12) / _COARSE
    held = cut(loss, step), n, step
    for _ in range(6):
        _, deviation, _ = _moments([(held[0], 1, step)], 0.0)
        if step <= deviation / 8 or (high - low) / step > 2**17:
            break
        step = max(deviation, step / 4) / 16
        held = cut(loss, step), n, step
    return held


def _step(sizes: list[tuple[float, int]], theta: float) -> float:
    """Return a step at which splitting cells widens delta by about `_FINE`: theta (1 + theta) / 2 times n h^2 / 6."""
    budget = 2 * _FINE / (theta * (1 + theta))
    smooth = math.sqrt(6 * budget / sum(n for _, n in sizes))
    return max(smooth, min(smooth * 2, budget / sum(n * size for size, n in sizes)))


def _growth(held: list[tuple[Cut, int, float]], thetas: Array) -> Array:
    """Return ln E[e^(theta L)] of the sum of all losses, for each theta."""
    rows = [n * log_moments((part.first, part.upper, n), step, thetas) for part, n, step in held]
    return np.asarray(np.sum(rows, axis=0))


def _moments(held: list[tuple[Cut, int, float]], theta: float) -> tuple[float, float, list[tuple[float, int]]]:
    """Return mean and deviation of the weighted sum of all losses, and the deviation of each loss."""
    mean, variance, sizes = 0.0, 0.0, []
    for part, n, step in held:
        at = (part.first + np.arange(len(part.upper))) * step
        size = log_moments((part.first, part.upper, n), step, np.array([theta]))[0]
        weights = np.exp(np.log(np.maximum(part.upper, 1e-320)) + theta * at - size)
        centre = float(weights @ at)
        spread = max(float(weights @ (at - centre) ** 2), 0.0)
        mean, variance = mean + n * centre, variance + n * spread
        sizes.append((math.sqrt(spread), n))
    return mean, math.sqrt(variance), sizes
