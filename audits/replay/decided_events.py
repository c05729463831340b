"""An event of the output that one number of a draw decides: the law of that draw gives its exact probabilities.

On one stream the number is drawn at many positions of its law, from the smallest to the largest. Where an event is
decided by the position, its probability is the length of the positions at which it occurs. So noise of any law of one
number is followed through any code: samplers of one's own, rounding, clamps, single precision, comparisons, texts.
Events that are decided by different numbers are independent: together they have the product of their probabilities.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, product
from math import exp, inf, isnan, log, prod
from typing import Any

import numpy as np

from audits.outputs.fields import NUMBER
from audits.replay.conditions import Condition, best_parts, column_of
from audits.replay.decided_laws import Decided, Positions, Together, share_of
from audits.replay.evidence import ROUNDING, same_output
from audits.replay.one_call import Call, Player
from audits.replay.positions import known_laws
from audits.replay.reachable import apart
from audits.replay.seen_law import SeenLoss, loss_of_event
from dpaudit import Claim
from dpaudit.model.mechanism import Array

_STREAM = 9_511
_TAILS = (1e-12, 1e-7, 1e-5, 1e-4, 1e-3, 0.005, 0.02, 0.05)
SHARES = (*_TAILS, *(k / 20 for k in range(2, 19)), *(1 - share for share in _TAILS[::-1]))
LENGTHS: Array = np.diff([0.0, *((left + right) / 2 for left, right in pairwise(SHARES)), 1.0])
"""The positions at which a number is drawn, first, and the lengths around them."""

_TOGETHER = 1, 2, 4, 8
"""Events of so many numbers are joined, which share the claim's epsilon."""

_BEYOND = 0.0, 1.0, 4.0
"""Events are chosen that exceed an epsilon which is larger by so much: lengths around positions are known roughly, and
an event in the middle of a law that seems to exceed the claim would hide a rare one that exceeds it by far."""

_NUMBERS, _PAIRS, _ENDS = 12, 5, (1e-4, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.9999)
"""So many numbers of a run are looked at, on so many pairs; one that moves nothing between these positions is left, or
no column that tells the data sets apart there."""

_COLUMNS, _VALUES, _EDGES, _HALVINGS = 12, 8, 8, 30
"""Of the columns that a number moves so many are looked at, and single values of a number that has so few; an event may
begin or end so often, at positions that are known to 2^-30."""

_RATED, _AGREE = 3, 12
"""So many events of each choice are followed to where they begin, if so many other runs of each data set agree with
them."""


_Known = dict[tuple[int, tuple[int, int], float], Call]
"""Calls by the data set, the number and its position."""


def decided_event(player: Player, pairs: Sequence[tuple[Any, Any]], claim: Claim) -> tuple[int, Decided] | None:
    """Return which of some pairs shows an event, decided by numbers, that exceeds the claim most; None if none does."""
    calls_made: _Known = {}
    every = [
        (at, candidate)
        for at, pair in enumerate(pairs[:_PAIRS])
        for candidate in _candidates(player, pair, claim, calls_made)
    ]
    every.sort(key=lambda candidate: -candidate[1].margin(claim))
    by_reach = ([candidate for candidate in every if candidate[1].beyond == beyond] for beyond in _BEYOND)
    rated = [candidate for candidates in by_reach for candidate in candidates[:_RATED]]
    likely = ((number, candidate) for number, candidate in rated if all(part.agrees() for part in candidate.parts))
    events = [(number, event) for number, candidate in likely if (event := candidate.event(claim)) is not None]
    best = max(events, key=lambda candidate: candidate[1].loss.margin, default=None)
    return None if best is None or best[1].loss.margin <= ROUNDING else best


