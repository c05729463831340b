"""A training run computed again beside the loop: clipped gradients of each batch, and the weights that follow.

The model is a linear softmax layer that starts at zero, so the gradient of one record is x (p - e_y)^T in closed form.
Nothing here calls Opacus or torch, and weights follow from the noisy sums alone.
"""

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy.special import softmax

from algorithms.dp_sgd.divisor import divisor_of
from algorithms.dp_sgd.plan import Plan
from dpaudit import Condition
from dpaudit.model.mechanism import Array
from dpaudit.training import Planted

_OUTPUTS = 2
_SMALL = 1e-6
"""What Opacus adds to a norm before it divides by it."""

_ROUNDING = 1e-3
"""How far single precision may lie off: of a clipping norm in a sum, and of the size of a weight."""

_SINGLE = 1e-5
"""How far it may lie off in one record's probabilities, for each unit of length of features times weights."""

SUMS = Condition(
    kind="training_loop",
    about=("sums of clipped gradients",),
    text="Each step's sum before noise was that of the clipped gradients of the records in its batch, computed again.",
)
WEIGHTS = Condition(
    kind="training_loop",
    about=("trained weights",),
    text="The trained weights followed from zeros, the noisy sums and the public rate alone, computed again.",
)


@dataclass(slots=True, kw_only=True, eq=False)
class Recomputed:
    """The weights that follow from the noisy sums so far, and whether every sum was the right one.

    Shape: features (n, columns), labels (n,), weights (columns, outputs).
    """

    features: Array
    labels: Array
    max_grad_norm: float
    per_step: float
    weights: Array
    sums_hold: bool = True
    largest: float = field(default=0.0)

    @classmethod
    def of(cls, plan: Plan, planted: Planted) -> Self:
        """Return the state before the first step."""
        return cls(
            features=planted.features,
            labels=np.asarray(planted.labels, dtype=np.int64),
            max_grad_norm=plan.max_grad_norm,
            per_step=plan.learning_rate / divisor_of(planted.records, plan.batches),
            weights=np.zeros((planted.features.shape[1], _OUTPUTS)),
        )

    def step(self, released: Array, summed: Array, batch: Array) -> None:
        """Take note of one step: noisy sum, sum before noise (columns, outputs), and the records of its batch."""
        records = np.asarray(batch, dtype=np.int64)
        apart = np.abs(np.asarray(summed) - self.clipped_sum(records))
        lengths = np.linalg.norm(self.features[records], axis=1) * np.linalg.norm(self.weights)
        share = _ROUNDING * max(1.0, math.sqrt(records.size)) + float(np.minimum(2.0, _SINGLE * lengths).sum())
        self.sums_hold &= bool(np.all(apart <= share * self.max_grad_norm))
        self.weights = self.weights - self.per_step * np.asarray(released)
        self.largest = max(self.largest, float(np.abs(self.weights).max(initial=0.0)))

    def clipped_sum(self, batch: Array) -> Array:
        """Return the sum of the clipped gradients of some records at the present weights."""
        x = self.features[batch]
        errors = softmax(x @ self.weights, axis=1) - np.eye(_OUTPUTS)[self.labels[batch]]
        norms = np.linalg.norm(x, axis=1) * np.linalg.norm(errors, axis=1)
        factors = np.minimum(1.0, self.max_grad_norm / (norms + _SMALL))
        return (x * factors[:, None]).T @ errors

    def conditions(self, trained: Array) -> tuple[Condition, Condition]:
        """Return what was computed again, checked or violated; `trained` are the weights that the loop left."""
        apart = np.abs(np.asarray(trained) - self.weights).max(initial=0.0)
        follows = bool(apart <= _ROUNDING * max(self.largest, self.per_step * self.max_grad_norm))
        return SUMS.seen(holds=self.sums_hold), WEIGHTS.seen(holds=follows)
