"""The privacy curve delta(epsilon), computed anew: a proved lower and a proved upper bound.

One loss has a closed form, or atoms; so have Gaussian ones together. Other sums are put on a lattice, weighted by
e^(theta L) so that the mean lies near the epsilon in question (a delta of 1e-30 is then as easy as one of 0.1), and
taken in a window by their Fourier transform. The upper bound adds what lies outside of the window; the lower bound is
the best test on the sum of labels, and takes off what was wrapped around. The proofs are in docs/theory/verifier.md.
"""

import math
from collections import Counter

import numpy as np

from dpaudit.verifier import shifts
from dpaudit.verifier.losses import (
    Loss,
    Multiset,
    attained,
    distinct,
    drawn,
    listed,
    merged,
    most,
    one_pair,
    reached,
    reversed_all,
    settled,
    shows_all,
    supremum,
)
from dpaudit.verifier.moments import above, by_rho, ranged
from dpaudit.verifier.numerics.ranges import adaptive
from dpaudit.verifier.pairs import (
    DERIVED,
    LOOK,
    MOST,
    Pair,
    blur,
    capped,
    cut,
    pair,
    plain,
    plain_above,
    reach,
)
from dpaudit.verifier.refusals import Array, follow, require
from dpaudit.verifier.sums import Law, Window, growth, summed

_WIDTHS = (2e-2, 2e-3, 2e-5)  # relative, that lattices aim at, from a first look on
_CHOSEN = (2e8, 5e7)  # entries of a recursion over choices at the last of these widths, and at a wider one
_WIDE = 1e-3  # relative width beyond which another epsilon gets its own window
ROUGH, SHARP = 2, 3  # looks: of a search, and of a bracket
_NEAR_END = 20.0  # kinds of losses up to which the largest loss is looked at; of more only near it
_NEAR = 0.05  # how near by, times the tilt, a window serves as well
_SIZES, _KINDS, _MERGED = (2**10, 2**19), 512, 2**10  # of a window; the most kinds of losses; atoms of a first look
_AIMS = (0.25, 1.0, 4.0, 16.0, 64.0)  # epsilons at which sums are sharp that are read over a whole curve
_CLOSED = {"gaussian", "laplace", "sampled", "discrete"}  # what has a closed form, by itself
_FINE = 1000  # knots within the largest value of a loss: beyond, splitting its atoms costs nothing
_PRODUCT = 1e-12  # relative; more than what rounding makes of the masses of one more loss that is listed
_FEW = 8  # kinds of losses whose sum others may still know closely
_SELDOM = 1e-7  # what losses too large for a narrow window may weigh, in about the delta times the width
_STEPS_LOOK = 2**14  # cells of a first look at secret steps, whose far tails decide the weight
_BEYOND, _NOTHING = 12.0, 1e-305  # -ln of a window's outside over its width; no number below is told from this
_CROSSED = "rounding leaves this checker no privacy curve of the declaration"

Bounds = tuple[float, float]
Cells = dict[Loss, tuple[int, float]]  # into how many cells a loss is cut, and from where on it counts as lost


