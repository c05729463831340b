"""The privacy curve delta(epsilon), computed anew: a proved lower and a proved upper bound.

One loss, or Gaussian ones alone, have a closed form. Anything else is put on a lattice, weighted by e^(theta L) so that
its mean lies near the epsilon in question (a delta of 1e-30 is then as easy as one of 0.1), and summed in a window by
its Fourier transform. The upper bound adds what lies outside of the window; the lower bound is the best test on the
sum of labels, and takes off what was wrapped around. The proofs are in docs/theory/verifier.md.
"""

import math
from functools import lru_cache

import numpy as np

from dpaudit.verifier.losses import Loss, Multiset, distinct, merged, most, reversed_all, supremum
from dpaudit.verifier.refusals import follow, require
from dpaudit.verifier.sampling import DERIVED, blur, cut, ends, plain
from dpaudit.verifier.sums import Law, Window, growth, summed
from dpaudit.verifier.tails import Array, above

FINE, COARSE = 3e-6, 1e-3  # relative widths that a lattice aims at, for what is compared closely and for the rest
_ROUGH = 2e-4  # the same for losses whose cells are slow to cut
_CLOSED = {"gaussian", "laplace", "sampled", "discrete"}  # what has a closed form, by itself
_WIDE = 1e-3  # beyond this width another epsilon gets its own window
_SIZES, _KINDS, _CELLS = (2**10, 2**20), 512, 600  # of a window; the most kinds of losses; cells for a first look
_FEW = 8  # kinds of losses whose sum others may still know closely
_OUTSIDE, _NOTHING = 50.0, 1e-305  # -ln of the weighted mass outside of a window; no number below is told from this

Bounds = tuple[float, float]
Coarse = tuple[Array, Array, int]  # losses, masses, how often it is met


class Worst:
    """The largest curve over alternatives and both orders of the neighbours, where it is summed to about `width`."""

    def __init__(self, alternatives: list[Multiset], width: float = FINE) -> None:
        self.curves = [_Curve(a, width) for a in distinct([o for a in alternatives for o in (a, reversed_all(a))])]
        self.known: dict[float, Bounds] = {}
        self.derived = any(curve.rough for curve in self.curves)
        self.coarse = self.derived or any(curve.kinds & {"choice"} or len(curve.finite) > _FEW for curve in self.curves)
        self.closed = all(sum(curve.finite.values()) < 2 and curve.kinds <= _CLOSED for curve in self.curves)
        self.gaussian = all(curve.kinds <= {"gaussian"} for curve in self.curves)
        self.largest = max(math.inf if curve.lost else curve.supremum for curve in self.curves)

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
            require(falls and 0 <= max(lows) <= max(highs) <= 1, "the checker's own curve is no privacy curve")
        return self.known[epsilon]


