"""The noise, shift and radius that the paper prints for linear mixtures: Corollaries 5, 6, 10 and 11.

Single letters are the paper's: K episodes, H steps, d the dimension, p the failure probability, C_w the bound on the
weights. Nothing here reads data, and nothing but a printed noise scale ever reads epsilon.
"""

# ruff: noqa: N806  # the paper's letters, as the page that cites them

import math

from algorithms._linear_rl.calibration import nodes_printed
from dpaudit.model.mechanism import Array


def noise_units(*, joint: bool, bernstein: bool, epsilon: float, delta: float, episodes: int, steps: int) -> float:
    """Return the printed standard deviation over half the printed sensitivity, which has no unit.

    The printed sensitivities are 2 H^2 (Algorithm 1), and 2 d and 2 H^4 (Algorithm 3); the standard deviations are
    this number times H^2, d and H^4.
    Source: Corollaries 5 and 10 (joint), 6 and 11 (local).
    """
    H, parts = steps, 4 if bernstein else 2
    if not joint:
        return 2 * parts * H / epsilon * math.sqrt(2 * math.log(2 * parts * H / delta))
    K0 = nodes_printed(episodes)
    logs = math.log(4 * parts * H / delta) * math.log(2 * parts / delta) * math.log(8 * parts * H * K0 / delta)
    return 16 * parts / epsilon * math.sqrt(2 * H * K0 * logs)


def matrix_deviation(stddev: float, nodes: int, d: int, tail: float) -> float:
    """Return the paper's bound on the operator norm of a sum of `nodes` noises: Upsilon (Claim 26).

    `tail` is the logarithm of the number of events over their failure probability: log(6KH/p) or log(24KH/p).
    """
    return stddev * math.sqrt(nodes) * (4 * math.sqrt(d) + 2 * tail)


def vector_deviation(stddev: float, nodes: int, d: int, tail: float) -> float:
    """Return the paper's bound on the norm of a sum of `nodes` vector noises: C (Claim 27)."""
    return stddev * math.sqrt(nodes) * (math.sqrt(d) + 2 * math.sqrt(tail))


def hoeffding_term(*, episodes: int, steps: int, d: int, fail_prob: float) -> float:
    """Return the part of the radius that noise leaves alone: sqrt(2 H^2 (log(3H/p) + (d/2) log(1 + KH))) (Theorem 7).

    >>> round(hoeffding_term(episodes=1000, steps=5, d=5, fail_prob=0.05), 4)
    36.7405
    """
    K, H, p = episodes, steps, fail_prob
    return math.sqrt(2 * H**2 * (math.log(3 * H / p) + d / 2 * math.log(1 + K * H)))


def radius(weight_bound: float, ridge: float, low: float, high: float, vector: float) -> float:
    """Return ((lambda + high) C_w + vector) / sqrt(lambda + low): what noise with eigenvalues in [low, high] costs.

    Source: Theorem 7.
    """
    return ((ridge + high) * weight_bound + vector) / math.sqrt(ridge + low)


def printed_radius(weight_bound: float, ridge: float, deviation: float) -> float:
    """Return 3 (C_w + 1) sqrt(lambda + Upsilon), the paper's form of `radius` for low = Upsilon, high = 3 Upsilon."""
    return 3 * (weight_bound + 1) * math.sqrt(ridge + deviation)


def bernstein_terms(*, episode: int, episodes: int, steps: int, d: int, fail_prob: float) -> tuple[float, float, float]:
    """Return the noise-free parts of the radii "check", "hat" and "tilde" of Algorithm 3 at `episode` (Eq. 5).

    The ridge is 1.
    """
    k, K, H = episode, episodes, steps
    tail = math.log(24 * k**2 * H / fail_prob)
    first = math.log(1 + K) * tail
    second = math.log(1 + K * H**4 / d) * tail
    linear = 4 * math.sqrt(d) * tail
    return (
        8 * d * math.sqrt(first) + linear,
        8 * math.sqrt(d * first) + linear,
        8 * math.sqrt(d * H**4 * second) + 4 * H**2 * tail,
    )


def regret_bound(radius_: float | Array, *, episodes: int, steps: int, d: int, fail_prob: float) -> float | Array:
    """Return Theorem 7's bound on the regret, with the radius outside the root, where its proof has it.

    4 beta sqrt(H^2 d K log(1 + HK)) + sqrt(2 H^3 K log(3/p)).
    """
    K, H = episodes, steps
    return 4 * radius_ * math.sqrt(H**2 * d * K * math.log(1 + H * K)) + math.sqrt(
        2 * H**3 * K * math.log(3 / fail_prob)
    )
