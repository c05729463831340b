"""Streams of noisy sums: noise on the nodes of a tree that the learner keeps, or on every user's own message.

A stream is fed one contribution an episode, of shape (n_runs, d, d + 1): the outer product of the features, and as
last column the features times the target. It answers with the noisy sum of all so far, in the same shape.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from algorithms._traced_tree import TracedTree
from algorithms.ucrl_vtr.regressions import Regression
from dpaudit import Recorder
from dpaudit.model.mechanism import AdditiveMechanism, Array


class NoisySums(Protocol):
    """A stream of contributions, of which only noisy sums come out."""

    def step(self, contribution: Array) -> Array:
        """Return the noisy sum of all contributions so far. Shape: (n_runs, d, d + 1) in and out."""
        ...


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


@dataclass(slots=True, kw_only=True)
class TreeSums:
    """The joint model: every prefix sum is released, made of tree nodes, one tree for each part."""

    regression: Regression
    recorder: Recorder
    horizon: int
    _trees: list[TracedTree] = field(init=False)

    def __post_init__(self) -> None:
        self._trees = [
            TracedTree(label=label, mechanism=mechanism, recorder=self.recorder, horizon=self.horizon)
            for label, mechanism in self.regression.noises
        ]

    def step(self, contribution: Array) -> Array:
        """Return the noisy prefix sum."""
        parts = parts_of(self.regression, contribution)
        return whole([tree(value) for tree, (_, _, value) in zip(self._trees, parts, strict=True)])


@dataclass(slots=True, kw_only=True)
class LocalSums:
    """The local model: every user noises their own message, and the server adds messages up.

    The trace holds the first user's message.
    """

    regression: Regression
    recorder: Recorder
    first: Array | None = None
    _sum: Any = 0.0

    def step(self, contribution: Array) -> Array:
        """Return the sum of the messages so far."""
        message = message_of(self.regression, self.recorder, contribution, record=self.first is None)
        self.first = message if self.first is None else self.first
        self._sum = self._sum + message
        total: Array = self._sum
        return total


@dataclass(slots=True, kw_only=True)
class ExactSums:
    """No privacy: the sums as they are, for comparison."""

    _sum: Any = 0.0

    def step(self, contribution: Array) -> Array:
        """Return the exact sum."""
        self._sum = self._sum + contribution
        total: Array = self._sum
        return total


def message_of(regression: Regression, recorder: Recorder, contribution: Array, *, record: bool = True) -> Array:
    """Return what users upload for one regression: their contribution, noised on the device. Shape as there."""
    answers = [
        (recorder.release if record else recorder.release_of_others)(label, mechanism, value)
        for label, mechanism, value in parts_of(regression, contribution)
    ]
    return whole(answers)


def open_trees(regression: Regression, recorder: Recorder, horizon: int) -> NoisySums:
    """Return the stream of the joint model."""
    return TreeSums(regression=regression, recorder=recorder, horizon=horizon)


def open_messages(regression: Regression, recorder: Recorder, horizon: int) -> NoisySums:
    """Return the stream of the local model."""
    return LocalSums(regression=regression, recorder=recorder)


def open_exact(regression: Regression, recorder: Recorder, horizon: int) -> NoisySums:
    """Return the stream without privacy."""
    return ExactSums()
