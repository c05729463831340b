"""Outputs that single draws of noise decide one by one, with the exact probability of such an output.

Noise that a sparse vector or a suppressed cell adds before it compares shows in no number. But each draw can be moved
alone, and the output stays the same up to a threshold. If the thresholds of all draws together say when the output
comes out, its probability is a product, however rare it is.
"""

from dataclasses import dataclass
from math import log, prod
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from audits.outputs.fields import absent
from audits.replay.evidence import same_value
from audits.replay.one_call import Call, Player
from audits.replay.seen_law import SeenLoss
from dpaudit import Claim
from dpaudit.model.mechanism import Array

_STREAM, _MOST = 9_403, 8
"""Outputs of at most so many draws are looked at."""

_STARTS, _FAR = (-8.0, 8.0), 40.0
"""Where all draws start, and how far one of them is moved, in units of its scale."""

_HALVINGS, _NARROW = 22, 1e-3
"""A threshold is known to 40 / 2^22; a narrower range is no decision."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decided:
    """An output that comes out where each draw, of one of `laws`, lies in a range of its own, in units of its scale."""

    output: Call
    laws: tuple[str, ...]
    low: Array
    high: Array

    @property
    def probability(self) -> float:
        """The probability that each draw lies in its range."""
        ranges = zip(self.laws, self.low, self.high, strict=True)
        return prod(float(_below(law, high) - _below(law, low)) for law, low, high in ranges)

    def explains(self, call: Call) -> bool:
        """Return whether a call returned the output exactly if its draws lie in their ranges."""
        noise = call.noise
        inside = len(noise) == len(self.low) and bool(((self.low <= noise) & (noise <= self.high)).all())
        return call.only_additive and inside is same_output(call, self.output)


Seen = tuple[SeenLoss, tuple[Decided, Decided]]
"""A loss, and its output with the ranges on both data sets."""


def decided_loss(player: Player, pair: tuple[Any, Any], claim: Claim) -> Seen | None:
    """Return the loss of an output that draws decide one by one, by the claim's margin; None where there is none.

    Guarantee: if a call returns the output exactly if its draws lie in the ranges that are found, the probabilities are
    exact up to the precision of thresholds. Edge cases: none for numbers with noise, which change with every draw.
    """
    found: list[Seen] = []
    for start in _STARTS:
        first, second = (_decided(player, data, start) for data in pair)
        if first is None or second is None or not same_output(first.output, second.output):
            continue
        found.append((_loss(first, second, claim), (first, second)))
    return max(found, key=lambda one: one[0].margin, default=None)


def _loss(first: Decided, second: Decided, claim: Claim) -> SeenLoss:
    """Return the loss that the probabilities of one output show."""
    seldom, often = sorted((first.probability, second.probability))
    return SeenLoss(
        epsilon=log(often / seldom) if seldom > 0 else 0.0,
        often=often,
        seldom=seldom,
        margin=often - np.exp(claim.epsilon) * seldom - claim.delta if seldom > 0 else 0.0,
        names=(),
        sites=tuple(dict.fromkeys(draw.site for draw in first.output.draws)),
        kind="decisions",
        cause=f"{len(first.laws)} draws of noise decide this output, each by itself",
    )


def _decided(player: Player, data: Any, start: float) -> Decided | None:
    """Return the output where all draws start at one place, with the range of each; None where it is no decision."""
    noise, output = np.zeros(0), _call(player, data, np.zeros(0), np.ones(0))
    for _ in range(_MOST + 1):  # an output may draw more where earlier draws are moved
        scales = np.concatenate([np.zeros(0), *(draw.scale for draw in output.draws)])
        if not output.only_additive or not 0 < len(scales) <= _MOST or (scales == 0).any():
            return None
        if len(scales) == len(noise):
            break
        noise = np.full(len(scales), start)
        output = _call(player, data, noise, scales)
    else:
        return None
    ranges: list[tuple[float, float]] = []
    for place in range(len(noise)):
        ends = [_threshold(player, data, output, noise, place, end) for end in (-_FAR, _FAR)]
        if ends[1] - ends[0] < _NARROW:
            return None
        ranges.append((ends[0], ends[1]))
    low, high = np.array(ranges).T
    laws = tuple(draw.law for draw in output.draws for _ in range(len(draw.noise)))
    return Decided(output=output, laws=laws, low=low, high=high)


def _threshold(player: Player, data: Any, output: Call, noise: Array, place: int, end: float) -> float:
    """Return how far one draw can be moved towards an end, the others as they are, before the output changes."""
    scales = np.concatenate([draw.scale for draw in output.draws])

    def stays(position: float) -> bool:
        moved = noise.copy()
        moved[place] = position
        return same_output(_call(player, data, moved, scales), output)

    if stays(end):
        return float(np.copysign(np.inf, end))
    inside, outside = float(noise[place]), end
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if stays(middle) else (inside, middle)
    return inside


def _call(player: Player, data: Any, noise: Array, scales: Array) -> Call:
    """Return the call with chosen noise, in units of its scales."""
    return player.call(data, _STREAM, factor=0.0, shifts=tuple((noise * scales).tolist()))


def same_output(first: Call, second: Call) -> bool:
    """Return whether two calls have one output."""
    names = {**first.columns, **second.columns}
    values = ([call.columns.get(name, absent(name)) for call in (first, second)] for name in names)
    return all(same_value(ours, theirs) for ours, theirs in values)


def _below(law: str, place: float) -> float:
    """Return the distribution function of standard noise."""
    if law == "laplace":
        tail = 0.5 * np.exp(-abs(place))
        return float(tail if place < 0 else 1 - tail)
    if law == "gumbel":
        return float(np.exp(-np.exp(-place)))
    return float(expit(place) if law == "logistic" else ndtr(place))
