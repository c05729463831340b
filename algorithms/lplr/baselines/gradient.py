"""Stochastic gradient steps on one private direction a user (Han et al., 2021)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from algorithms._claims import MESSAGE, claim_of
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit import Claim, Declaration, Local, PostProcess, Recorder, Release, Streams, Transcript
from dpaudit.checks import count, positive
from dpaudit.model.mechanism import Array
from mechanisms import RandomisedResponse

GRADIENT_BOUND = 2.0
"""Gradients (x . theta - y) x of clipped predictions are no longer than this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientBandit:
    """Greedy play on a parameter that moves against one privatised gradient a user.

    A user turns the gradient g into a random unit vector v with mean g / 2, takes a public direction w uniform on the
    sphere, and says by randomised response on which side of w's plane v lies; the message is w or -w, scaled so that
    its mean is g. Parameters: `step`, the step size is step / sqrt(t).
    Guarantee: one answer by randomised response, so exactly epsilon, attained by opposite gradients.
    Raises: ValueError: a field outside its range.
    Source: Han, Liang, Wang and Zhang (2021); Duchi, Jordan and Wainwright (2018) for the direction.
    """

    name: ClassVar[str] = "gradient_bandit"

    epsilon: float
    horizon: int
    dimension: int
    step: float = 0.01

    def __post_init__(self) -> None:
        for field in ("epsilon", "step"):
            object.__setattr__(self, field, positive(field, getattr(self, field)))
        for field in ("horizon", "dimension"):
            object.__setattr__(self, field, count(field, getattr(self, field)))

    def claim(self) -> Claim:
        """Return what is promised: (epsilon, 0) for each user's own message."""
        return claim_of(MESSAGE, "local", self.epsilon)

    @property
    def mechanism(self) -> RandomisedResponse:
        """The answer about the side."""
        return RandomisedResponse(epsilon=self.epsilon)

    @property
    def length(self) -> float:
        """The length of a message, at which its mean is the gradient."""
        half = self.dimension / 2
        gamma = math.exp(math.lgamma(half + 0.5) - math.lgamma(half))
        return GRADIENT_BOUND / math.tanh(self.epsilon / 2) * math.sqrt(math.pi) * gamma

    def declaration(self) -> Declaration:
        """Return one answer by randomised response, and the public direction that it is turned into."""
        leaf = Release(label="side", mechanism=self.mechanism)
        return Local(part=PostProcess(part=leaf, steps=("the public direction times the reported side",)))

    def messages(self, recorder: Recorder, gradients: Array, streams: Streams) -> Array:
        """Return one message for each gradient. Shape: (n, d) in and out; every gradient of length 2 at most."""
        lengths = np.linalg.norm(gradients, axis=1)
        scale = np.where(lengths > GRADIENT_BOUND, GRADIENT_BOUND / np.maximum(lengths, 1e-300), 1.0)
        clipped = gradients * scale[:, None]
        lengths = lengths * scale
        sign = np.where(streams.actions.random(len(lengths)) < 0.5 + lengths / (2 * GRADIENT_BOUND), 1.0, -1.0)
        axis = streams.public.standard_normal(gradients.shape)
        axis /= np.linalg.norm(axis, axis=1, keepdims=True)
        side = ((clipped * axis).sum(axis=1) * sign > 0).astype(np.int64)
        said = recorder.release("side", self.mechanism, side)
        messages: Array = self.length * np.where(said == 1, 1.0, -1.0)[:, None] * axis
        return messages

    def run(self, problem: LinearBandit, streams: Streams, n_runs: int) -> Transcript:
        """Return a transcript with `regret` (n_runs, 1), the expected regret; one pass a round, all runs at once."""
        recorder = Recorder(streams.noise)
        parameter, total = np.zeros((n_runs, self.dimension)), np.zeros(n_runs)
        rows = np.arange(n_runs)
        for time in range(1, self.horizon + 1):
            context = streams.environment.choice(problem.n_contexts, size=n_runs, p=problem.context_probabilities)
            offered = problem.features[context]
            action = np.einsum("rai,ri->ra", offered, parameter).argmax(axis=1)
            total += problem.gaps[context, action]
            mean = problem.mean_reward[context, action]
            reward = np.where(streams.environment.random(n_runs) < (1 + mean) / 2, 1.0, -1.0)
            feature = offered[rows, action]
            error = np.clip((feature * parameter).sum(axis=1), -1, 1) - reward
            move = self.messages(recorder, error[:, None] * feature, streams)
            parameter = parameter - self.step / math.sqrt(time) * move
            parameter /= np.maximum(1.0, np.linalg.norm(parameter, axis=1, keepdims=True))
            del recorder.released[1:]
        return Transcript(
            n_runs=n_runs,
            arrays={"regret": total[:, None], "parameter": parameter},
            views={"public": ("parameter",)},
            trace=recorder.trace(),
        )
