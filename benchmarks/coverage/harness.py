"""The coverage harness: how often a bound exceeds the true epsilon, on pairs whose true epsilon is known exactly.

A scenario draws scores for labelled runs; its event is fixed and its true epsilon is known. `measure` repeats an audit
many times and counts bounds above the truth. `reach` is the mean bound, which is 0 for a bound that never shows
anything.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from audits.decision.events import Event, count_guesses
from audits.decision.power import Bound
from dpaudit.model.mechanism import Array

Sampler = Callable[[Array, np.random.Generator], Array]
"""sampler(labels, rng) -> one score a run: estimated log odds of the second neighbour."""

Judge = Callable[["Scenario", Array, Array, float], float]
"""judge(scenario, scores, labels, significance) -> a lower bound on epsilon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A law of scores with the true epsilon at `delta`; `gaussian` says that its trade-off is Gaussian."""

    name: str
    sample: Sampler
    epsilon: float
    delta: float = 0.0
    event: Event
    gaussian: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """False bounds in `replications` audits, the one-sided 99.9 % upper limit of their rate, and the mean bound."""

    false: int
    replications: int
    limit: float
    reach: float


def bound_by_counts(bound: Bound) -> Judge:
    """Return a judge that lets `bound` count the scenario's event."""

    def judge(scenario: Scenario, scores: Array, labels: Array, significance: float) -> float:
        return bound(count_guesses(scenario.event, scores, labels), scenario.delta, significance).epsilon

    return judge


def measure(
    judge: Judge, scenario: Scenario, runs: int, replications: int, significance: float, rng: np.random.Generator
) -> Measured:
    """Return how often `judge` exceeded the truth in so many audits of `runs` counted runs."""
    return measure_all({"bound": judge}, scenario, runs, replications, (significance,), rng)["bound", significance]


def measure_all(
    judges: dict[str, Judge],
    scenario: Scenario,
    runs: int,
    replications: int,
    significances: tuple[float, ...],
    rng: np.random.Generator,
) -> dict[tuple[str, float], Measured]:
    """Return the same for every (judge's name, significance); all see the same runs."""
    bounds = {(name, significance): np.empty(replications) for name in judges for significance in significances}
    for replication in range(replications):
        labels = rng.random(runs) < 0.5
        scores = scenario.sample(labels, rng)
        for (name, significance), values in bounds.items():
            values[replication] = judges[name](scenario, scores, labels, significance)
    return {key: _measured(values, scenario.epsilon) for key, values in bounds.items()}


def _measured(bounds: Array, epsilon: float) -> Measured:
    """Return how often the bounds exceed a true epsilon."""
    false = int((bounds > epsilon + 1e-12).sum())
    limit = 1.0 if false == len(bounds) else float(betaincinv(false + 1, len(bounds) - false, 0.999))
    return Measured(false=false, replications=len(bounds), limit=limit, reach=float(bounds.mean()))