class _Curve:
    """The curve of one multiset in order (P, Q): the mass at infinity apart, and a finite part."""

    def __init__(self, losses: Multiset, width: float) -> None:
        self.rough = any(loss[0] in DERIVED for loss in losses)
        self.width = max(width, _ROUGH) if self.rough else width
        self.supremum, self.lost = most(losses)
        self.finite = {loss: n for loss, n in merged(losses).items() if loss[1]}
        require(np.isfinite([ends(loss) for loss in self.finite]).all(), "a loss is beyond floating point")
        self.kinds = {loss[0] for loss in self.finite}
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
        least, most = self._at_the_end(before, after)
        if sum(self.finite.values()) == 1:
            (loss,) = self.finite
            return max(least, _plain(loss, after)[0]), min(most, _plain(loss, before)[1])
        follow(len(self.finite) <= _KINDS, f"more than {_KINDS} kinds of losses cannot be derived again")
        if most - least <= self.width * most:
            return least, most
        for held in self.sums:
            low, high = held.lower(after), held.upper(before)
            if high - low <= _WIDE * high:
                return low, high
        self.sums = [*self.sums[-2:], _Sum(self.finite, epsilon, self.width)]
        return max(least, self.sums[-1].lower(after)), min(most, self.sums[-1].upper(before))

    def _at_the_end(self, before: float, after: float) -> Bounds:
        """Return bounds next to the largest loss: all losses at their largest, and all within the gap of it."""
        if self.supremum == math.inf or any(loss[0] in DERIVED for loss in self.finite):
            return 0.0, 1.0
        gaps = max(0.0, self.supremum - after), self.supremum - before
        count = sum(self.finite.values())
        near = [self._all_above(gap) for gap in (gaps[0] * 1e-6 / count, gaps[1] * (1 + 1e-12))]
        low = -math.expm1(-gaps[0] * (1 - 1e-6)) * near[0][0] * (1 - 1e-12)
        return low, min(1.0, -math.expm1(-gaps[1]) * near[1][1] * (1 + 1e-12) + _NOTHING)

    def _all_above(self, gap: float) -> Bounds:
        """Return bounds on the probability that every loss lies within `gap` of its largest one."""
        logs = [0.0, 0.0]
        for loss, n in self.finite.items():
            if supremum(loss) - gap < ends(loss)[0]:
                continue  # it always does
            at = np.array([np.nextafter(supremum(loss) - gap, -math.inf)])
            p, _, off = (float(row[0]) for row in above(loss, at))
            logs = [log + n * math.log(max(1e-300, p + s * off)) for log, s in zip(logs, (-1, 1), strict=True)]
        return math.exp(logs[0]), math.exp(min(0.0, logs[1]))


def _plain(loss: Loss, epsilon: float) -> Bounds:
    """Return bounds on the delta of one loss, in closed form or by its atoms."""
    if loss[0] in DERIVED:
        return plain(loss, epsilon)
    p, q, off = (float(row[0]) for row in above(loss, np.array([epsilon])))
    return max(0.0, p - q - 2 * off), min(1.0, max(0.0, p - q) + 2 * off + _NOTHING)


class _Sum:
    """The law of a sum of losses on a lattice, weighted by e^(theta L), in a window around its mean."""

    def __init__(self, losses: dict[Loss, int], epsilon: float, width: float) -> None:
        self.theta, self.window, tilts = _window(losses, epsilon, width)
        self.at = (self.window.first + np.arange(self.window.size)) * self.window.step
        cuts = [(cut(loss, self.window.step), n) for loss, n in losses.items()]
        rows = [[(held.first, held.masses[i], n) for held, n in cuts] for i in range(3)]
        self.over, self.p, self.q = (summed(row, self.theta, self.window, tilts) for row in rows)
        self.beyond = -math.expm1(sum(n * math.log1p(-min(held.beyond, 1 - 1e-16)) for held, n in cuts))

    def _scale(self, law: Law, epsilon: float, side: int) -> float:
        """Return M^n e^(-theta epsilon), moved to one side by the relative error of everything."""
        reach = abs(epsilon) + max(abs(self.window.bottom), abs(self.window.top))
        off = law.relative + 2.0**-50 * (self.window.size + 100 + abs(law.log_moment) + self.theta * reach)
        return math.exp(min(law.log_moment - self.theta * epsilon + side * off, 700.0))

    def upper(self, epsilon: float) -> float:
        """Return an upper bound on the delta of an epsilon."""
        law, excess, scale = self.over, self.at - epsilon, self._scale(self.over, epsilon, 1)
        excess, masses = excess[excess > 0], law.masses[excess > 0]
        held = float(np.maximum(0.0, masses + law.error) @ (np.exp(-self.theta * excess) * -np.expm1(-excess)))
        held += law.above * math.exp(-self.theta * max(0.0, self.window.top - epsilon))
        held += law.below if self.window.bottom > epsilon else 0.0
        return min(1.0, scale * held + self.beyond + _NOTHING) if scale < math.exp(650) else 1.0

    def lower(self, epsilon: float) -> float:
        """Return a lower bound on the delta of an epsilon: the best test that a sum of labels exceeds a threshold."""
        excess, scales = self.at - epsilon, (self._scale(self.p, epsilon, -1), self._scale(self.q, epsilon, 1))
        near = excess > -1 / (1 + self.theta)
        if not near.any() or max(scales) > math.exp(650):
            return 0.0
        excess = excess[near]
        shrunk = np.exp(-self.theta * excess)
        p = np.cumsum((np.maximum(0.0, self.p.masses[near] - self.p.error) * shrunk)[::-1])[::-1]
        q = np.cumsum((np.maximum(0.0, self.q.masses[near] + self.q.error) * shrunk * np.exp(-excess))[::-1])[::-1]
        p -= (self.p.above + self.p.below) * shrunk
        q += self.q.above * math.exp(-min((self.theta + 1) * (self.window.top - epsilon), 700.0))
        return max(0.0, float((scales[0] * p - scales[1] * q).max()))