class Worst:
    """The largest curve over alternatives and both orders of the neighbours."""

    def __init__(self, alternatives: list[Multiset], looks: int = SHARP) -> None:
        settled_alternatives = [settled(a) for a in alternatives]
        self.curves = [_Curve(a) for a in distinct([o for a in settled_alternatives for o in (a, reversed_all(a))])]
        self.known: dict[float, Bounds] = {}
        kinds = {"sampled" if drawn(loss) else loss[0] for curve in self.curves for loss in curve.finite}
        chosen = {loss for curve in self.curves for loss in curve.finite if loss[0] == "choice"}
        kinds |= {option[0] for loss in chosen for option in loss[1]} & {*DERIVED, "mixture"}
        kinds |= {"table" for curve in self.curves for loss in curve.finite if loss[4:] == ("sampled",)}
        sums = max(sum(curve.finite.values()) for curve in self.curves)
        self.derived = bool(kinds & ({*DERIVED, "mixture"} - {"choice"}))
        many = max(len(curve.finite) for curve in self.curves) > _FEW
        self.coarse = self.derived or "choice" in kinds or many
        self.widths = _WIDTHS[: min(looks, ROUGH) if many else looks]
        self.lost = max(curve.lost for curve in self.curves)
        self.listed, self.chosen = "discrete" in kinds, any(ranged(curve.finite) for curve in self.curves)
        self.closed, self.gaussian = sums < 2 and kinds <= _CLOSED, kinds <= {"gaussian"}
        self.largest = max(math.inf if curve.lost else curve.supremum for curve in self.curves)
        met = [curve.supremum for curve in self.curves if not curve.lost and all(map(reached, curve.finite))]
        self.reached = max(met, default=0.0)

    def never(self, delta: float) -> bool:
        """Return whether no epsilon brings delta down to this one."""
        return any(c.lost > delta or (c.supremum == math.inf and c.lost >= delta) for c in self.curves)

    def surely_never(self, delta: float) -> bool:
        """Return whether no epsilon brings what is attained down to this delta."""
        return any(c.told > delta or (c.reached == math.inf and c.told >= delta) for c in self.curves)

    def delta(self, epsilon: float) -> Bounds:
        """Return proved bounds on the largest delta of an epsilon, or refuse where they contradict each other."""
        if epsilon not in self.known:
            asked = self.curves if epsilon < math.inf else []
            sides: list[Bounds] = []
            for width in self.widths:  # what cannot be the largest is left out, look by look
                if len(asked) == 1 and width > self.widths[-1]:
                    continue
                sides = [curve.delta(epsilon, width) for curve in asked]
                follow(all(low <= high for low, high in sides), _CROSSED)
                least = max((low for low, _ in sides), default=0.0)
                close = [i for i, (_, high) in enumerate(sides) if high >= least]
                asked, sides = [asked[i] for i in close], [sides[i] for i in close]
            lows, highs = zip((0.0, 0.0), *sides, strict=True)
            self.known[epsilon] = max(lows), max(highs)
            ordered = sorted(self.known.items())
            falls = all(a[1] >= b[0] for i, (_, a) in enumerate(ordered) for _, b in ordered[i:])
            follow(falls and 0 <= max(lows) <= max(highs) <= 1, _CROSSED)
        return self.known[epsilon]

    def above(self, epsilons: Array) -> Array:
        """Return upper bounds on the largest deltas, where sums are made for few epsilons and read at all others."""
        return np.asarray(np.max([curve.above(epsilons) for curve in self.curves], axis=0))


