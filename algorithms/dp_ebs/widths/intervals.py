"""The confidence widths of DP-EBS: three printed ones and one that is tight.

With n plays kept by an option, K options, horizon T, failure probability delta and epsilon_c the budget of one tree:

    paper       sqrt(ln(K T / delta) / n) + 4 ln(K T / delta) ln(T)^2.5 / (n epsilon_c)
    paper_K     the same with ln(K / delta) in the second term, as in the proof of Lemma 4: no union over rounds
    paper_typo  the same with ln(ln(K / delta)) there, as Algorithm 1 is typeset
    tight       sqrt(ln(4 K T / delta) / (2 n)) + q(k) / n, q the Chernoff bound of the prefix's k Laplace draws

Source: Saha and Asi (2024), section 3.1 and Lemmas 1 and 4, where 4 / epsilon_c = 16 / epsilon.
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
        return self.sampling / np.sqrt(plays) + self.tree[np.bitwise_count(clock)] / plays


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
