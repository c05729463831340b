"""Scenarios of single runs whose canaries are dependent.

Bounds for one run must hold for these scenarios and for independent canaries; bounds for independent runs need not. The
labels of a scenario say which canaries were included; there is one score a canary.
"""

import math

import numpy as np

from audits.bounds.one_run import one_run_bound, one_run_orthogonal_bound
from audits.bounds.one_run_trade_off import one_run_gaussian_bound
from audits.decision.events import Event, count_guesses
from benchmarks.coverage.harness import Judge, Sampler, Scenario
from benchmarks.coverage.scenarios import gaussian_epsilon_of
from dpaudit.model.mechanism import Array

_SUREST = 20
_CROWDED = 4


def canary_scenarios() -> tuple[Scenario, ...]:
    """Return single runs whose canaries are not independent, each at the boundary of what is true."""
    sides = Event(low=-0.5, high=0.5, cut=0.0)
    return (
        Scenario(name="correlated canaries", sample=_correlated(1.0), epsilon=1.0, event=sides),
        Scenario(name="canaries that leak together", sample=_together(1.0, 0.02), epsilon=1.0, delta=0.02, event=sides),
        Scenario(
            name="crowded canaries",
            sample=crowded,
            epsilon=gaussian_epsilon_of(1.0, 1e-5),
            delta=1e-5,
            event=sides,
            gaussian=True,
        ),
    )


def bound_of_one_run(scenario: Scenario, scores: Array, labels: Array, significance: float) -> float:
    """Return the bound for one run, the scenario's event guessing on all canaries."""
    counts = count_guesses(scenario.event, scores, labels)
    return one_run_bound(counts.runs, counts.guesses, counts.correct, scenario.delta, significance).epsilon


def gaussian_bound_of_one_run(scenario: Scenario, scores: Array, labels: Array, significance: float) -> float:
    """Return the Gaussian bound for one run, guessing on the surest twentieth of the canaries."""
    distance = scores - scenario.event.cut
    surest = np.argsort(-np.abs(distance), kind="stable")[: max(1, len(labels) // _SUREST)]
    correct = int(((distance > 0) == labels)[surest].sum())
    return one_run_gaussian_bound(len(labels), len(surest), correct, scenario.delta, significance).epsilon


def orthogonal_bound_of_one_run(scenario: Scenario, scores: Array, labels: Array, significance: float) -> float:
    """Return the bound for independent canaries, guessing every one at the scenario's cut."""
    correct = int(((scores >= scenario.event.cut) == labels).sum())
    return one_run_orthogonal_bound(len(labels), correct, scenario.delta, significance).epsilon


JUDGES_OF_ONE_RUN: dict[str, tuple[Judge, str]] = {
    "one_run": (bound_of_one_run, "exact"),
    "one_run_gaussian": (gaussian_bound_of_one_run, "gaussian"),
    "one_run_orthogonal": (orthogonal_bound_of_one_run, "gaussian"),
}
"""Name to (judge, "exact" if it holds for every scenario, "gaussian" if for Gaussian ones)."""


def _correlated(epsilon: float) -> Sampler:
    """Return runs whose canaries tell the truth with odds e^epsilon in half of the runs, e^-epsilon in the others."""

    def sample(labels: Array, rng: np.random.Generator) -> Array:
        odds = epsilon if rng.random() < 0.5 else -epsilon
        honest = rng.random(len(labels)) < 1 / (1 + math.exp(-odds))
        return np.where(honest == labels, 1.0, -1.0)

    return sample


def _together(epsilon: float, leak: float) -> Sampler:
    """Return randomised response of every canary; with probability `leak` all of them tell the truth."""

    def sample(labels: Array, rng: np.random.Generator) -> Array:
        leaked = rng.random() < leak
        honest = (rng.random(len(labels)) < 1 / (1 + math.exp(-epsilon))) | leaked
        return np.where(honest == labels, 1.0, -1.0)

    return sample


def crowded(labels: Array, rng: np.random.Generator) -> Array:
    """Return scores from a noisy sum of random unit vectors, four times as many as dimensions; mu is 1."""
    dimension = max(1, len(labels) // _CROWDED)
    vectors = rng.standard_normal((len(labels), dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    released = labels.astype(float) @ vectors + rng.standard_normal(dimension)
    return vectors @ (released - vectors.sum(axis=0) / 2)
