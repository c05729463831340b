"""Bugs of training loops: a plain loop with noisy gradients in numpy, and variants of its parts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from audits.training.training_audit import audit_training
from benchmarks.known_bugs.known_bug import SIGNIFICANCE, KnownBug, Variant
from dpaudit import Claim
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Finding
from dpaudit.training import Training, Watch

TRAINING = Training(noise_multiplier=4.0, max_grad_norm=0.1, sample_rate=0.1, steps=40, records=1000)
CLAIM = Claim(epsilon=1.0, delta=1e-9, neighbours="add_remove")
"""The loop delivers epsilon 0.9699, by the accounting of `algorithms.dp_sgd`.

The delta is small, which costs a bound for one run little.
"""

_RATE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """The parts of a loop; a bug replaces one of them."""

    batches: Callable[[int, np.random.Generator], list[Array]]
    clipped: Callable[[Array, Array], Array]
    noise: Callable[[tuple[int, int], int, np.random.Generator], Array]

    def __call__(self, features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> Array:
        """Train a linear classifier with two outputs, report each step, and return the weights."""
        weights = np.zeros((features.shape[1], 2))
        for batch in self.batches(len(labels), rng):
            x = features[batch]
            logits = x @ weights
            chance = 1 / (1 + np.exp(np.clip(logits[:, :1] - logits[:, 1:], -50, 50)))
            errors = np.hstack([1 - chance, chance]) - np.eye(2)[labels[batch]]
            released = self.clipped(x, errors) + self.noise(weights.shape, len(batch), rng)
            released = watch.step(released, None, batch)
            weights -= _RATE * released / (TRAINING.sample_rate * len(labels))
        return weights


def poisson(records: int, rng: np.random.Generator) -> list[Array]:
    """Return independent samples, one a step."""
    return [np.flatnonzero(rng.random(records) < TRAINING.sample_rate) for _ in range(TRAINING.steps)]


def shuffled(records: int, rng: np.random.Generator) -> list[Array]:
    """Return the batches of a shuffled data set, epoch after epoch."""
    parts = round(1 / TRAINING.sample_rate)
    epochs = [np.array_split(rng.permutation(records), parts) for _ in range(TRAINING.steps // parts)]
    return [batch for epoch in epochs for batch in epoch]


def each_record(x: Array, errors: Array) -> Array:
    """Return the sum of gradients, each clipped."""
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(errors, axis=1)
    factor = np.minimum(1.0, TRAINING.max_grad_norm / np.maximum(norms, 1e-12))
    return x.T @ (factor[:, None] * errors)


def whole_batch(x: Array, errors: Array) -> Array:
    """Return the sum of the gradients, clipped as if it were a mean of clipped ones: one record can fill it."""
    total = x.T @ errors
    limit = TRAINING.max_grad_norm * len(x)
    return total * min(1.0, limit / max(float(np.linalg.norm(total)), 1e-12))


def declared(shape: tuple[int, int], _: int, rng: np.random.Generator) -> Array:
    """Return the declared noise, fresh."""
    return TRAINING.stddev * rng.standard_normal(shape)


def of_the_mean(shape: tuple[int, int], batch: int, rng: np.random.Generator) -> Array:
    """Return noise divided by the batch although the sum is not."""
    return declared(shape, batch, rng) / max(1.0, batch / 10)


def seeded(shape: tuple[int, int], batch: int, _: np.random.Generator) -> Array:
    """Return the noise of one seed in every step."""
    return declared(shape, batch, np.random.Generator(np.random.PCG64(7)))


FIXED = Loop(batches=poisson, clipped=each_record, noise=declared)


def _look(broken: Loop, variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """Return the findings of the training audit on a small set of records."""
    features = rng.uniform(-1, 1, (TRAINING.records, 6))
    labels = (features[:, 0] > 0).astype(np.int64)
    loop = FIXED if variant == "fixed" else broken
    result = audit_training(
        loop, features, labels, training=TRAINING, claim=CLAIM, rng=rng, canaries=300, significance=SIGNIFICANCE
    )
    return result.findings


_ROWS = (
    (
        "amplified without Poisson sampling",
        "sampling",
        "poisson_sampling=False in Opacus keeps the amplified epsilon, and most reproductions shuffle",
        Loop(batches=shuffled, clipped=each_record, noise=declared),
    ),
    (
        "the batch is clipped, not the record",
        "clipping",
        "clipping in the backward pass of the mean loss (found by Tramer et al. 2022)",
        Loop(batches=poisson, clipped=whole_batch, noise=declared),
    ),
    (
        "noise of the mean on the sum",
        "randomness",
        "noise divided by the batch size once too often",
        Loop(batches=poisson, clipped=each_record, noise=of_the_mean),
    ),
    (
        "one seed in every step",
        "randomness",
        "a generator made anew inside the step",
        Loop(batches=poisson, clipped=each_record, noise=seeded),
    ),
)
BUGS = tuple(
    KnownBug(name=name, family=family, story=story, path="conformance", look=partial(_look, broken))
    for name, family, story, broken in _ROWS
)
