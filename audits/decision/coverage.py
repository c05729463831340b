"""How often a bound is wrong, and how far it reaches, on pairs whose true epsilon is known exactly.

A scenario draws scores for labelled runs, has its events fixed beforehand, and knows the truth. `false_rate` plays
many audits and counts bounds above the truth; `reach` is their mean, so that a bound that never certifies shows as
well.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from audits.bounds.e_process import e_process_bound
from audits.decision.events import Event, count_guesses
from audits.decision.power import Bound
from dpaudit import GaussianLoss
from dpaudit.model.mechanism import Array

Sampler = Callable[[Array, np.random.Generator], Array]
"""sampler(labels, rng) -> one score a run: estimated log odds of the second neighbour."""

Judge = Callable[["Scenario", Array, Array, float], float]
"""judge(scenario, scores, labels, significance) -> a lower bound on epsilon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A pair seen through a score, with its true epsilon at `delta`; `gaussian` pairs meet a Gaussian claim."""

    name: str
    sample: Sampler
    epsilon: float
    delta: float = 0.0
    event: Event
    gaussian: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """False certifications in `replications` audits, their one-sided 99.9 % upper limit, and the mean bound."""

    false: int
    replications: int
    limit: float
    reach: float


def bound_by_counts(bound: Bound) -> Judge:
    """Return a judge that lets `bound` count the scenario's event."""

    def judge(scenario: Scenario, scores: Array, labels: Array, significance: float) -> float:
        return bound(count_guesses(scenario.event, scores, labels), scenario.delta, significance).epsilon

    return judge


def bound_by_wealth(scenario: Scenario, scores: Array, labels: Array, significance: float) -> float:
    """Return the anytime-valid bound at its best moment: the audit stops when it looks worst."""
    return e_process_bound(scores, labels, scenario.delta, significance).epsilon


def measure(
    judge: Judge, scenario: Scenario, runs: int, replications: int, significance: float, rng: np.random.Generator
) -> Measured:
    """Return how often `judge` exceeded the truth in so many audits of `runs` counted runs."""
    return measure_all({"it": judge}, scenario, runs, replications, (significance,), rng)["it", significance]


def measure_all(
    judges: dict[str, Judge],
    scenario: Scenario,
    runs: int,
    replications: int,
    significances: tuple[float, ...],
    rng: np.random.Generator,
) -> dict[tuple[str, float], Measured]:
    """Return the same for every (judge's name, significance); all see the same runs."""
    places = [(name, significance) for name in judges for significance in significances]
    found = {place: np.empty(replications) for place in places}
    for turn in range(replications):
        labels = rng.random(runs) < 0.5
        scores = scenario.sample(labels, rng)
        for name, significance in places:
            found[name, significance][turn] = judges[name](scenario, scores, labels, significance)
    return {place: _measured(found[place], scenario.epsilon) for place in places}


def _measured(found: Array, epsilon: float) -> Measured:
    """Return what bounds say of a true epsilon."""
    false = int((found > epsilon + 1e-12).sum())
    limit = 1.0 if false == len(found) else float(betaincinv(false + 1, len(found) - false, 0.999))
    return Measured(false=false, replications=len(found), limit=limit, reach=float(found.mean()))


def scenarios() -> tuple[Scenario, ...]:
    """Return pairs that find out careless bounds, each at the very boundary of what is true."""
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
    low, high = 0.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if GaussianLoss(mu=mu).hockey_stick(middle) > delta else (low, middle)
    return low


def _normal(mu: float) -> Sampler:
    """Return the log likelihood ratio of N(mu, 1) against N(0, 1)."""
    return lambda labels, rng: mu * (rng.standard_normal(len(labels)) + mu * labels) - mu**2 / 2


def _laplace(shift: float, times: int) -> Sampler:
    """Return the log likelihood ratio of `times` Laplace releases, each moved by `shift`; rounded at its atoms."""

    def sample(labels: Array, rng: np.random.Generator) -> Array:
        output = rng.laplace(size=(len(labels), times)) + shift * labels[:, None]
        ratio: Array = np.round(np.abs(output) - np.abs(output - shift), 12).sum(axis=1)
        return ratio

    return sample


def _flat(labels: Array, rng: np.random.Generator) -> Array:
    """Return scores of which every threshold inside either half is optimal."""
    far = rng.random(len(labels)) < np.where(labels, 0.7, 0.3)
    scores: Array = (2 * far - 1) * rng.uniform(0.4, 1.4, len(labels))
    return scores


def _response(epsilon: float, leak: float) -> Sampler:
    """Return a mirrored coin that tells the truth e^epsilon times as often, and with probability `leak` always."""

    def sample(labels: Array, rng: np.random.Generator) -> Array:
        honest = rng.random(len(labels)) < 1 / (1 + math.exp(-epsilon))
        leaked = rng.random(len(labels)) < leak
        scores: Array = np.where(leaked | honest, 1.0, -1.0) * np.where(labels, 1.0, -1.0) * np.where(leaked, 9.0, 1.0)
        return scores

    return sample


def _geometric(labels: Array, rng: np.random.Generator) -> Array:
    """Return the log likelihood ratio of two-sided geometric noise with ratio 1 / e, whose values tie."""
    share = 1 - math.exp(-1)
    output = rng.geometric(share, len(labels)) - rng.geometric(share, len(labels)) + labels
    ratio: Array = (np.abs(output) - np.abs(output - 1)).astype(float)
    return ratio


def _cauchy(labels: Array, rng: np.random.Generator) -> Array:
    """Return the log likelihood ratio of Cauchy noise moved by 1, at most ln((3 + sqrt 5) / 2)."""
    output = rng.standard_cauchy(len(labels)) + labels
    ratio: Array = np.log1p(output**2) - np.log1p((output - 1) ** 2)
    return ratio


def _swapped(labels: Array, rng: np.random.Generator) -> Array:
    """Return Laplace scores of the wrong sign."""
    return -_laplace(1.0, 1)(labels, rng)


def _certain(labels: Array, rng: np.random.Generator) -> Array:
    """Return a coin of odds 3 with atoms of mass 0.1 that are certain and say so."""
    scores = _response(math.log(3), 0.1)(labels, rng)
    certain: Array = np.where(np.abs(scores) > 5, np.sign(scores) * np.inf, scores)
    return certain