class _Curve:
    """The curve of one multiset in order (P, Q): the mass at infinity apart, and a finite part."""

    def __init__(self, losses: Multiset) -> None:
        self.supremum, self.lost = most(losses)
        self.lost = 1.0 if shows_all(losses) else self.lost
        shown: Multiset = Counter()
        for loss, n in losses.items():
            shown[attained(loss)] += n
        self.reached, told = most(shown)
        self.told = 1.0 if shows_all(losses) else min(self.lost, told)
        self.finite = {loss: n for loss, n in merged(losses).items() if loss[1]}
        self.by_rho = by_rho(self.finite)
        bounded = {} if self.by_rho else self.finite
        ends = [reach(loss) for loss in bounded]
        require(np.isfinite(ends).all(), "a loss is beyond floating point")
        self.blur = sum(n * blur(loss) for loss, n in bounded.items())
        self.listed, self.met = listed(self.finite), sum(self.finite.values())
        self.blur *= self.met if self.listed else 1  # sums are rounded once for each loss
        self.sums: dict[float, list[_Sum]] = {}
        self.aimed: dict[float, _Sum] = {}

    def delta(self, epsilon: float, width: float = _WIDTHS[-1]) -> Bounds:
        """Return bounds on the delta of an epsilon, by a lattice that aims at a relative width."""
        low, high = (0.0, 0.0) if self.supremum <= epsilon or self.lost == 1 else self._finite(epsilon, width)
        off = self.lost * 1e-13
        return max(0.0, self.told - off + low), min(1.0, self.lost + off + high + _NOTHING * (high > 0))

    def above(self, epsilons: Array) -> Array:
        """Return upper bounds on the deltas of epsilons, from sums made for the two aims that are next to each."""
        if self.by_rho:
            return np.minimum(1.0, self.lost * (1 + 1e-13) + above(self.finite, epsilons))
        summed_once = self.lost < 1 and self.met > 1 and not self.listed
        aim_index, deltas = np.searchsorted(_AIMS, epsilons), np.ones(len(epsilons))
        left = np.ones(len(epsilons), dtype=bool)
        for i, aim in enumerate(_AIMS):
            asked = summed_once & ((aim_index == i) | (aim_index == i + 1)) & (epsilons < self.supremum)
            if aim < self.supremum and asked.any():
                if aim not in self.aimed:
                    self.aimed[aim] = _Sum(self.finite, aim, _WIDTHS[-1], upper_alone=True)
                highs = self.aimed[aim].uppers(epsilons[asked] - self.blur, self.lost)
                if ranged(self.finite):
                    highs = np.minimum(highs, above(self.finite, epsilons[asked]))
                deltas[asked] = np.minimum(deltas[asked], self.lost * (1 + 1e-13) + highs + _NOTHING)
                left &= ~asked
        if self.met == 1 and self.lost < 1:
            highs = plain_above(self.listed, epsilons[left] - self.blur)
            highs = np.where(epsilons[left] < self.supremum, highs + _NOTHING * (highs > 0), 0.0)
            deltas[left] = np.minimum(1.0, self.lost * (1 + 1e-13) + highs)
        else:
            deltas[left] = [self.delta(float(epsilon))[1] for epsilon in epsilons[left]]
        return deltas

    def _finite(self, epsilon: float, width: float) -> Bounds:
        """Return bounds for the finite part, the epsilon moved by what rounding did to the losses."""
        if self.by_rho:
            return 0.0, float(above(self.finite, np.array([epsilon]))[0])
        if not ranged(self.finite):
            return self._summed(epsilon, width)
        even = _Curve(Counter({one_pair(loss): n for loss, n in self.finite.items()}))
        shown = (
            even._summed(epsilon, width)[0] if epsilon < even.supremum else 0.0
        )  # what is lost for certain counts once
        moments = float(above(self.finite, np.array([epsilon]))[0])
        sides = [(shown, min(moments, self._summed(epsilon, width)[1]))]
        if len(self.finite) == 1:
            ((loss, n),) = self.finite.items()
            sides.append(adaptive(loss[1], n, epsilon, _CHOSEN[width > _WIDTHS[-1]]))
        lows, highs = zip(*sides, strict=True)
        return max(lows), min(highs)

    def _summed(self, epsilon: float, width: float) -> Bounds:
        """Return bounds for the finite part by the laws of its losses."""
        before, after = epsilon - self.blur, epsilon + self.blur
        least, most = self._at_the_end(before, after)
        if self.listed:
            off = _PRODUCT * (self.met - 1)
            low, high = plain(self.listed, after)[0] * (1 - off), plain(self.listed, before)[1] * (1 + off)
            return max(least, low), min(most, high)
        follow(len(self.finite) <= _KINDS, f"more than {_KINDS} kinds of losses cannot be derived again")
        if most - least <= _WIDTHS[-1] * most:
            return least, most
        for old_sum in self.sums.get(width, ()):
            low, high = old_sum.lower(after), old_sum.upper(before, self.lost)
            if high - low <= max(_WIDE, 2 * width) * high or abs(epsilon - old_sum.epsilon) * old_sum.theta <= _NEAR:
                return max(least, low), min(most, high)
        new_sum = _Sum(self.finite, epsilon, width)
        self.sums[width] = [*self.sums.get(width, [])[-1:], new_sum] if width == _WIDTHS[-1] else [new_sum]
        return max(least, new_sum.lower(after)), min(most, new_sum.upper(before, self.lost))

    def _at_the_end(self, before: float, after: float) -> Bounds:
        """Return bounds next to the largest loss: all losses at their largest, and all within the gap of it."""
        far = self.supremum == math.inf or before < self.supremum * (1 - _NEAR_END / len(self.finite))
        if far or any(loss[0] in DERIVED for loss in self.finite):
            return 0.0, 1.0
        gaps = max(0.0, self.supremum - after), self.supremum - before
        count = sum(self.finite.values())
        near = [self._all_above(gap) for gap in (gaps[0] * 1e-6 / count, gaps[1] * (1 + 1e-12))]
        low = -math.expm1(-gaps[0] * (1 - 1e-6)) * near[0][0] * (1 - 1e-12)
        return low, min(1.0, -math.expm1(-gaps[1]) * near[1][1] * (1 + 1e-12))

    def _all_above(self, gap: float) -> Bounds:
        """Return bounds on the probability that every loss lies within `gap` of its largest one."""
        low = high = 1.0
        for loss, n in self.finite.items():
            end = math.nextafter(supremum(loss) - gap, -math.inf)
            if loss[0] == "discrete":
                p = float(np.array([mass for value, mass in loss[1] if value > end]).sum())
                off = 1e-13 * p
            else:
                p, _, off = (float(row[0]) for row in shifts.closed(loss, np.array([end])))
            low, high = low * max(0.0, p - off) ** n, high * min(1.0, p + off) ** n
        return low, high