def _candidates(player: Player, pair: tuple[Any, Any], claim: Claim, calls_made: _Known) -> "Iterator[_Candidate]":
    """Yield events that exceed the claim on either data set, decided by one number or by several together."""
    numbers = tuple(_moving(player, pair, calls_made))
    for together, side, beyond in product(_TOGETHER, range(2), _BEYOND):
        epsilon = (claim.epsilon + beyond) / together
        parts = [part for number in numbers if (part := number.part(side, epsilon)) is not None]
        parts.sort(key=lambda part: -part.worth)
        groups = [(part,) for part in parts] if together == 1 else [tuple(parts[:together])]
        for group in groups:
            candidate = _Candidate(parts=group, beyond=beyond)
            if len(group) > together // 2 and candidate.margin(claim) > 0:
                yield candidate


def _moving(player: Player, pair: tuple[Any, Any], calls_made: _Known) -> "Iterator[_Number]":
    """Yield the numbers of a run that move an output which tells the data sets apart."""
    bases = [player.call(data, _STREAM) for data in pair]
    for at in islice(_numbers(bases), _NUMBERS):
        number = _Number(player=player, pair=pair, at=at, calls=([], []), known=calls_made)
        ends = [[number.call(side, share) for share in _ENDS] for side in range(2)]
        moved = {name for calls in ends for first, second in pairwise(calls) for name in apart(first, second)}
        if any(moved.intersection(apart(first, second)) for first, second in zip(*ends, strict=True)):
            for side in range(2):
                number.calls[side].extend(number.every(side))
            number.columns.update(_moved_columns(number.calls))
            yield number


def _numbers(bases: Sequence[Call]) -> Iterator[tuple[int, int]]:
    """Yield the places of the numbers that both calls draw at the same place from one known law."""
    first, second = bases
    for index, (ours, theirs) in enumerate(zip(first.draws, second.draws, strict=False)):
        if ours.law == theirs.law in known_laws() and ours.drawn is not None:
            yield from ((index, number) for number in range(min(np.size(ours.drawn), np.size(theirs.drawn))))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Number:
    """One number of the draws on both data sets of a pair; `calls` on each of them have it at all `SHARES`.

    It moves `columns` of these calls, each of the shape (2, shares). Pairs that share a data set share the calls on it,
    which are `known`.
    """

    player: Player
    pair: tuple[Any, Any]
    at: tuple[int, int]
    calls: tuple[list[Call], list[Call]]
    known: _Known
    columns: dict[str, Array] = field(default_factory=dict[str, Array])

    def call(self, side: int, share: float) -> Call:
        """Return the call with the number at a position."""
        key = id(self.pair[side]), self.at, share
        if key not in self.known:
            self.known[key] = self.player.call(self.pair[side], _STREAM, pins=((*self.at, share),))
        return self.known[key]

    def every(self, side: int) -> Iterator[Call]:
        """Yield the calls at all `SHARES`; between two that give one output, the first of them again."""
        yield self.call(side, SHARES[0])
        for low, middle, high in zip(SHARES[::2], SHARES[1::2], SHARES[2::2], strict=False):
            ends = self.call(side, low), self.call(side, high)
            yield from (ends[0] if same_output(*ends) else self.call(side, middle), ends[1])

    def part(self, side: int, epsilon: float) -> "_Part | None":
        """Return the event that the number may decide and that exceeds `epsilon` most; None if none does."""
        worth, condition = _best_condition(self.columns, side, epsilon)
        return None if condition is None else _Part(number=self, side=side, condition=condition, worth=worth)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """An event that a number may decide, more likely on `side`."""

    number: _Number
    side: int
    condition: Condition
    worth: float

    @property
    def shares(self) -> tuple[float, float]:
        """The probability on `side` and on the other data set, by the lengths around the positions."""
        shown = [
            [self.condition.holds(call) for call in self.number.calls[side]] for side in (self.side, 1 - self.side)
        ]
        return float(LENGTHS @ shown[0]), float(LENGTHS @ shown[1])

    def agrees(self) -> bool:
        """Return whether the event is the one of the nearest positions on a few other streams."""
        for side, data in enumerate(self.number.pair):
            for number in range(_AGREE):
                call = self.number.player.call(data, _STREAM, number)
                share = share_of(call, self.number.at)
                index = int(np.searchsorted(SHARES, share))
                near = {self.condition.holds(right) for right in self.number.calls[side][max(index - 1, 0) : index + 1]}
                if isnan(share) or self.condition.holds(call) not in near:
                    return False
        return True

    def positions(self, side: int) -> Positions | None:
        """Return where the event occurs on one data set; None where it begins too often."""
        shown = [self.condition.holds(call) for call in self.number.calls[side]]
        changes = [index for index in range(len(shown) - 1) if shown[index] != shown[index + 1]]
        if len(changes) > _EDGES:
            return None
        edges = [self._edge(side, SHARES[index : index + 2], low=shown[index]) for index in changes]
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Candidate:
    """Events of different numbers that may exceed a claim together, all more likely on one data set.

    They were chosen as those that exceed an epsilon which is larger by `beyond`.
    """

    parts: tuple[_Part, ...]
    beyond: float

    def margin(self, claim: Claim) -> float:
        """Return by how much they exceed the claim, by the lengths around the positions."""
        shares = [part.shares for part in self.parts]
        often, seldom = (prod(share[side] for share in shares) for side in range(2))
        return often - exp(claim.epsilon) * seldom - claim.delta

    def event(self, claim: Claim) -> Decided | None:
        """Return the event with its positions; None where these are too many."""
        seen = [[part.positions(side) for part in self.parts] for side in range(2)]
        first, second = (
            Together(parts=tuple(positions for positions in side if positions is not None)) for side in seen
        )
        if len(first.parts) < len(self.parts) or len(second.parts) < len(self.parts):
            return None
        example = next((call for call in self.parts[0].number.calls[self.parts[0].side] if self._shows(call)), None)
        loss = self._loss((first, second), claim)
        return None if example is None else Decided(models=(first, second), loss=loss, example=example)

    def _shows(self, call: Call) -> bool:
        """Return whether a call shows the first of the events."""
        return self.parts[0].condition.holds(call)

    def _loss(self, seen: tuple[Together, Together], claim: Claim) -> SeenLoss:
        """Return the loss that the event shows."""
        side = self.parts[0].side
        often = max(0.0, seen[side].share - seen[side].doubt)
        seldom = min(1.0, seen[1 - side].share + seen[1 - side].doubt)
        draws = [part.number.calls[side][0].draws[part.number.at[0]] for part in self.parts]
        by = tuple(part.condition.name for part in self.parts), tuple(dict.fromkeys(draw.site for draw in draws))
        cause = " and ".join(dict.fromkeys(draw.law for draw in draws))
        epsilon = _ratio(often - claim.delta, seldom)
        return loss_of_event(claim, (often, seldom), by, "decided event", cause, epsilon)