def _window(losses: dict[Loss, int], epsilon: float, width: float) -> tuple[float, Window, Array]:
    """Return theta, a window that holds next to all weighted mass, and tilts that prove it.

    Nothing here is proved: from masses of a few hundred cells a loss, whatever is found serves.
    """
    held = [_coarse(loss, n) for loss, n in losses.items()]
    least = 1e-7 * max(max(map(abs, ends(loss))) for loss in losses) + 1e-200
    tried = np.geomspace(1e-9, 1e3, 144) / max(_deviation(held, 0.0), least)
    theta = float(tried[np.argmin(_growth(held, tried) - tried * epsilon - np.log(tried + tried**2))])
    deviation = max(_deviation(held, theta), least)
    ways = np.geomspace(0.5, 100, 24) / deviation
    base = _growth(held, np.array([theta]))
    right, left = ((_growth(held, theta + way) - base + _OUTSIDE) / ways for way in (ways, -ways))
    low, high = -float(left.min()), float(right.min())
    tilts = np.array([-ways[np.argmin(left)], ways[np.argmin(right)]])
    steep = max(theta, 1 / deviation)  # splitting cells widens delta by about theta (1 + theta) / 2 times n h^2 / 6
    step = math.sqrt(12 * width / (steep * (1 + steep)) / sum(losses.values()))
    size = 2 ** math.ceil(math.log2(min(max((high - low) / step + 8, _SIZES[0]), _SIZES[1])))
    step = max(step, (high - low) / (size - 8), 5 * least)  # a loss has 4e6 cells at most
    follow(step < 50, "a composition is too wide for this checker's lattice")
    return theta, Window(math.floor(low / step) - 2, size, step), tilts


@lru_cache(maxsize=64)
def _coarse(loss: Loss, n: int) -> Coarse:
    """Return a loss in cells of an eighth of its deviation or less, those far from its mean merged, and its number."""
    (low, high), tries = ends(loss), 6
    width = step = max(high - low, 1e-12) / _CELLS
    while True:
        part, tries = cut(loss, step), tries - 1
        at, masses = (part.first + np.arange(part.masses.shape[1])) * step, part.masses[0]
        deviation = _deviation([(at, masses, 1)], 0.0)
        if step <= deviation / 8 or step < width / 200 or not tries:
            break
        step = max(deviation, step / 4) / 16
    far = (at - masses @ at / masses.sum()) / step
    merged = np.unique(np.sign(far) * np.floor(128 * np.log1p(np.abs(far) / 64)), return_inverse=True)[1]
    kept = np.bincount(merged, masses)
    return np.bincount(merged, masses * at) / np.maximum(kept, 1e-320), kept, n


def _growth(held: list[Coarse], thetas: Array) -> Array:
    """Return ln E[e^(theta L)] of the sum of all losses, for each theta."""
    return np.asarray(sum(n * growth(at, masses, thetas) for at, masses, n in held))


def _deviation(held: list[Coarse], theta: float) -> float:
    """Return the deviation of the weighted sum of all losses."""
    variance = 0.0
    for at, masses, n in held:
        weights = np.exp(np.log(np.maximum(masses, 1e-320)) + theta * at - growth(at, masses, np.array([theta])))
        variance += n * max(float(weights @ (at - weights @ at) ** 2), 0.0)
    return math.sqrt(variance)
