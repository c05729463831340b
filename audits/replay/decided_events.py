"""An event of the output that one number of a draw decides: the law of that draw gives its exact probabilities.

On one stream the number is drawn at many positions of its law, from the smallest to the largest. Where an event is
decided by the position, its probability is the length of the positions at which it occurs. So noise of any law of one
number is followed through any code: samplers of one's own, rounding, clamps, single precision, comparisons, texts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from math import exp, inf, isnan, log, nan
from typing import Any

import numpy as np

from audits.outputs.fields import NUMBER
from audits.replay.conditions import Condition, best_parts, column_of
from audits.replay.evidence import ROUNDING, SeenLaw
from audits.replay.one_call import Call, Player
from audits.replay.positions import known_laws, share_below
from audits.replay.reachable import apart
from audits.replay.seen_law import SeenLoss
from dpaudit import Claim
from dpaudit.model.mechanism import Array

_STREAM = 9_511
_TAILS = (1e-12, 1e-7, 1e-5, 1e-4, 1e-3, 0.005, 0.02, 0.05)
SHARES = (*_TAILS, *(k / 20 for k in range(2, 19)), *(1 - share for share in _TAILS[::-1]))
"""The positions at which a number is drawn, first."""

_NUMBERS, _PAIRS, _ENDS = 12, 4, (1e-4, 0.05, 0.4, 0.95, 0.9999)
"""So many numbers of a run are looked at, on so many pairs; one that moves nothing between these positions is left, or
no column that tells the data sets apart there."""

_COLUMNS, _VALUES, _EDGES, _HALVINGS = 12, 8, 8, 30
"""Of the columns that a number moves so many are looked at, and single values of a number that has so few; an event may
begin or end so often, at positions that are known to 2^-30."""

_RATED, _AGREE = 3, 12
"""So many events are followed to where they begin, if so many other runs of each data set agree with them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Positions:
    """The positions of one number at which an event occurs on one data set: ranges (low, high), each end in doubt.

    `at` is the place of the draw, and that of the number in it. `doubt` bounds how far an end may be wrong.
    """

    condition: Condition
    at: tuple[int, int]
    ranges: tuple[tuple[float, float], ...]
    doubt: float

    @property
    def share(self) -> float:
        """The probability of the event, but for the doubt."""
        return sum(high - low for low, high in self.ranges)

    def explains(self, call: Call) -> bool:
        """Return whether the event occurred in a call exactly where the position of its number says so."""
        share = _share_of(call, self.at)
        if any(abs(share - end) <= self.doubt for ends in self.ranges for end in ends):
            return True
        inside = any(low < share < high for low, high in self.ranges)
        return not isnan(share) and self.condition.holds(call) is inside


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decided:
    """An event that one number decides, as a seen law, and an output that shows it; whether no other number is drawn.

    Where others are drawn too, a few runs that follow the law do not show that no other law is followed rarely.
    """

    seen: tuple[Positions, Positions]
    loss: SeenLoss
    example: Call
    sole: bool

    @property
    def law(self) -> SeenLaw:
        """The event as a seen law."""
        return SeenLaw(loss=self.loss, models=self.seen)

    def within(self, most: int, claim: Claim, level: float) -> bool:
        """Return whether `most` runs of each side show it, or no other number is drawn."""
        return self.sole or self.law.calls_needed(self.loss.margin, claim, level) <= most


def decided_event(player: Player, pairs: Sequence[tuple[Any, Any]], claim: Claim) -> tuple[int, Decided] | None:
    """Return which of some pairs shows an event, decided by one number, that exceeds the claim most; None if none."""
    every = [(place, one) for place, pair in enumerate(pairs[:_PAIRS]) for one in _candidates(player, pair, claim)]
    every.sort(key=lambda one: -one[1].worth)
    likely = ((place, one) for place, one in every[:_RATED] if one.agrees())
    found = [(place, event) for place, one in likely if (event := one.event(claim)) is not None]
    best = max(found, key=lambda one: one[1].loss.margin, default=None)
    return None if best is None or best[1].loss.margin <= ROUNDING else best


def _candidates(player: Player, pair: tuple[Any, Any], claim: Claim) -> "Iterator[_Candidate]":
    """Yield the best event of each number that moves an output, on either data set."""
    bases = [player.call(data, _STREAM) for data in pair]
    for at in islice(_numbers(bases), _NUMBERS):
        number = _Number(player=player, pair=pair, at=at, sole=all(_sole(base) for base in bases))
        ends = [[number.call(side, share) for share in _ENDS] for side in range(2)]
        moved = {name for calls in ends for one, other in pairwise(calls) for name in apart(one, other)}
        if any(moved.intersection(apart(one, other)) for one, other in zip(*ends, strict=True)):
            yield from number.candidates(claim.epsilon)


def _numbers(bases: Sequence[Call]) -> Iterator[tuple[int, int]]:
    """Yield the places of the numbers that both calls draw at the same place from one known law."""
    first, second = bases
    for place, (ours, theirs) in enumerate(zip(first.draws, second.draws, strict=False)):
        if ours.law == theirs.law in known_laws() and ours.drawn is not None:
            yield from ((place, number) for number in range(min(np.size(ours.drawn), np.size(theirs.drawn))))


def _share_of(call: Call, at: tuple[int, int]) -> float:
    """Return the share of its law below a number of a call; NaN where the call draws no such number."""
    draw = call.draws[at[0]] if at[0] < len(call.draws) else None
    if draw is None or draw.law not in known_laws() or draw.drawn is None or at[1] >= np.size(draw.drawn):
        return nan
    return share_below(draw.law, draw.given, draw.drawn, at[1])


