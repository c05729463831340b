"""The bound of a finished audit at another significance, from the same runs."""

import math
from dataclasses import dataclass

from audits.bounds.e_process import LEVELS, lowest_survivor
from audits.bounds.gaussian import gaussian_bound
from audits.bounds.guessing import guessing_epsilon_at
from dpaudit.model.audit_result import Counts
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedBound:
    """A bound from counts at the audit's `significance`, of which the deciding bound has the `share`."""

    counts: Counts
    delta: float
    gaussian: bool
    significance: float
    share: float

    def __call__(self, significance: float) -> float:
        """Return epsilon at another significance: increasing in it, valid at each value fixed beforehand."""
        level = self.share * significance
        if self.gaussian:
            return gaussian_bound(self.counts, self.delta, level).epsilon
        return guessing_epsilon_at(self.counts, self.delta, self.share * self.significance, level)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnytimeBound:
    """A bound from the largest log wealth against each level; `refuted` says that the claim fell at `significance`.

    The claim is one of the levels. Until it is refuted, levels at or above it do not count; it is refuted only after
    all levels below it. So the bound exceeds the truth only if one fixed level is refuted: the first at or above the
    truth.
    """

    best: Array
    claimed: float
    refuted: bool
    significance: float

    def __call__(self, significance: float) -> float:
        """Return epsilon at another significance: increasing in it, valid at each value fixed beforehand.

        Whether the claim fell is known for the audit's own significance only: below it, the other levels alone count.
        """
        grid = lowest_survivor(self.best, significance)
        if not self.refuted:
            return min(grid, float(LEVELS[self.claimed > LEVELS].max(initial=0.0)))
        return grid if significance < self.significance else max(grid, math.nextafter(self.claimed, math.inf))
