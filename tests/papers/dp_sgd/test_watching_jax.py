"""Watching jax-privacy: by a stand-in of its gradient transformation, and by the library where it is installed."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from audits import audit_training, watch_privatizer
from dpaudit import Claim, UnsupportedError
from dpaudit.model.mechanism import Array
from dpaudit.training import Training, Watch
from dpaudit.training.steps import Script

TRAINING = Training(noise_multiplier=4, max_grad_norm=0.1, sample_rate=0.1, steps=40, records=300)
CLAIM = Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove")


class Transformation(NamedTuple):
    """A pair of functions, as optax has it."""

    init: Any
    update: Any


def starting(model: object) -> int:
    """Return the state before the first update."""
    del model
    return 0


def first_layer(tree: dict[str, Array]) -> Array:
    """Return the gradient of the first layer."""
    return tree["first"]


def gaussian(stddev: float, rng: np.random.Generator) -> Transformation:
    """Return a transformation that adds normal noise and counts its updates."""

    def update(summed: Array, state: int) -> tuple[Array, int]:
        return summed + rng.normal(0, stddev, summed.shape), state + 1

    return Transformation(init=starting, update=update)


def loop(factor: float, features: Array, labels: Array, watch: Watch, rng: np.random.Generator) -> Array:
    """Train a logistic regression with `factor` times the declared noise; no step reports to the watch by itself."""
    batch = np.zeros(0, dtype=np.int64)
    privatizer, _ = watch_privatizer(gaussian(factor * TRAINING.stddev, rng), watch, batch=lambda: batch)
    state, weights = privatizer.init(None), np.zeros((features.shape[1], 2))
    for _ in range(TRAINING.steps):
        batch = np.flatnonzero(rng.random(len(labels)) < TRAINING.sample_rate)
        x = features[batch]
        chance = 1 / (1 + np.exp(-(x @ weights) @ [-1, 1]))
        errors = np.column_stack([1 - chance, chance]) - np.eye(2)[labels[batch]]
        norms = np.linalg.norm(x, axis=1) * np.linalg.norm(errors, axis=1)
        summed = x.T @ (errors * np.minimum(1, TRAINING.max_grad_norm / norms)[:, None])
        noisy, state = privatizer.update(summed, state)
        weights -= noisy / 100
    assert state == TRAINING.steps
    return weights


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "consistent"), (0.25, "violation")])
def test_a_watched_privatizer_is_audited_without_a_change_to_the_loop(factor: float, verdict: str) -> None:
    """The declared noise passes, a quarter of it is a violation of rule DPA212."""
    rng = np.random.default_rng(0)
    features = rng.uniform(-1, 1, (300, 4))
    labels = (features[:, 0] > 0).astype(np.int64)

    def train(x: Array, y: Array, watch: Watch, rng: np.random.Generator) -> Array:
        return loop(factor, x, y, watch, rng)

    audit = audit_training(
        train, features, labels, training=TRAINING, claim=CLAIM, rng=rng, canaries=100, significance=1e-7
    )
    assert audit.verdict == verdict
    assert ("DPA212" in {finding.rule for finding in audit.findings}) == (verdict == "violation")


def test_all_arrays_of_a_tree_are_watched_and_pinned() -> None:
    """The first matrix leads, or what `weights` picks; a replay writes its sums into the tree; texts are refused."""

    def update(tree: dict[str, Any], state: int) -> tuple[dict[str, Any], int]:
        return {name: values + 1 for name, values in tree.items()}, state

    noisy = Transformation(init=starting, update=update)
    tree = {"bias": np.zeros(2), "first": np.zeros((3, 2))}
    for weights in (first_layer, None):
        watched, watch = watch_privatizer(noisy, weights=weights)
        watched.update(tree, 0)
        assert (watch.steps, watch.squares) == (1, 8.0)
        assert list(watch.taken[0].released) == ["gradient first", "gradient bias"]
    sums = {"gradient first": np.full((3, 2), 7.0), "gradient bias": np.full(2, 5.0)}
    watched, _ = watch_privatizer(noisy, Watch(records=1, script=Script(sums=(sums,))))
    pinned = watched.update(tree, 0)[0]
    assert list(pinned) == ["bias", "first"]
    assert (pinned["first"] == 7.0).all()
    assert (pinned["bias"] == 5.0).all()
    with pytest.raises(UnsupportedError, match=r"jax\.jit"):
        watch_privatizer(Transformation(init=starting, update=lambda tree, state: (tree, state)))[0].update("text", 0)
    with pytest.raises(UnsupportedError, match="no gradient transformation"):
        watch_privatizer(object())


def test_the_library_itself_is_watched() -> None:
    """jax-privacy's Gaussian privatizer: same numbers as without the watch; an update under jit is refused."""
    jax: Any = pytest.importorskip("jax")
    addition: Any = pytest.importorskip("jax_privacy.noise_addition")
    plain = addition.gaussian_privatizer(stddev=0.4, prng_key=jax.random.key(1))
    watched, watch = watch_privatizer(plain)
    zeros = jax.numpy.zeros((50, 4))
    noise, _ = watched.update(zeros, watched.init(zeros))
    assert np.array_equal(noise, plain.update(zeros, plain.init(zeros))[0])
    assert watch.squares == pytest.approx(0.4**2 * 200, rel=0.5)
    with pytest.raises(UnsupportedError, match=r"jax\.jit"):
        jax.jit(watched.update)(zeros, watched.init(zeros))
