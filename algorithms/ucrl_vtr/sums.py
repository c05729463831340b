"""Streams of noisy sums: noise on the nodes of a tree that the learner keeps, or on every user's own message.

A stream is fed one contribution an episode, of shape (n_runs, d, d + 1): the outer product of the features, and as
last column the features times the target. It answers with the noisy sum of all so far, in the same shape.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from algorithms._traced_tree import TracedTree
from algorithms.ucrl_vtr.regressions import Regression
from dpaudit import Recorder
from dpaudit.model.mechanism import AdditiveMechanism, Array

Sums = Callable[[Array], Array]
"""sums(contribution) -> the noisy sum of all contributions so far. Shape: (n_runs, d, d + 1) in and out."""


def parts_of(regression: Regression, contribution: Array) -> tuple[tuple[str, AdditiveMechanism, Array], ...]:
    """Return (label, mechanism, value) for every release that a contribution is answered with."""
    if regression.joint:
        ((label, mechanism),) = regression.noises
        return ((label, mechanism, contribution),)
    (first, matrix), (second, vector) = regression.noises
    return (first, matrix, contribution[..., :-1]), (second, vector, contribution[..., -1])


def whole(parts: list[Array]) -> Array:
    """Return one array (n_runs, d, d + 1) of the answers to the parts."""
    return parts[0] if len(parts) == 1 else np.concatenate([parts[0], parts[1][..., None]], axis=-1)


def message_of(regression: Regression, recorder: Recorder, contribution: Array, *, record: bool = True) -> Array:
    """Return what users upload for one regression: their contribution, noised on the device. Shape as there."""
    answers = [
        (recorder.release if record else recorder.release_of_others)(label, mechanism, value)
        for label, mechanism, value in parts_of(regression, contribution)
    ]
    return whole(answers)


def open_trees(regression: Regression, recorder: Recorder, horizon: int) -> Sums:
    """Return the stream of the joint model: every prefix sum is released, one tree for each part."""
    trees = [
        TracedTree(label=label, mechanism=mechanism, recorder=recorder, horizon=horizon)
        for label, mechanism in regression.noises
    ]

    def step(contribution: Array) -> Array:
        parts = parts_of(regression, contribution)
        return whole([tree(value) for tree, (_, _, value) in zip(trees, parts, strict=True)])

    return step


def open_messages(regression: Regression, recorder: Recorder, horizon: int) -> Sums:
    """Return the stream of the local model: users noise their own messages, and the server adds messages up.

    The trace holds the first user's message.
    """
    sent = 0

    def message(contribution: Array) -> Array:
        nonlocal sent
        sent += 1
        return message_of(regression, recorder, contribution, record=sent == 1)

    return _added(message)


def open_exact(regression: Regression, recorder: Recorder, horizon: int) -> Sums:
    """Return the stream without privacy, for comparison: the sums as they are."""
    return _added(np.asarray)


def _added(entered: Callable[[Array], Array]) -> Sums:
    """Return the stream that adds up what enters of each contribution."""
    total: Any = 0.0

    def step(contribution: Array) -> Array:
        nonlocal total
        total = total + entered(contribution)
        return np.asarray(total)

    return step
