"""A paper's constants, the horizons from which its widths say something, and lower bounds on regret."""

import math
from collections.abc import Callable
from dataclasses import dataclass

_STEP = 0.05
_LONGEST = 80.0
"""The largest horizon that is looked at, in log10; beyond the square of it floating point ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """One number of the paper at the configured horizon; `source` is its place there."""

    name: str
    value: float
    source: str


def constants(*rows: tuple[str, float, str]) -> tuple[Constant, ...]:
    """Return the constants of a table whose rows are a name, a value and a place in the paper."""
    return tuple(Constant(name=name, value=value, source=source) for name, value, source in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakingHorizon:
    """From which horizon on a printed width or bound is not vacuous.

    `log10` is the logarithm of that horizon, infinity where there is none up to 10^80; `speaks` says what is asked.
    """

    name: str
    speaks: str
    log10: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperConstants:
    """All constants of a configuration, and all horizons."""

    constants: tuple[Constant, ...]
    horizons: tuple[SpeakingHorizon, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretLowerBound:
    """What every method with a given guarantee loses on the worst of some instances.

    `value` is regret of the whole horizon, rounded down. `instances` is the size of the family, `family` names it, and
    `source` is where the proof is. `is_member` says that the problem at hand is an instance itself: then the largest
    regret over all instances, and nothing else, may be compared with the bound.
    """

    value: float
    instances: int
    family: str
    source: str
    is_member: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretUpperBound:
    """What a published or a stated proof allows a method to lose on one problem, in regret of the whole horizon.

    `value` is at most what can be lost at all, `most`; where it is that, the proof says nothing. `log10` is the
    logarithm of the horizon from which it does, infinity where that is beyond 10^80, NaN where it was not computed.
    """

    value: float
    most: float
    log10: float
    source: str


def regret_upper_bound(
    *, horizon: float, most: float, source: str, log10: float = math.nan, value: float = math.inf
) -> RegretUpperBound | None:
    """Return what a proof allows; `most` is what a round can lose, and `value` what the proof says, where it is known.

    Edge cases: None where the proof speaks at this horizon, and its number is not known.

    >>> regret_upper_bound(horizon=100, most=0.5, source="a theorem", log10=9.0).value
    50.0
    """
    if math.isinf(value) and not math.log10(horizon) < log10:
        return None
    largest_loss = most * horizon
    return RegretUpperBound(value=min(value, largest_loss), most=largest_loss, log10=log10, source=source)


def log10_horizon(speaks: Callable[[float], bool], *, smallest: float = 0.5) -> float:
    """Return log10 of the horizon from which `speaks` holds on, to 1e-6; infinity where it fails at 10^80.

    `speaks` gets a horizon, which may be far beyond 2^63. Between horizons a twentieth of a decade apart it may change
    at most once. Edge cases: one that holds everywhere gives `smallest`, where the search begins.

    >>> round(log10_horizon(lambda horizon: horizon > 1000), 5)
    3.0
    """
    high = _LONGEST
    if not speaks(10.0**high):
        return math.inf
    while high > smallest and speaks(10.0 ** max(high - _STEP, smallest)):
        high = max(high - _STEP, smallest)
    low = max(high - _STEP, smallest)
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (low, middle) if speaks(10.0**middle) else (middle, high)
    return high
