"""Softmax regression by DP-SGD, many models at once: what studies and examples train in place of a user's own model.

The steps are those of Abadi et al. (2016), Algorithm 1: a Poisson sample of the records, gradients clipped one by one,
normal noise on their sum, and a divisor that is public.
"""

from dataclasses import dataclass

import numpy as np

from dpaudit.checks import Count, NonNegative, Positive, PositiveShare, TwoOrMore, settle
from dpaudit.model.mechanism import Array
from dpaudit.training import Watch

_CELLS = 2_000_000
_LEAST_NORM = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SoftmaxTraining:
    """A linear softmax classifier trained by `steps` noisy steps on some of the first `records` records.

    Shape: `features` (n, columns), `labels` (n,), classes from 0 to classes - 1. Records from number `records` on are
    never trained on. `noise_multiplier` is the noise over `max_grad_norm`, 0 for training without noise. A step divides
    the noisy sum by sample_rate * records, which is public.
    Memory: about 16 million bytes an array, whatever the number of models.
    Raises: ValueError: a number out of its range, or shapes that do not fit.

    >>> rng = np.random.default_rng(0)
    >>> features, labels = rng.normal(size=(30, 4)), rng.integers(0, 3, 30)
    >>> training = SoftmaxTraining(
    ...     features=features, labels=labels, classes=3, records=20, noise_multiplier=1, sample_rate=0.5, steps=5
    ... )
    >>> training.losses(rng.random((2, 20)) < 0.5, rng).shape
    (2, 30)
    """

    features: Array
    labels: Array
    classes: TwoOrMore
    records: Count
    noise_multiplier: NonNegative
    sample_rate: PositiveShare
    steps: Count
    max_grad_norm: Positive = 1.0
    learning_rate: Positive = 4.0

    def __post_init__(self) -> None:
        settle(self)
        labels = np.asarray(self.labels)
        if self.features.ndim != 2 or labels.shape != (len(self.features),) or len(labels) < self.records:
            raise ValueError(
                f"Expected features (n, columns) and n labels, n at least records={self.records}; got shapes "
                f"{self.features.shape} and {labels.shape}."
            )
        if not np.isin(labels, np.arange(self.classes)).all():
            raise ValueError(f"Expected labels to be whole numbers from 0 to classes={self.classes} less 1.")

    def weights(self, included: Array, rng: np.random.Generator) -> Array:
        """Return the weights of one model for each row of `included`, trained on the records that are in.

        Shape: `included` (models, records); weights (models, columns, classes).
        """
        shape = np.shape(included)
        if len(shape) != 2 or shape[1] != self.records:
            raise ValueError(f"Expected included (models, records={self.records}), got shape {shape}.")
        together = max(1, _CELLS // (self.records * self.classes))
        parts = [self._trained(included[i : i + together], rng) for i in range(0, len(included), together)]
        return np.concatenate(parts)

    def losses(self, included: Array, rng: np.random.Generator) -> Array:
        """Return the loss of every record under one model for each row of `included`, in nats.

        Shape: (models, n); the records that are never trained on come last.
        """
        together = max(1, _CELLS // (len(self.labels) * self.classes))
        weights = self.weights(included, rng)
        parts = [self._losses(weights[i : i + together]) for i in range(0, len(weights), together)]
        return np.concatenate(parts)

    def accuracy(self, weights: Array) -> Array:
        """Return the share of the records that are never trained on whose class each model gets right.

        Shape: weights (models, columns, classes); (models,). Edge cases: NaN where all records may be trained on.
        """
        others, labels = self.features[self.records :], self.labels[self.records :]
        if not len(others):
            return np.full(len(weights), np.nan)
        return (np.einsum("nd,bdk->bnk", others, weights, optimize=True).argmax(axis=2) == labels).mean(axis=1)

    def watched(self, features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> Array:
        """Return the weights of one model that is trained on other records in the same way: for `audit_training`."""
        weights = np.zeros((1, features.shape[1], self.classes))
        for _ in range(self.steps):
            taken = rng.random((1, len(labels))) < self.sample_rate
            summed = _summed(features, labels, weights, taken, self.max_grad_norm)
            released = summed + self._noise(summed.shape, rng)
            given: Array = watch.step(released[0], summed[0], np.flatnonzero(taken[0]))
            weights -= given * self._rate
        return weights[0]

    @property
    def _rate(self) -> float:
        """The factor of a noisy sum in a step."""
        return self.learning_rate / (self.sample_rate * self.records)

    def _trained(self, included: Array, rng: np.random.Generator) -> Array:
        """Return the weights of some models."""
        weights = np.zeros((len(included), self.features.shape[1], self.classes))
        features, labels = self.features[: self.records], self.labels[: self.records]
        for _ in range(self.steps):
            taken = included & (rng.random(included.shape) < self.sample_rate)
            summed = _summed(features, labels, weights, taken, self.max_grad_norm)
            weights -= (summed + self._noise(summed.shape, rng)) * self._rate
        return weights

    def _noise(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Return the noise of one step."""
        return rng.normal(0.0, self.noise_multiplier * self.max_grad_norm, shape)

    def _losses(self, weights: Array) -> Array:
        """Return the losses of all records under some models."""
        chances = _chances(self.features, weights)
        own = np.take_along_axis(chances, np.asarray(self.labels)[None, :, None], axis=2)[:, :, 0]
        return -np.log(np.maximum(own, _LEAST_NORM))


def _chances(features: Array, weights: Array) -> Array:
    """Return the probability of each class: (models, n, classes)."""
    scores = np.einsum("nd,bdk->bnk", features, weights, optimize=True)
    raised = np.exp(scores - scores.max(axis=2, keepdims=True))
    return raised / raised.sum(axis=2, keepdims=True)


def _summed(features: Array, labels: Array, weights: Array, taken: Array, norm: float) -> Array:
    """Return the sum of clipped gradients of each model; a gradient is the product of two vectors, as is its norm."""
    errors = _chances(features, weights) - np.eye(weights.shape[2])[labels]
    norms = np.linalg.norm(features, axis=1) * np.linalg.norm(errors, axis=2)
    errors *= (taken * np.minimum(1, norm / np.maximum(norms, _LEAST_NORM)))[:, :, None]
    return np.einsum("nd,bnk->bdk", features, errors, optimize=True)
