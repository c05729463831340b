"""The exact probabilities of events that single numbers of a run decide, by the positions of these in their laws."""

from dataclasses import dataclass
from math import isnan, nan, prod
from typing import Any

import numpy as np

from audits.replay.conditions import Condition
from audits.replay.evidence import SeenLaw
from audits.replay.one_call import Call, Calls
from audits.replay.positions import known_laws, share_below

_STREAM, _CALLS = 9_521, 12
"""In so many calls all numbers are drawn where the events occur."""


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

    def position(self, part: float) -> float:
        """Return the position at which the event occurs that has this part of all of them below it."""
        left = part * self.share
        for low, high in self.ranges:
            if left <= high - low:
                return low + left
            left -= high - low
        return self.ranges[-1][1]

    def explains(self, call: Call) -> bool:
        """Return whether the event occurred in a call exactly where the position of its number says so."""
        share = share_of(call, self.at)
        if any(abs(share - end) <= self.doubt for ends in self.ranges for end in ends):
            return True
        inside = any(low < share < high for low, high in self.ranges)
        return not isnan(share) and self.condition.holds(call) is inside


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Together:
    """Events on one data set that are decided by different numbers, all at once."""

    parts: tuple[Positions, ...]

    @property
    def share(self) -> float:
        """The probability that all of them occur, but for the doubt."""
        return prod(part.share for part in self.parts)

    @property
    def doubt(self) -> float:
        """How far the probability may be wrong, at most."""
        return sum(2 * len(part.ranges) * part.doubt for part in self.parts)

    def explains(self, call: Call) -> bool:
        """Return whether each event occurred exactly where the position of its number says so."""
        return all(part.explains(call) for part in self.parts)

    def holds_beyond(self, call: Calls, data: Any, reach: float) -> bool:
        """Return whether calls in which all numbers are drawn where the events occur show all of them."""
        del reach
        rng = np.random.default_rng(_STREAM)
        pinned = (
            call.player.call(
                data, _STREAM, number, pins=tuple((*part.at, part.position(rng.random())) for part in self.parts)
            )
            for number in range(_CALLS if self.share > 0 else 0)
        )
        return all(part.condition.holds(run) for run in pinned for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decided(SeenLaw):
    """An event that single numbers decide, as a seen law, and an output that shows it.

    Between two positions that were looked at, the event may change twice. So the law is shown only by as many fresh
    runs that follow it as leave no room for what would keep the claim.
    """

    models: tuple[Together, Together]
    example: Call


def share_of(call: Call, at: tuple[int, int]) -> float:
    """Return the share of its law below a number of a call; NaN where the call draws no such number."""
    draw = call.draws[at[0]] if at[0] < len(call.draws) else None
    if draw is None or draw.law not in known_laws() or draw.drawn is None or at[1] >= np.size(draw.drawn):
        return nan
    return share_below(draw.law, draw.given, draw.drawn, at[1])