class _Sum:
    """The law of a sum of losses on a lattice, weighted by e^(theta L), in a window around its mean."""

    def __init__(
        self,
        losses: dict[Loss, int],
        epsilon: float,
        width: float,
        *,
        upper_alone: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.theta, self.window, tilts, fine = _window(losses, epsilon, width)
        made = {loss: capped(pair(loss, cells), top) for loss, (cells, top) in fine.items()}
        # Below each floor no sum is in the window.
        ends = {loss: float(atoms.at.max()) for loss, atoms in made.items()}
        room = self.window.bottom - sum(n * ends[loss] for loss, n in losses.items())
        cuts = [(cut(made[loss], self.window.step, room + ends[loss]), n) for loss, n in losses.items()]
        rows = [[(cut_loss.first, cut_loss.rows[i], n) for cut_loss, n in cuts] for i in range(1 if upper_alone else 3)]
        self.blind = upper_alone or not all(row.any() for side in rows[1:] for _, row, _ in side)  # from below
        laws = [summed(row, self.theta, self.window, tilts) for row in rows[: 1 if self.blind else 3]]
        self.over, self.p, self.q = laws if len(laws) > 1 else laws * 3
        self.beyond = -math.expm1(sum(n * math.log1p(-min(cut_loss.lost, 1 - 1e-16)) for cut_loss, n in cuts))

    def _scale(self, law: Law, epsilon: float, side: int) -> float:
        """Return M^n e^(-theta epsilon), moved to one side by the relative error of everything."""
        reach = abs(epsilon) + max(abs(self.window.bottom), abs(self.window.top))
        off = law.relative + 2.0**-50 * (self.window.size + 100 + abs(law.log_moment) + self.theta * reach)
        return math.exp(min(law.log_moment - self.theta * epsilon + side * off, 700.0))

    def upper(self, epsilon: float, lost: float) -> float:
        """Return an upper bound on the delta of an epsilon, but for what is `lost` for certain."""
        return float(self.uppers(np.array([epsilon]), lost)[0])

    def uppers(self, epsilons: Array, lost: float) -> Array:
        """Return the same at many epsilons: sums from a knot on follow from those at the next one that is asked for."""
        law, step, end = self.over, self.window.step, self.window.size
        masses = np.maximum(0.0, law.masses + law.error)
        deltas, over, under = np.ones(len(epsilons)), 0.0, 0.0  # sums of masses that fade by theta, and by theta + 1
        for i in np.argsort(-epsilons):
            epsilon = float(epsilons[i])
            start = min(end, max(0, math.floor(epsilon / step) - self.window.first))
            places, span = np.arange(end - start) * step, (end - start) * step
            faded, passed = masses[start:end] * np.exp(-self.theta * places), math.exp(-self.theta * span)
            excess = (self.window.first + start) * step - epsilon
            gain = float(faded @ np.maximum(0.0, -np.expm1(-(excess + places))))
            if over:
                beyond = max(0.0, over - math.exp(-(excess + span)) * under)
                gain += passed * (beyond + over * 2.0**-50 * (self.window.size + len(epsilons)))
            gain *= math.exp(min(-self.theta * excess, 700.0))
            gain += law.above * math.exp(-self.theta * max(0.0, self.window.top - epsilon))
            gain += law.below if self.window.bottom > epsilon else 0.0
            scale = self._scale(law, epsilon, 1)
            deltas[i] = min(1.0, scale * gain + max(0.0, self.beyond - lost)) if scale < math.exp(650) else 1.0
            over = float(faded.sum()) + over * passed
            under = float(faded @ np.exp(-places)) + under * passed * math.exp(-span)
            end = start
        return deltas

    def lower(self, epsilon: float) -> float:
        """Return a lower bound on the delta of an epsilon: the best test that a sum of labels exceeds a threshold."""
        excess = self.window.losses - epsilon
        scales = self._scale(self.p, epsilon, -1), self._scale(self.q, epsilon, 1)
        near = excess > -1 / (1 + self.theta)
        if self.blind or not near.any() or max(scales) > math.exp(650):
            return 0.0
        excess = excess[near]
        shrunk = np.exp(-self.theta * excess)
        p = np.cumsum((np.maximum(0.0, self.p.masses[near] - self.p.error) * shrunk)[::-1])[::-1]
        q = np.cumsum((np.maximum(0.0, self.q.masses[near] + self.q.error) * shrunk * np.exp(-excess))[::-1])[::-1]
        p -= (self.p.above + self.p.below) * shrunk
        q += self.q.above * math.exp(-min((self.theta + 1) * (self.window.top - epsilon), 700.0))
        return max(0.0, float((scales[0] * p - scales[1] * q).max()))


def _window(losses: dict[Loss, int], epsilon: float, width: float) -> tuple[float, Window, Array, Cells]:
    """Return theta, a window that holds next to all weighted mass, tilts that prove it, and how losses are cut.

    Nothing here is proved: whatever is found serves.
    """
    most = max(64, 4 * _MERGED // len(losses))
    looks = {loss: _STEPS_LOOK if loss[0] == "allocated" else LOOK for loss in losses}
    atoms = {loss: _merged(pair(loss, looks[loss]), most) for loss in losses}

    outside = _BEYOND - math.log(width)
    least = 1e-7 * max(max(map(abs, reach(loss))) for loss in losses)

    def grown(thetas: Array) -> Array:
        return np.asarray(sum(n * growth(*atoms[loss], thetas) for loss, n in losses.items()))

    def deviation(theta: float) -> float:
        square = sum(n * _spread(*atoms[loss], theta)[0] for loss, n in losses.items())
        return max(math.sqrt(square), least)

    tried = np.geomspace(1e-9, 1e3, 144) / deviation(0.0)

    def bounds() -> Array:
        return np.asarray(grown(tried) - tried * epsilon - np.log(tried + tried**2))

    seldom = _SELDOM * width * math.exp(bounds().min()) / len(losses)
    tops = {loss: _top(*atoms[loss], seldom / n) for loss, n in losses.items()}
    atoms = {loss: (np.minimum(at, tops[loss]), masses * (at <= tops[loss])) for loss, (at, masses) in atoms.items()}
    theta = float(tried[np.argmin(bounds())])
    around = deviation(theta)
    ways = np.geomspace(0.02, 100, 40) / around
    right, left = ((grown(theta + way) - grown(np.array([theta])) + outside) / ways for way in (ways, -ways))
    low, high = -float(left.min()), float(right.min())
    tilts = np.array([-ways[np.argmin(left)], ways[np.argmin(right)]])
    steep = max(theta, 1 / around)  # splitting cells widens delta by about theta (1 + theta) / 2 times n h^2 / 6
    cost = steep * (1 + steep) / 12
    step = math.sqrt(width / cost / sum(losses.values()))
    size = 2 ** math.ceil(math.log2(min(max((high - low) / step + 8, _SIZES[0]), _SIZES[1])))
    step = _aligned(max(step, (high - low) / (size - 8), 10 * least), losses)  # a loss has 2e6 cells at most
    follow(step < 50, "a composition is too wide for this checker's lattice")
    finer = {loss: 4 * cost * n * _spread(*atoms[loss], theta)[1] / width for loss, n in losses.items()}
    cells = {
        loss: min(MOST, max(looks[loss], LOOK * 2 ** math.ceil(math.log2(max(1.0, ratio)) / 2)))
        for loss, ratio in finer.items()
    }
    fine: Cells = {loss: (count, tops[loss]) for loss, count in cells.items()}
    return theta, Window(math.floor(low / step) - 2, size, step), tilts, fine


def _top(at: Array, masses: Array, seldom: float) -> float:
    """Return the first place above all but this mass, if any: rare large losses would make a window wide."""
    order = np.argsort(at)
    beyond = np.cumsum(masses[order][::-1])[::-1]
    return float(at[order][beyond <= seldom].min(initial=math.inf))


def _aligned(step: float, losses: dict[Loss, int]) -> float:
    """Return a step of which the largest value of the most frequent loss is a multiple: its atoms are not split."""
    often = max(losses, key=lambda loss: losses[loss])
    end = max(map(abs, reach(often)))
    return end / math.floor(end / step) if often[0] in ("laplace", "discrete") and step <= end < _FINE * step else step


def _merged(atoms: Pair, most: int) -> tuple[Array, Array]:
    """Return atoms and masses, many of them as few."""
    if len(atoms.at) <= most:
        return atoms.at, atoms.masses
    where = np.rint((atoms.at - atoms.at.min()) / np.ptp(atoms.at) * min(most, _MERGED)).astype(int)
    masses = np.bincount(where, atoms.masses)
    return np.bincount(where, atoms.masses * atoms.at) / np.maximum(masses, 1e-320), masses


def _spread(at: Array, masses: Array, theta: float) -> tuple[float, float]:
    """Return the variance of a weighted loss, and the mean square of the gaps between its atoms."""
    sizes = np.log(np.maximum(masses, 1e-320)) + theta * at - growth(at, masses, np.array([theta]))
    weights = np.exp(np.where(masses > 0, sizes, -np.inf))
    gaps = np.diff(at, prepend=at[0])
    return max(float(weights @ (at - weights @ at) ** 2), 0.0), float(weights @ gaps**2)
