"""Inputs that the examples in docstrings share: counts, a claim, a case with half the noise, training loops."""

from typing import Any

import numpy as np

from audits.training.softmax import SoftmaxTraining
from dpaudit import AuditCase, Claim
from dpaudit.model.audit_result import Counts
from dpaudit.model.mechanism import Array
from dpaudit.training import Training, Watch

COUNTS = Counts(
    runs=2000,
    guesses=1200,
    correct=1060,
    true_positives=800,
    false_positives=200,
    positives=1000,
    negatives=1000,
)
"""2,000 runs: 1,200 guesses of which 1,060 are right; a threshold test with both error rates at 0.2."""

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")
"""A pure claim of epsilon 1."""


def half_noise(data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Return `data` with Laplace noise of scale 1/2: epsilon is 2 at sensitivity 1."""
    return data + rng.laplace(0.0, 0.5, n_runs)


def half_noise_score(view: Array) -> Array:
    """Return the log likelihood ratio of answer 1 over answer 0."""
    return 2 * (np.abs(view) - np.abs(view - 1.0))


HALF_NOISE = AuditCase(
    name="half noise",
    view="output",
    description="Laplace noise of half the declared scale",
    neighbours=(0.0, 1.0),
    relation="replace_one",
    run=half_noise,
    score=half_noise_score,
)
"""Violates `CLAIM`."""

TRAINING = Training(noise_multiplier=4, max_grad_norm=0.1, sample_rate=0.1, steps=20, records=200)
"""What `train_with_little_noise` declares: noise of standard deviation 0.4 on every sum of gradients."""
TRAINING_CLAIM = Claim(epsilon=1.0, delta=1e-9, neighbours="add_remove")
"""What `TRAINING` promises."""


def training_records(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return 200 records: features (200, 4) and labels (200,)."""
    return rng.uniform(-1, 1, (200, 4)), rng.integers(0, 2, 200)


def train_with_little_noise(features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> None:
    """Run the declared number of steps with an eighth of the declared noise, and report each step to `watch`."""
    for _ in range(TRAINING.steps):
        batch = np.flatnonzero(rng.random(len(labels)) < TRAINING.sample_rate)
        errors = np.eye(2)[1 - labels[batch]] - np.eye(2)[labels[batch]]
        norms = np.linalg.norm(features[batch], axis=1) * np.linalg.norm(errors, axis=1)
        summed = features[batch].T @ (errors * np.minimum(1, TRAINING.max_grad_norm / norms)[:, None])
        watch.step(summed + 0.05 * rng.standard_normal(summed.shape), summed, batch)


def _without_noise() -> SoftmaxTraining:
    """Return training on random labels in more columns than records, which no model forgets."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(150, 120))
    return SoftmaxTraining(
        features=features / np.linalg.norm(features, axis=1, keepdims=True),
        labels=rng.integers(0, 2, 150),
        classes=2,
        records=100,
        noise_multiplier=0,
        sample_rate=1.0,
        steps=20,
        learning_rate=20.0,
    )


SOFTMAX = _without_noise()
"""Training without noise: no claim holds for it."""