def _ratio(often: float, seldom: float) -> float:
    """Return the logarithm of a ratio of probabilities; 0 for none on the side of `often`."""
    if often <= 0:
        return 0.0
    return log(often / seldom) if seldom > 0 else inf


def _moved_columns(calls: Sequence[Sequence[Call]]) -> dict[str, Array]:
    """Return the first of the columns that differ among the calls on one data set."""
    names = dict.fromkeys(name for left in calls for call in left for name in call.columns)
    columns = ((name, np.array([[column_of(call, name) for call in left] for left in calls])) for name in names)
    return dict(islice(((name, column) for name, column in columns if (column != column[:, :1]).any()), _COLUMNS))


def _best_condition(columns: Mapping[str, Array], side: int, epsilon: float) -> tuple[float, Condition | None]:
    """Return the condition on one column that exceeds the claim most, by the lengths around the positions.

    Single values of few count.
    """
    worth: Array = np.concatenate([LENGTHS * (1.0 if left == side else -exp(epsilon)) for left in range(2)])
    parts = [
        (total, condition)
        for name, column in columns.items()
        for total, condition in best_parts(name, column.ravel(), worth)
        if not (condition.values and name.startswith(NUMBER)) or len(np.unique(column)) <= _VALUES
    ]
    total, condition = max(parts, key=lambda left: left[0], default=(0.0, None))
    return total, condition if total > 0 else None
