"""What shows that two data sets are told apart: an event of the output, or the laws that replays show."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, exp, log, log1p
from typing import Any, Protocol

from audits.bounds.binomial import proportion_lower, proportion_upper
from audits.bounds.error_rates import error_rate_bound, threshold_counts
from audits.outputs.fields import NUMBER
from audits.replay.one_call import Call, Calls
from audits.replay.seen_law import SeenLoss
from dpaudit import Claim
from dpaudit.model.audit_result import Counts
from dpaudit.model.mechanism import Array

ROUNDING = 1e-7
"""By so much a loss may exceed a claim because doubles are rounded."""

_PATIENT = 100
"""An event that no run of either data set misses is waited for in so many runs."""

_DOUBTED = 0.01
"""The level at which so many runs do not follow a law that it is given up."""

Heard = tuple[tuple[Any, ...], tuple[Any, ...]]
"""What fresh runs of both data sets answered: whether they show an event or follow a law, or how they are weighed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A value in a column that every run on data set `side` had, and not every run on the other one."""

    name: str
    value: float
    side: int

    def heard(self, call: Call, side: int) -> bool:
        """Return whether the call shows the event."""
        del side
        return same_value(call.column(self.name), self.value)

    def calls_needed(self, margin: float, claim: Claim, level: float) -> int:
        """Return how many runs of each side show the violation if they are as the first ones were."""
        return ceil(1.1 * log(level / 2) / log1p(-margin / (1 + exp(claim.epsilon))))

    def hopeless(self, heard: Heard, claim: Claim) -> bool:
        """Return whether further runs will not show a violation: the data set that always had the event misses it."""
        missed, others = (sum(not occurred for occurred in heard[side]) for side in (self.side, 1 - self.side))
        return missed * exp(claim.epsilon) >= others and missed + len(heard[0]) // _PATIENT > 0

    def parts(self, heard: Heard) -> bool:
        """Return whether all runs of the side of the event had it, and none of the other one."""
        return all(heard[self.side]) and not any(heard[1 - self.side])

    def epsilon(self, heard: Heard, claim: Claim, level: float) -> float:
        """Return the lower bound on epsilon that the error rates of the event show."""
        return error_rate_bound(self.counts(heard), claim.delta, level).epsilon

    def counts(self, heard: Heard) -> Counts:
        """Return the counts of the test that takes the event for the second data set where that one always has it."""
        counts = threshold_counts(sum(heard[1]), sum(heard[0]), len(heard[1]), len(heard[0]))
        counts = replace(counts, guesses=0, correct=0)
        if self.side == 0:
            misses = [len(side) - sum(side) for side in heard]
            counts = replace(counts, true_positives=misses[1], false_positives=misses[0])
        return counts


class Law(Protocol):
    """What a replay supposes of the calls on one data set."""

    def explains(self, call: Call) -> bool:
        """Return whether a call is as the law says."""
        ...

    def holds_beyond(self, call: Calls, data: Any, reach: float) -> bool:
        """Return whether calls on `data` follow the law also where few runs come, as far as the loss needs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeenLaw:
    """The laws of the calls on both data sets, and the event with which they show the loss."""

    loss: SeenLoss
    models: tuple[Law, Law]

    def heard(self, call: Call, side: int) -> bool:
        """Return whether the call is as the law of its side says."""
        return self.models[side].explains(call)

    def calls_needed(self, margin: float, claim: Claim, level: float) -> int:
        """Return how many runs of each side show the violation if all are as the laws say.

        A number of a claim in its own measure may depend on runs that are never seen: no number of runs shows it.
        """
        del margin
        most = (self.loss.margin - ROUNDING) / (1 + exp(claim.epsilon))
        return ceil(log(level / 2) / log1p(-0.9 * most)) if most > 0 else 2**62

    def hopeless(self, heard: Heard, claim: Claim) -> bool:
        """Return whether so many runs are not as the law of their side says that the others show no violation."""
        missed = self._missed(heard, proportion_lower, _DOUBTED)
        return missed * (1 + exp(claim.epsilon)) > max(0.0, self.loss.margin)

    def epsilon(self, heard: Heard, claim: Claim, level: float) -> float:
        """Return the lower bound on epsilon: the share of runs that do not follow the laws may follow any other."""
        missed = self._missed(heard, proportion_upper, level / 2)
        often, seldom = self.loss.often - missed - claim.delta, self.loss.seldom + missed
        return max(0.0, log(often / seldom)) if often > 0 else 0.0

    def _missed(self, heard: Heard, bound: Callable[[int, int, float], Array], level: float) -> float:
        """Return a bound on the share of runs of either side that do not follow the law of that side."""
        return max(float(bound(len(side) - sum(side), len(side), level)) for side in heard)


def same_value(first: float, second: float) -> bool:
    """Return whether two values are equal; NaN is equal to itself."""
    return first == second or (first != first and second != second)


def same_output(first: Call, second: Call) -> bool:
    """Return whether two calls have one output."""
    return not differing(first, second)


def differing(first: Call, second: Call, relative: float = 0.0, least: float = 0.0) -> list[str]:
    """Return the columns in which two calls differ, numbers by more than a share of their size and `least`."""
    names = dict.fromkeys((*first.columns, *second.columns))
    return [name for name in names if not _close(name, first.column(name), second.column(name), relative, least)]


def _close(name: str, ours: float, theirs: float, relative: float, least: float) -> bool:
    """Return whether two values of a column are equal, or numbers that are close."""
    close = name.startswith(NUMBER) and abs(ours - theirs) <= relative * (abs(ours) + abs(theirs)) + least
    return close or same_value(ours, theirs)
