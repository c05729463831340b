"""An e-process against a whole trade-off curve: bets on thresholds and rates that earlier runs taught, at any time."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from audits.bounds.projection import project
from audits.bounds.trade_offs import TradeOff
from dpaudit.checks import open_probability
from dpaudit.model.mechanism import Array

_EVENTS = 9
_FIRST = 8
_GROWTH = 0.25
_PRIOR = 0.5
_MOST_TAUGHT = 50_000
_LEAST_SHARE = 0.1
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """What earlier runs taught about the nine events: both rates of each, from `runs` runs, and log shares of wealth.

    >>> len(Taught.nothing().shares)
    9
    """

    runs: float
    false: tuple[float, ...]
    true: tuple[float, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        lists = (self.false, self.true, self.shares)
        if any(len(values) != _EVENTS for values in lists) or not all(map(math.isfinite, (self.runs, *sum(lists, ())))):
            raise ValueError(f"Expected {_EVENTS} finite rates and shares of what earlier runs taught.")
        if self.runs < 0 or not all(0 <= rate <= 1 for rate in (*self.false, *self.true)):
            raise ValueError("Expected rates in [0, 1] of what earlier runs taught, from 0 runs or more.")
        if np.logaddexp.reduce(self.shares) > _ROUNDING:
            raise ValueError("Expected shares of wealth that add up to 1 at most.")

    @classmethod
    def nothing(cls) -> "Taught":
        """Return what no runs teach: equal shares."""
        half = (0.5,) * _EVENTS
        return cls(runs=0.0, false=half, true=half, shares=(-math.log(_EVENTS),) * _EVENTS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CurveProcess:
    """Wealth against one trade-off, now and at its maximum; `extended` adds runs.

    Each block of runs bets on nine events, "the score passes a quantile of earlier scores", at the rates that earlier
    runs showed; the wealth is the average over events, with the shares that runs of an earlier process `taught`. Blocks
    have a quarter of the runs before them, at least 8.
    Guarantee: for a pair of laws within `trade_off`, in either order, the wealth ever reaches 1 / alpha with
    probability at most alpha, at every stopping time, if labels are fair coins and each score is computed from
    earlier runs.

    >>> from audits.bounds.trade_offs import GaussianTradeOff
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.random(400) < 0.5
    >>> process = CurveProcess.fresh(GaussianTradeOff(mu=1.0)).extended(rng.normal(2.0 * labels), labels)
    >>> process.refutes(0.05), process.stopped(0.05) < 400
    (True, True)
    """

    trade_off: TradeOff
    events: Array = field(repr=False)
    path: Array = field(repr=False)
    scores: Array = field(repr=False)
    labels: Array = field(repr=False)
    taught: Taught = field(repr=False, default_factory=Taught.nothing)

    @classmethod
    def fresh(cls, trade_off: TradeOff, taught: Taught | None = None) -> "CurveProcess":
        """Return a process without runs: wealth 1. What earlier runs `taught` steers the first bets."""
        empty = np.zeros(0)
        return cls(
            trade_off=trade_off,
            events=np.zeros(_EVENTS),
            path=empty,
            scores=empty,
            labels=empty.astype(bool),
            taught=taught or Taught.nothing(),
        )

    def teaching(self) -> Taught:
        """Return what the runs of this process, and of those before it, teach the next one."""
        if not 0 < int(self.labels.sum()) < self.runs:
            return self.taught
        rates = self._rates(self._passed(self.scores))
        shares = self.events + np.array(self.taught.shares)
        shares = shares - np.logaddexp.reduce(shares)
        mixed = np.logaddexp(shares, math.log(_LEAST_SHARE / _EVENTS)) - math.log1p(_LEAST_SHARE)
        return Taught(
            runs=self.runs + self.taught.runs,
            false=tuple(rates[0].tolist()),
            true=tuple(rates[1].tolist()),
            shares=tuple(mixed.tolist()),
        )

    @property
    def runs(self) -> int:
        """How many runs were added."""
        return len(self.labels)

    @property
    def log_wealth(self) -> float:
        """The logarithm of the wealth now: an e-value against the trade-off."""
        return float(self.path[-1]) if len(self.path) else 0.0

    def extended(self, scores: Array, labels: Array) -> "CurveProcess":
        """Return the process after further runs, in their order.

        Shape: `scores` (larger where the second neighbour is more likely) and `labels` are (runs,).
        """
        state, start = self, 0
        while start < len(labels):
            end = min(len(labels), start + max(_FIRST, int(_GROWTH * state.runs)))
            state = state._after(np.asarray(scores, dtype=float)[start:end], np.asarray(labels, dtype=bool)[start:end])
            start = end
        return state

    def refutes(self, significance: float) -> bool:
        """Return whether the wealth ever reached 1 / `significance`."""
        return self.stopped(significance) is not None

    def stopped(self, significance: float) -> int | None:
        """Return after how many runs the wealth first reached 1 / `significance`, or None."""
        open_probability("significance", significance)
        reached = np.flatnonzero(self.path >= -math.log(significance))
        return int(reached[0]) + 1 if len(reached) else None

    def _after(self, scores: Array, labels: Array) -> "CurveProcess":
        """Return the process after one block, bet on by what the earlier blocks taught."""
        gains = np.zeros((len(labels), _EVENTS))
        if 0 < int(self.labels.sum()) < self.runs:
            false, true = self._rates(self._passed(self.scores))
            bets = project(false, true, self.trade_off)
            gains = bets.log_e_values(self._passed(scores), labels)
        paths = self.events + np.cumsum(gains, axis=0)
        mixed = np.logaddexp.reduce(paths + np.array(self.taught.shares), axis=1)
        return replace(
            self,
            events=paths[-1],
            path=np.concatenate([self.path, mixed]),
            scores=np.concatenate([self.scores, scores]),
            labels=np.concatenate([self.labels, labels]),
        )

    def _passed(self, scores: Array) -> Array:
        """Return which scores pass the quantiles of the scores so far. Shape: (runs, events)."""
        thresholds = np.quantile(self.scores, np.arange(1, _EVENTS + 1) / (_EVENTS + 1))
        return scores[:, None] > thresholds

    def _rates(self, passed: Array) -> tuple[Array, Array]:
        """Return the predicted rates of the events: counts plus one half, and what earlier runs taught."""
        weight = min(self.taught.runs, _MOST_TAUGHT) / 2
        sides = ((False, self.taught.false), (True, self.taught.true))
        false, true = (
            (passed[self.labels == second].sum(axis=0) + _PRIOR + weight * np.array(rates))
            / ((self.labels == second).sum() + 2 * _PRIOR + weight)
            for second, rates in sides
        )
        return false, true