def _sole(call: Call) -> bool:
    """Return whether a call draws one number."""
    return len(call.draws) == 1 and np.size(call.draws[0].drawn) == 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Number:
    """One number of the draws on both data sets of a pair; `sole` says that no other one is drawn."""

    player: Player
    pair: tuple[Any, Any]
    at: tuple[int, int]
    sole: bool

    def call(self, side: int, share: float) -> Call:
        """Return the call with the number at a position."""
        return self.player.call(self.pair[side], _STREAM, pin=(*self.at, share))

    def candidates(self, epsilon: float) -> "Iterator[_Candidate]":
        """Yield the best event that the number may decide, for each side on which it may be more likely."""
        calls = [[self.call(side, share) for share in SHARES] for side in range(2)]
        for side in range(2):
            worth, condition = _best_condition(calls, side, epsilon)
            if condition is not None:
                yield _Candidate(number=self, calls=calls, side=side, condition=condition, worth=worth)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Candidate:
    """An event that a number may decide, more likely on `side`; `calls` have the number at all `SHARES`."""

    number: _Number
    calls: list[list[Call]]
    side: int
    condition: Condition
    worth: float

    def agrees(self) -> bool:
        """Return whether the event is the one of the nearest positions on a few other streams."""
        for side, data in enumerate(self.number.pair):
            for number in range(_AGREE):
                call = self.number.player.call(data, _STREAM, number)
                share = _share_of(call, self.number.at)
                place = int(np.searchsorted(SHARES, share))
                near = {self.condition.holds(one) for one in self.calls[side][max(place - 1, 0) : place + 1]}
                if isnan(share) or self.condition.holds(call) not in near:
                    return False
        return True

    def event(self, claim: Claim) -> Decided | None:
        """Return the event with its positions; None where these are too many."""
        first, second = (self._positions(side) for side in range(2))
        if first is None or second is None:
            return None
        example = next(call for call in self.calls[self.side] if self.condition.holds(call))
        loss = self._loss((first, second), claim, example)
        return Decided(seen=(first, second), loss=loss, example=example, sole=self.number.sole)

    def _positions(self, side: int) -> Positions | None:
        """Return where the event occurs on one data set; None where it begins too often."""
        shown = [self.condition.holds(call) for call in self.calls[side]]
        changes = [place for place in range(len(shown) - 1) if shown[place] != shown[place + 1]]
        if len(changes) > _EDGES:
            return None
        edges = [self._edge(side, SHARES[place : place + 2], low=shown[place]) for place in changes]
        edges = [*([0.0] if shown[0] else []), *edges, *([1.0] if shown[-1] else [])]
        ranges = tuple(zip(edges[::2], edges[1::2], strict=True))
        return Positions(condition=self.condition, at=self.number.at, ranges=ranges, doubt=2.0**-_HALVINGS)

    def _edge(self, side: int, between: Sequence[float], *, low: bool) -> float:
        """Return the position between two others from which on the event occurs, or does not."""
        below, above = between
        while above - below > 2.0**-_HALVINGS:
            middle = (below + above) / 2
            same = self.condition.holds(self.number.call(side, middle)) is low
            below, above = (middle, above) if same else (below, middle)
        return (below + above) / 2

    def _loss(self, seen: tuple[Positions, Positions], claim: Claim, example: Call) -> SeenLoss:
        """Return the loss that the event shows."""
        doubts = [2 * len(one.ranges) * one.doubt for one in seen]
        often = max(0.0, seen[self.side].share - doubts[self.side])
        seldom = min(1.0, seen[1 - self.side].share + doubts[1 - self.side])
        draw = example.draws[self.number.at[0]]
        return SeenLoss(
            epsilon=_ratio(often - claim.delta, seldom),
            often=often,
            seldom=seldom,
            margin=often - exp(claim.epsilon) * seldom - claim.delta,
            names=(self.condition.name,),
            sites=(draw.site,),
            kind="decided event",
            cause=draw.law,
        )


def _ratio(often: float, seldom: float) -> float:
    """Return the logarithm of a ratio of probabilities; 0 for none on the side of `often`."""
    if often <= 0:
        return 0.0
    return log(often / seldom) if seldom > 0 else inf


def _best_condition(calls: Sequence[Sequence[Call]], side: int, epsilon: float) -> tuple[float, Condition | None]:
    """Return the condition on one column that exceeds the claim most, by the lengths around the positions.

    Only columns that the number moves count, and single values of few.
    """
    middles = [0.0, *((one + other) / 2 for one, other in pairwise(SHARES)), 1.0]
    lengths = np.diff(middles)
    worth: Array = np.concatenate([lengths * (1.0 if one == side else -exp(epsilon)) for one in range(2)])
    names = dict.fromkeys(name for one in calls for call in one for name in call.columns)
    columns = {name: np.array([[column_of(call, name) for call in one] for one in calls]) for name in names}
    moved = {name: column for name, column in columns.items() if (column != column[:, :1]).any()}
    parts = [
        (total, condition)
        for name, column in islice(moved.items(), _COLUMNS)
        for total, condition in best_parts(name, column.ravel(), worth)
        if not (condition.values and name.startswith(NUMBER)) or len(np.unique(column)) <= _VALUES
    ]
    total, condition = max(parts, key=lambda one: one[0], default=(0.0, None))
    return total, condition if total > 0 else None
