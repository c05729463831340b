"""Scenarios at the boundary of what is true: pairs with known epsilon that detect invalid bounds."""

import math

import numpy as np

from audits.bounds.bisection import bisected
from audits.decision.events import Event
from benchmarks.coverage.harness import Sampler, Scenario
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Array


def scenarios() -> tuple[Scenario, ...]:
    """Return the scenarios, each with an epsilon that is attained exactly."""
    outer = Event(low=-1.0, high=1.0, cut=0.0)
    sign = Event(low=-1e-300, high=0.0, cut=0.0)
    flat = math.log(7 / 3)
    heavy = math.log((3 + math.sqrt(5)) / 2)
    return (
        Scenario(name="identical laws", sample=_normal(0.0), epsilon=0.0, event=sign, gaussian=True),
        Scenario(name="identical laws, delta", sample=_normal(0.0), epsilon=0.0, delta=1e-5, event=sign, gaussian=True),
        Scenario(name="laplace", sample=_laplace(1.0, 1), epsilon=1.0, event=outer),
        Scenario(name="flat likelihood ratio", sample=_flat, epsilon=flat, event=Event(low=-0.4, high=0.4, cut=0.0)),
        Scenario(name="randomised response", sample=_response(1.0, 0.0), epsilon=1.0, event=outer),
        Scenario(name="randomised response, atoms", sample=_response(1.0, 0.05), epsilon=1.0, delta=0.05, event=outer),
        Scenario(
            name="randomised response, rare atoms", sample=_response(1.0, 0.001), epsilon=1.0, delta=0.001, event=outer
        ),
        Scenario(name="geometric with ties", sample=_geometric, epsilon=1.0, event=outer),
        Scenario(
            name="gaussian",
            sample=_normal(1.0),
            epsilon=gaussian_epsilon_of(1.0, 1e-5),
            delta=1e-5,
            event=Event(low=-0.5, high=0.5, cut=0.0),
            gaussian=True,
        ),
        Scenario(name="heavy tails", sample=_cauchy, epsilon=heavy, event=Event(low=-0.5, high=0.5, cut=0.0)),
        Scenario(
            name="one point", sample=lambda labels, rng: np.zeros(len(labels)), epsilon=0.0, event=sign, gaussian=True
        ),
        Scenario(name="constant score", sample=lambda labels, rng: np.full(len(labels), 3.0), epsilon=0.0, event=outer),
        Scenario(name="swapped labels", sample=_swapped, epsilon=1.0, event=outer),
        Scenario(
            name="twenty-fold composition",
            sample=_laplace(0.1, 20),
            epsilon=2.0,
            event=Event(low=-0.6, high=0.6, cut=0.0),
        ),
        Scenario(name="infinite scores", sample=_certain, epsilon=math.log(3), delta=0.1, event=outer),
    )


def gaussian_epsilon_of(mu: float, delta: float) -> float:
    """Return the epsilon of mu-Gaussian noise at `delta`, by bisection on the loss itself."""
    loss = GaussianLoss(mu=mu)
    return bisected(lambda epsilon: loss.hockey_stick(epsilon) > delta, 0.0, 100.0, 100)[0]


def _normal(mu: float) -> Sampler:
    """Return the log likelihood ratio of N(mu, 1) against N(0, 1)."""
    return lambda labels, rng: mu * (rng.standard_normal(len(labels)) + mu * labels) - mu**2 / 2


def _laplace(shift: float, times: int) -> Sampler:
    """Return the log likelihood ratio of `times` Laplace releases, each moved by `shift`; rounded at its atoms."""

    def sample(labels: Array, rng: np.random.Generator) -> Array:
        output = rng.laplace(size=(len(labels), times)) + shift * labels[:, None]
        return np.round(np.abs(output) - np.abs(output - shift), 12).sum(axis=1)

    return sample


def _flat(labels: Array, rng: np.random.Generator) -> Array:
    """Return scores for which every threshold inside either half is optimal."""
    far = rng.random(len(labels)) < np.where(labels, 0.7, 0.3)
    return (2 * far - 1) * rng.uniform(0.4, 1.4, len(labels))


def _response(epsilon: float, leak: float) -> Sampler:
    """Return randomised response at epsilon that, with probability `leak`, tells the truth and says so."""

    def sample(labels: Array, rng: np.random.Generator) -> Array:
        honest = rng.random(len(labels)) < 1 / (1 + math.exp(-epsilon))
        leaked = rng.random(len(labels)) < leak
        return np.where(leaked | honest, 1.0, -1.0) * np.where(labels, 1.0, -1.0) * np.where(leaked, 9.0, 1.0)

    return sample


def _geometric(labels: Array, rng: np.random.Generator) -> Array:
    """Return the log likelihood ratio of two-sided geometric noise with ratio 1 / e, whose values tie."""
    share = 1 - math.exp(-1)
    output = rng.geometric(share, len(labels)) - rng.geometric(share, len(labels)) + labels
    return (np.abs(output) - np.abs(output - 1)).astype(float)


def _cauchy(labels: Array, rng: np.random.Generator) -> Array:
    """Return the log likelihood ratio of Cauchy noise moved by 1, at most ln((3 + sqrt 5) / 2)."""
    output = rng.standard_cauchy(len(labels)) + labels
    return np.log1p(output**2) - np.log1p((output - 1) ** 2)


def _swapped(labels: Array, rng: np.random.Generator) -> Array:
    """Return Laplace scores of the wrong sign."""
    return -_laplace(1.0, 1)(labels, rng)


def _certain(labels: Array, rng: np.random.Generator) -> Array:
    """Return randomised response with odds 3, and atoms of mass 0.1 with infinite score."""
    scores = _response(math.log(3), 0.1)(labels, rng)
    return np.where(np.abs(scores) > 5, np.sign(scores) * np.inf, scores)
