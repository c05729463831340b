"""The privacy curve that the declaration of a training run allows a record that is in or out of the data."""

import math
from functools import lru_cache

from dpaudit.accounting.accountant import bracket_delta, bracket_epsilon
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines import ROUGH
from dpaudit.model.losses import Composition, GaussianLoss, SampledGaussianLoss
from dpaudit.training.watching import Training

_POINTS = 10
_LEAST = 1e-9


@lru_cache(maxsize=16)
def training_curve(training: Training) -> tuple[tuple[float, float], ...]:
    """Return points (epsilon, delta) of the declared run, for a record that is added or removed.

    Unit: epsilon in nats, from 0 to that at delta 1e-9, evenly spread. Guarantee: a run that clips, samples, adds noise
    and takes steps as declared is (epsilon, delta)-private at each point, in both orders of the neighbours.

    >>> declared = Training(noise_multiplier=4, max_grad_norm=1, sample_rate=1, steps=16, records=100)
    >>> [round(number, 4) for number in training_curve(declared)[0]]
    [0.0, 0.3829]
    """
    form = _form(training)
    largest = bracket_epsilon(form, _LEAST, ROUGH).upper
    if not math.isfinite(largest):
        return ((0.0, 1.0),)
    return tuple(
        (epsilon, min(1.0, bracket_delta(form, epsilon, ROUGH).upper))
        for epsilon in (largest * place / (_POINTS - 1) for place in range(_POINTS))
    )


@lru_cache(maxsize=16)
def training_epsilon(training: Training, delta: float) -> tuple[float, float]:
    """Return a lower and an upper bound of the declared run's epsilon at `delta`, for a record added or removed.

    >>> declared = Training(noise_multiplier=4, max_grad_norm=1, sample_rate=1, steps=16, records=100)
    >>> [round(number, 3) for number in training_epsilon(declared, 1e-5)]
    [4.377, 4.377]
    """
    bracket = bracket_epsilon(_form(training), delta, ROUGH)
    return bracket.lower, bracket.upper


def _form(training: Training) -> NormalForm:
    """Return the losses of the declared run, both orders of the neighbours."""
    mu, rate = 1 / training.noise_multiplier, training.sample_rate
    loss = SampledGaussianLoss(mu=mu, rate=rate) if rate < 1 else GaussianLoss(mu=mu)
    step = Composition.of(loss)
    alternatives = tuple({part * training.steps for part in (step, step.reversed())})
    return NormalForm(upper=alternatives, lower=alternatives)
