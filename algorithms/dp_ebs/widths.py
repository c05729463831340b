"""The confidence widths of DP-EBS: three printed ones, one that is tight, and those of the batched variant.

With n plays kept by an option, K options, horizon T, failure probability delta and epsilon_c the budget of one tree:

    paper       sqrt(ln(K T / delta) / n) + 4 ln(K T / delta) ln(T)^2.5 / (n epsilon_c)
    paper_K     the same with ln(K / delta) in the second term, as in the proof of Lemma 4: no union over rounds
    paper_typo  the same with ln(ln(K / delta)) there, as Algorithm 1 is typeset
    tight       sqrt(ln(4 K T / delta) / (2 n)) + q(k) / n, q the Chernoff bound of the prefix's k Laplace draws

The batched variant is an honest reference for what K / epsilon costs without a tree: doubling batches, one noisy sum an
option, nothing carried from batch to batch. A person is in one batch, and in one sum of it.
Source: Saha and Asi (2024), section 3.1 and Lemmas 1 and 4, where 4 / epsilon_c = 16 / epsilon; Sajed and Sheffet
(2019) for the idea of batches, in multi-armed bandits, with constants of this file.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HalfWidth:
    """A confidence half width, as public numbers: sampling / sqrt(n) + tree[k] / n.

    Shape: `tree` (levels + 1,), by how many nodes the prefix reads.
    """

    sampling: float
    tree: Array

    def of(self, plays: Array, clock: Array) -> Array:
        """Return the half width where an option has `plays` plays left and its counter holds `clock` elements."""
        width: Array = self.sampling / np.sqrt(plays) + self.tree[np.bitwise_count(clock)] / plays
        return width


def half_width(
    width: str, *, arms: int, horizon: int, fail_prob: float, scale: float, levels: int, factor: float
) -> HalfWidth:
    """Return the half width called `width`, times `factor`; `scale` is a node's noise (0 without a tree).

    The printed widths read epsilon_c = levels / scale off the noise, so that they fit whatever noise runs.
    """
    union = math.log(arms * horizon / fail_prob)
    if width == "tight":
        failure = math.log(4 * arms * horizon / fail_prob)
        quantiles = [laplace_sum_quantile(nodes, scale, failure) for nodes in range(levels + 1)]
        return HalfWidth(sampling=factor * math.sqrt(failure / 2), tree=factor * np.array(quantiles))
    count = math.log(arms / fail_prob)
    confidence = {"paper": union, "paper_K": count, "paper_typo": math.log(max(count, 1.0))}[width]
    noise = 4 * confidence * math.log(horizon) ** 2.5 * scale / levels if scale else 0.0
    return HalfWidth(sampling=factor * math.sqrt(union), tree=np.full(levels + 1, factor * noise))


def laplace_sum_quantile(nodes: int, scale: float, log_inverse: float) -> float:
    """Return q with P(sum of `nodes` Laplace(scale) > q) <= e^-log_inverse: the Chernoff bound, minimised.

    min over 0 < s < 1 / scale of (log_inverse - nodes ln(1 - scale^2 s^2)) / s.
    """
    if nodes == 0 or scale == 0:
        return 0.0
    shares = np.linspace(0, 1, 2001)[1:-1]
    return float(((log_inverse - nodes * np.log1p(-(shares**2))) / shares).min() * scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Batch `number`, from 1: every option left plays `plays` duels; `half_width` bounds the error of its mean."""

    number: int
    plays: int
    half_width: float

    @property
    def label(self) -> str:
        """The label of the batch's sums."""
        return f"batch {self.number}"


def batches_of(*, epsilon: float, horizon: int, arms: int) -> tuple[Batch, ...]:
    """Return the batches that two options could still complete within `horizon` rounds; at least one.

    With lg = ln(8 K e^2 T) in batch e: plays = ceil(max(32 lg 4^e, 8 lg 2^e / epsilon)) and
    half_width = sqrt(lg / (2 plays)) + lg / (epsilon plays).
    """
    batches: list[Batch] = []
    spent = 0
    while True:
        number = len(batches) + 1
        log = _batch_log(number, horizon, arms)
        plays = math.ceil(max(32 * log * 4**number, 8 * log * 2**number / epsilon))
        spent += 2 * plays
        if batches and spent > horizon:
            return tuple(batches)
        width = batch_half_width(number, plays, epsilon=epsilon, horizon=horizon, arms=arms)
        batches.append(Batch(number=number, plays=plays, half_width=width))


def batch_half_width(number: int, plays: int, *, epsilon: float, horizon: int, arms: int) -> float:
    """Return the half width of a batch of `plays` duels an option, with noise 1 / epsilon in its sums."""
    log = _batch_log(number, horizon, arms)
    return math.sqrt(log / (2 * plays)) + log / (epsilon * plays)


def _batch_log(number: int, horizon: int, arms: int) -> float:
    """Return lg of `batches_of`."""
    return math.log(8 * arms * number**2 * horizon)
