"""The privacy curve that the declaration of a training run allows a record that is in or out of the data."""

import math
from functools import lru_cache

from dpaudit.accounting.accountant import bracket_delta, bracket_epsilon
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.arguments import named_arguments
from dpaudit.checks import Within, positive, within
from dpaudit.engines import ROUGH
from dpaudit.model.losses import Composition, GaussianLoss, SampledGaussianLoss
from dpaudit.training.watching import Training

_POINTS = 10
_LEAST = 1e-9
_LEAST_NOISE, _MOST_NOISE = 0.01, 10_000.0
_NEAR, _ROUND = 1e-3, 1000.0
"""The search ends this near, relative; the multiplier is rounded up to so many parts of one, if that is proved."""


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
        for epsilon in (largest * step / (_POINTS - 1) for step in range(_POINTS))
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


@named_arguments
def training_noise(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Return the noise multiplier at which `steps` steps at sampling rate `rate` are (epsilon, delta)-private.

    A record is added or removed, batches are Poisson samples, and gradients are clipped to the norm that the multiplier
    is over. Guarantee: the multiplier is enough; it is above the smallest one by at most .001, a thousandth of itself
    and the width of the bracket of `training_epsilon`.
    Raises: ValueError: a number out of its range, delta 0, or a claim that needs a multiplier below 0.01 or above
        10,000.

    >>> training_noise(4.377, 1e-5, 1.0, 16)
    4.003
    """
    positive("epsilon", epsilon)
    if not 0 < delta < 1:
        raise ValueError(f"Expected delta={delta} in (0, 1): Gaussian noise has no epsilon at delta 0.")
    within("rate", rate, Within(above=0, at_most=1))

    def enough(noise: float) -> bool:
        training = Training(noise_multiplier=noise, max_grad_norm=1.0, sample_rate=rate, steps=steps, records=1)
        return bracket_delta(_form(training), epsilon, ROUGH).upper <= delta

    if enough(_LEAST_NOISE) or not enough(_MOST_NOISE):
        raise ValueError(
            f"epsilon={epsilon:g}, delta={delta:g} needs a noise multiplier outside of {_LEAST_NOISE:g} to "
            f"{_MOST_NOISE:g} at rate {rate:g} and {steps} steps; change one of them."
        )
    low, high = _LEAST_NOISE, _MOST_NOISE
    while high > low * (1 + _NEAR):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    rounded = math.ceil(high * _ROUND) / _ROUND
    return rounded if enough(rounded) else high


def _form(training: Training) -> NormalForm:
    """Return the losses of the declared run, both orders of the neighbours."""
    mu, rate = 1 / training.noise_multiplier, training.sample_rate
    loss = SampledGaussianLoss(mu=mu, rate=rate) if rate < 1 else GaussianLoss(mu=mu)
    step = Composition.of(loss)
    alternatives = tuple({part * training.steps for part in (step, step.reversed())})
    return NormalForm(upper=alternatives, lower=alternatives)
