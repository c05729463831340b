"""Runs on two data sets whose noise differs by a fixed shift, so that both give one output: weighed by their noise.

Let z be the noise of a run on the first data set, and z + m that of its couple on the second one. Every run on either
data set has one couple. Given the couple, it was on the first data set with probability p(z) / (p(z) + p(z + m)). So an
event of the output is weighed by probabilities that the draws give exactly, where an attack would count guesses.

Guarantee: the mean of `Coupled.worth`, over a run on each data set, is the probability of the event on one of them less
exp(epsilon) times that on the other, whatever the function does and whatever the shift. A shift that gives both data
sets one output makes its variance small. So noise is followed through rounding, texts, clamps, comparisons and choices.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, inf, isfinite, log, sqrt
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from audits.replay.conditions import WHOLE_OUTPUT, Condition, best_parts, column_of
from audits.replay.evidence import Heard, same_output
from audits.replay.one_call import LOST, Call, Calls, Player
from audits.replay.reachable import apart
from audits.replay.recording import WHOLE
from dpaudit import Claim
from dpaudit.model.mechanism import Array

_STREAM, _MOST, _MOVED = 9_403, 24, 72
"""Runs of at most so many draws of noise are coupled; of all pairs together so many draws are moved."""

_FAR, _NEAR, _HALVINGS, _SWEEPS, _BASES = 12.0, 1.5, 12, 2, 8
"""A draw of the longest of so many runs is moved by so many scales; where the output changes is known to 12 / 2^11."""

_RATED, _TAUGHT, _CONDITIONS = 2, 120, 4
"""On so many pairs so many runs of each data set choose an event, of at most so many conditions; as many rate it."""

_MANY, _TAUGHT_RARE = 8, 300
"""Of so many draws each output is rare: so many runs choose its event then, and rate it."""

_CLOSE = 2 ** (_HALVINGS - 2), 64, 1
"""An edge is looked for these parts of the way around another one, one after the other; at last anywhere."""

_SEEN = 4 * _FAR / 2**_HALVINGS
"""So much of a scale is no shift that the search sees."""

_AGREE, _ROUNDED_APART = 30, 1
"""Where so many runs of each data set give the output of their couples, the shift explains the function; so few may
round otherwise, as the shift is not known better."""

_CERTAIN = 0.95
"""The largest bet is this part of the one that a single run could lose."""

_ROUNDED = 1.05
"""A shift is known to a part of a scale."""

_DOUBTED = 2.5
"""A mean that is lower by so many standard errors is given up: most events that were chosen by chance are."""

_STAKES = (1.0, 0.5, 0.2)
_SPARE = 1.7

Weighed = tuple[float, float]
"""The probability that a run is one of the data set that shows the event often, if it does; and that of the other."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Couple:
    """A run on the first data set and its couple on the second one, and how likely a run of the couple is either."""

    calls: tuple[Call, Call]
    shares: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coupling:
    """The couples of runs on two data sets: the noise of the second one is moved by `shift`, draw by draw."""

    player: Player
    neighbours: tuple[Any, Any]
    shift: Array

    def couple(self, call: Call, side: int) -> Couple:
        """Return a run and its couple.

        Where the two do not draw from equal laws, up to the last draw that is moved, the run is one of `side` for sure.
        """
        sign = 1 - 2 * side
        shifts = tuple((sign * self.shift).tolist())
        other = self.player.call(self.neighbours[1 - side], *call.seed, shifts=shifts, like=call.draws)
        first, second = (call, other)[::sign]
        odds = sign * self._odds(call, other, sign)
        return Couple(calls=(first, second), shares=(float(expit(odds)), float(expit(-odds))))

    def explains(self, call: Calls) -> bool:
        """Return whether a few runs of Laplace noise give the output of their couples."""
        left = _ROUNDED_APART
        for side, data in enumerate(self.neighbours):
            for run in (call(data, _STREAM, _AGREE, number) for number in range(_AGREE)):
                if not all(run.law_of(int(index)) in ("laplace", "") for index in np.flatnonzero(self.shift)):
                    return False
                left -= bool(apart(*self.couple(run, side).calls))
                if left < 0:
                    return False
        return True

    def _odds(self, call: Call, other: Call, sign: int) -> float:
        """Return the log odds of a run against its couple."""
        moved = np.flatnonzero(self.shift)
        last = moved.max(initial=-1) + 1
        if not _alike(call, other):
            return inf
        odds = call.log_chance - other.log_chance
        laws, scales = _laws(call), call.scales[:last]
        if laws[:last] != _laws(other)[:last] or not np.array_equal(scales, other.scales[:last]):
            return inf
        at = moved[moved < len(scales)]
        noise, far = call.noise[at], sign * self.shift[at] / scales[at]
        kinds = [laws[index][0] for index in at]
        return float(odds + sum(map(_log_density, kinds, noise)) - sum(map(_log_density, kinds, noise + far)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coupled:
    """An event of the output that coupled runs show more often on data set `side` than the claim allows.

    `stake` is what a bet puts on each run, and `growth` the log of its factor, on average, in the runs that chose it.
    """

    coupling: Coupling
    conditions: tuple[Condition, ...]
    side: int
    stake: float
    growth: float

    def heard(self, call: Call, side: int) -> Weighed:
        """Return the weights of a run and of its couple."""
        return self.weighed(self.coupling.couple(call, side))

    def weighed(self, couple: Couple) -> Weighed:
        """Return the weights of a run and of its couple."""
        ours, theirs = (share * self.shows(call) for share, call in zip(couple.shares, couple.calls, strict=True))
        return (ours, theirs) if self.side == 0 else (theirs, ours)

    def shows(self, call: Call) -> bool:
        """Return whether a call shows the event."""
        return all(condition.holds(call) for condition in self.conditions)

    def calls_needed(self, margin: float, claim: Claim, level: float) -> int:
        """Return how many runs of each side show the violation if they are as those that chose it."""
        del margin, claim
        return ceil(_SPARE * log(1 / level) / self.growth)

    def hopeless(self, heard: Heard, claim: Claim) -> bool:
        """Return whether further runs will not show a violation: these show none."""
        worths = _worths(heard, claim.epsilon)
        wide = _DOUBTED * float(worths.std()) / sqrt(len(worths))
        return len(worths) >= _TAUGHT and float(worths.mean()) + wide <= claim.delta

    def epsilon(self, heard: Heard, claim: Claim, level: float) -> float:
        """Return the largest epsilon of a grid such that a bet on these runs rejects it and all smaller ones.

        Guarantee: it exceeds the true one with probability at most `level`: the capital of a bet on a mean that is at
        most delta is a supermartingale, and the next epsilon of the grid above the true one is rejected as rarely.
        Source: Ville (1939); Waudby-Smith and Ramdas (2024), Section 4, for bets on a mean.
        """
        shown = 0.0
        for epsilon in np.concatenate([[claim.epsilon], np.geomspace(claim.epsilon + 0.01, claim.epsilon + 10, 60)]):
            gains = _gains(_worths(heard, epsilon), self.stake, epsilon, claim.delta)
            if gains.cumsum().max(initial=0.0) < log(1 / level):
                return shown
            shown = float(np.nextafter(epsilon, inf))
        return shown


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shown:
    """A coupled event, one output that shows it, and its estimated probabilities on the two data sets."""

    coupled: Coupled
    example: Call
    shares: tuple[float, float]


def coupled_event(player: Player, pairs: Sequence[tuple[Any, Any]], claim: Claim) -> tuple[int, Shown] | None:
    """Return which of some pairs shows an event that exceeds the claim by the largest growth; None if none does.

    The pairs whose noise has to move farthest are tried, but for those that the claim's own noise covers.
    """
    call, edges = Calls(player=player), dict[tuple[Any, ...], _Edge | None]()
    couplings: list[tuple[float, int, Coupling]] = []
    left = _MOVED
    for number, moves in (
        (number, candidate) for number, pair in enumerate(pairs) for candidate in _Moves.of(call, pair, edges)
    ):
        pair = pairs[number]
        left -= len(moves.base.noise) * (len(moves.base.noise) <= _MOST)
        shift = moves.shift if left >= 0 else None
        if shift is None and moves.base.weighed:
            other = player.call(pair[moves.sign > 0], *moves.base.seed, like=moves.base.draws)
            loss = moves.base.loss_of_choices(other) + LOST * _shown_by_one(call, pair)
            if loss > claim.epsilon:
                couplings.append((loss, number, Coupling(player=player, neighbours=pair, shift=np.zeros(0))))
        if shift is not None:
            coupling, total, explains = _nearest(call, pair, shift, moves.base.scales)
            if not explains or total > claim.epsilon * _ROUNDED or claim.delta > 0:
                couplings.append((total, number, coupling))
    couplings.sort(key=lambda candidate: -candidate[0])
    firsts = {
        tuple(np.flatnonzero(coupling.shift)): coupling for _, _, coupling in couplings[::-1]
    }  # of each moved draws
    couplings.sort(key=lambda candidate: all(candidate[2] is not first for first in firsts.values()))
    best = couplings[:_RATED]
    shown = [(number, candidate) for _, number, coupling in best for candidate in _events(call, coupling, claim)]
    return max(shown, key=lambda candidate: candidate[1].coupled.growth, default=None)


def _shown_by_one(call: Calls, pair: tuple[Any, Any]) -> float:
    """Return the largest share of a few runs on one data set whose output no run on the other one gives.

    Equal choices may stand for different outputs, as places in the data do. Beside additive noise the share is 0.
    """
    sides = [[call(data, _STREAM, number) for number in range(_AGREE)] for data in pair]
    if any(len(run.noise) for runs in sides for run in runs):
        return 0.0
    alone = [
        [not any(same_output(run, other) for other in others) for run in runs] for runs, others in (sides, sides[::-1])
    ]
    return max(map(sum, alone)) / _AGREE


def _nearest(call: Calls, pair: tuple[Any, Any], shift: Array, scales: Array) -> tuple[Coupling, float, bool]:
    """Return the coupling with the shift, its size in scales, and whether it seems to explain the outputs.

    Where outputs compare draws with each other, all may move together: of such shifts the smallest is taken.
    """
    shifts = sorted((shift - common for common in {0.0, *shift.tolist()}), key=lambda shifted: _size(shifted, scales))
    for shifted in (shifted for shifted in shifts if shifted.any()):
        coupling = Coupling(player=call.player, neighbours=pair, shift=shifted)
        if coupling.explains(call):
            return coupling, _size(shifted, scales), True
    return Coupling(player=call.player, neighbours=pair, shift=shift), _size(shift, scales), False


def _size(shift: Array, scales: Array) -> float:
    """Return how far draws move in all, in their scales; differences that are closer than the search sees are none."""
    far = np.abs(shift) / scales
    return float(far[far > _SEEN].sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Edge:
    """How far a draw moves until an output has another mark."""

    mark: Callable[[Call], bool]
    at: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Moves:
    """The search for a shift: each draw of a run is moved until its output changes, on one data set and the other."""

    player: Player
    neighbours: tuple[Any, Any]
    base: Call
    sign: int
    edges: dict[tuple[Any, ...], _Edge | None]

    @classmethod
    def of(
        cls, call: Calls, neighbours: tuple[Any, Any], edges: dict[tuple[Any, ...], _Edge | None]
    ) -> tuple["_Moves", ...]:
        """Return the searches that move the runs of the most and of the fewest draws, of a few; each data set first.

        `edges` keeps where outputs of the first data set change, for all searches of one function.
        """
        orders = (neighbours, 1), (neighbours[::-1], -1)
        runs = [(call(order[0], _STREAM, n), order, sign) for n in range(_BASES) for order, sign in orders]
        runs.sort(
            key=lambda run: float(np.abs(run[0].noise).max(initial=0.0))
        )  # near the centre noise is not drawn again
        ends = max(runs, key=lambda run: len(run[0].noise)), min(runs, key=lambda run: len(run[0].noise))
        alike = len(ends[0][0].noise) == len(ends[1][0].noise)
        return tuple(
            cls(player=call.player, neighbours=order, base=base, sign=sign, edges=edges)
            for base, order, sign in ends[: 1 if alike else 2]
        )

    @property
    def shift(self) -> Array | None:
        """How far the draws of the second data set have to move to give the first one's output; None if not at all."""
        scales = self.base.scales
        if not 0 < len(scales) <= _MOST or (scales == 0).any():
            return None
        shift = np.zeros(len(scales))
        for _ in range(_SWEEPS):
            before = shift.copy()
            for index, scale in enumerate(scales):
                steps = (self._step(shift, index, far * scale) for far in (_NEAR, _FAR))
                shift[index] += next((step for step in steps if step is not None), 0.0)
            if (np.abs(shift - before) <= _SEEN * scales).all():
                break
        shift[np.abs(shift) <= _SEEN * scales] = 0.0
        shift = np.where([self.base.law_of(index) in WHOLE for index in range(len(shift))], np.rint(shift), shift)
        return self.sign * shift if shift.any() else None

    def _step(self, shift: Array, index: int, far: float) -> float | None:
        """Return how much farther one draw of the second data set has to move than that of the first one.

        None where moving it so far changes no output, or changes it back.
        """
        key = id(self.neighbours[0]), self.base.seed, index, far
        if key not in self.edges:
            self.edges[key] = self._first_edge(index, far)
        edge = self.edges[key]
        there = None if edge is None else self._edge(1, shift, index, far, edge)
        return None if edge is None or there is None else there - edge.at

    def _first_edge(self, index: int, far: float) -> _Edge | None:
        """Return where an output of the first data set changes as one draw moves, and by what; None if it does not."""
        none = np.zeros(len(self.base.noise))
        mark = _mark(self._call(0, none, index, -far), self.base, self._call(0, none, index, far))
        if mark is None:
            return None
        edge = _Edge(mark=mark, at=0.0)
        at = self._edge(0, none, index, far, edge, _CLOSE[-1:])
        return None if at is None else replace(edge, at=at)

    def _edge(
        self, side: int, shift: Array, index: int, far: float, near: _Edge, parts: tuple[int, ...] = _CLOSE
    ) -> float | None:
        """Return how far one draw moves until an output has another mark; None where it has one at both ends.

        It is looked for beside another edge first, in `parts` of the way up to `far` on either side.
        """

        def marked(by: float) -> bool:
            return near.mark(self._call(side, shift, index, by))

        for reach in (far / part for part in parts):
            low, high = (max(-far, near.at - reach), min(far, near.at + reach)) if reach < far else (-far, far)
            first = marked(low)
            if marked(high) is not first:
                break
        else:
            return None
        while high - low > 2 * far / 2**_HALVINGS:
            middle = (low + high) / 2
            low, high = (middle, high) if marked(middle) is first else (low, middle)
        return (low + high) / 2

    def _call(self, side: int, shift: Array, index: int, by: float) -> Call:
        """Return the call of a data set with one draw moved further."""
        moved = shift.copy()
        moved[index] += by
        return self.player.call(self.neighbours[side], *self.base.seed, shifts=tuple(moved.tolist()))


def _mark(low: Call, here: Call, high: Call) -> Callable[[Call], bool] | None:
    """Return what a moving draw changes in an output: whether a number is larger, or all of it; None if nothing."""
    for name, value in here.numbers.items():
        ends = [call.column(name) for call in (low, high)]
        if all(map(isfinite, (*ends, value))) and ends[0] != ends[1]:
            least = float(np.nextafter(value, inf)) if value < max(ends) else value
            return Condition(name=name, low=least, high=inf).holds
    if same_output(low, high):
        return None
    return lambda call: same_output(call, low)


def _events(call: Calls, coupling: Coupling, claim: Claim) -> Iterator[Shown]:
    """Yield the best event of coupled runs that is more likely on either data set, where it exceeds the claim."""
    most = _TAUGHT_RARE if len(coupling.shift) >= _MANY else _TAUGHT
    runs = [
        [coupling.couple(call(data, _STREAM, side, number), side) for number in range(2 * most)]
        for side, data in enumerate(coupling.neighbours)
    ]
    for side in range(2):
        taught = [couple for couples in runs for couple in couples[:most]]
        conditions = _conditions(taught, side, claim.epsilon)
        event = Coupled(coupling=coupling, conditions=conditions, side=side, stake=0.0, growth=0.0)
        rated = (couples[most:] for couples in runs)
        first, second = (tuple(event.weighed(couple) for couple in couples) for couples in rated)
        heard = first, second
        worths = _worths(heard, claim.epsilon)
        stakes = [(float(_gains(worths, stake, claim.epsilon, claim.delta).mean()), stake) for stake in _STAKES]
        growth, stake = max(stakes)
        if growth > 0:
            ours, theirs = (float(share) for share in np.array(heard).reshape(-1, 2).mean(axis=0) * 2)
            shares = (ours, theirs) if side == 0 else (theirs, ours)
            example = next(couple.calls[side] for couple in taught if event.shows(couple.calls[side]))
            yield Shown(
                coupled=replace(event, stake=stake, growth=growth),
                example=example,
                shares=shares,
            )


def _conditions(couples: Sequence[Couple], side: int, epsilon: float) -> tuple[Condition, ...]:
    """Return the conditions, one after the other, under which coupled runs are worth the most."""
    calls = [call for couple in couples for call in couple.calls]
    sure = np.array([couple.shares for couple in couples]).ravel()
    worth = np.where(np.arange(len(calls)) % 2 == side, sure, -exp(epsilon) * sure)
    names = dict.fromkeys((WHOLE_OUTPUT, *(name for call in calls for name in call.columns)))
    columns = {name: np.array([column_of(call, name) for call in calls]) for name in names}
    chosen: list[Condition] = []
    best, most = 0, float(worth.sum())
    while len(chosen) < _CONDITIONS:
        ranges = [part for name, column in columns.items() for part in best_parts(name, column, worth)]
        total, condition = max(ranges, key=lambda rated: rated[0])
        chosen.append(condition)
        if total > most:
            best, most = len(chosen), total
        worth = np.where([condition.holds(call) for call in calls], worth, 0.0)
    return tuple(chosen[:best])


def _worths(heard: Heard, epsilon: float) -> Array:
    """Return what each run of one data set, with one of the other, is worth: 2 at most, -2 exp(epsilon) at least."""
    weights: Array = np.array(heard)  # (sides, runs, 2)
    return (weights[..., 0] - exp(epsilon) * weights[..., 1]).sum(axis=0)


def _gains(worths: Array, stake: float, epsilon: float, delta: float) -> Array:
    """Return the log of what each bet multiplies the capital by; `stake` is a part of the largest bet."""
    largest = _CERTAIN / (2 * exp(epsilon) + delta)
    return np.log1p(stake * largest * (worths - delta))


def _alike(call: Call, other: Call) -> bool:
    """Return whether two calls choose equally often, and the same values."""
    drawn = [{at: draw.weighed for at, draw in either.weighed.items()} for either in (call, other)]
    both = ((draw, other.weighed.get(at, draw)) for at, draw in call.weighed.items() if len(draw.values))
    return drawn[0] == drawn[1] and all(np.array_equal(ours.picked, theirs.picked) for ours, theirs in both)


def _laws(call: Call) -> list[tuple[str, int]]:
    """Return the law of each draw of additive noise, with its place in the stream."""
    return [(draw.law, number) for number, draw in enumerate(call.draws) for _ in draw.noise]


def _log_density(law: str, noise: float) -> float:
    """Return the log density of standard noise, but for a constant."""
    if law == "laplace":
        return -abs(noise)
    if law in WHOLE:
        return 0.0  # weighed by what was drawn, moved or not
    if law.endswith("exponential"):
        return -noise if noise >= 0 else -inf
    if law == "gumbel":
        return -noise - exp(-noise)
    return float(log_expit(noise) + log_expit(-noise)) if law == "logistic" else -(noise**2) / 2
