"""The noise, shift and radius that the paper prints for batched LSVI-UCB: Theorem 8 and Appendix E.1.

Single letters are the paper's: B batches, B0 nodes of their tree, chi, U_K, c_K, Upsilon and C.
"""

# ruff: noqa: N803, N806  # the paper's letters, as the page that cites them

import math
from dataclasses import dataclass

from algorithms._linear_rl.calibration import nodes_printed


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Batches of `length` episodes, fixed before any data: `batches` policies, one release less than that.

    `planned` is the paper's B, by which it calibrates; ceil division can leave fewer batches.
    """

    episodes: int
    planned: int

    @property
    def length(self) -> int:
        """Episodes in every batch but the last."""
        return -(-self.episodes // self.planned)

    @property
    def batches(self) -> int:
        """The number of policies that are played."""
        return -(-self.episodes // self.length)

    @property
    def releases(self) -> int:
        """How often statistics are released: after every batch but the last."""
        return self.batches - 1

    @property
    def starts(self) -> tuple[int, ...]:
        """The first episode of every batch, from 0."""
        return tuple(range(0, self.episodes, self.length))


def batches(epsilon: float, *, episodes: int, steps: int, d: int) -> int:
    """Return B = ceil((K epsilon)^(2/5) / (d^(3/5) H^(1/5))) (Theorem 8); 1 means that nothing is ever learned.

    >>> batches(1.0, episodes=10_000, steps=5, d=5), batches(0.1, episodes=1_000, steps=20, d=10)
    (11, 1)
    """
    return math.ceil(math.pow(episodes * epsilon, 0.4) / (math.pow(d, 0.6) * math.pow(steps, 0.2)))


def pure_batches(epsilon: float, *, episodes: int, steps: int, d: int) -> int:
    """Return the number of batches of the pure remark: ceil((K epsilon)^(1/3) / (d^(2/3) H^(1/3))) (Appendix E.3)."""
    return math.ceil(math.pow(episodes * epsilon, 1 / 3) / (math.pow(d, 2 / 3) * math.pow(steps, 1 / 3)))


def noise_scales(epsilon: float, delta: float, *, B: int, steps: int) -> tuple[float, float]:
    """Return the printed standard deviations of a node of the matrices and of a vector (Theorem 8)."""
    B0 = nodes_printed(B)
    logs = math.log(32 * steps * B0 * B / delta) ** 2
    matrix = 128 / epsilon * math.sqrt(B * steps * B0) * logs
    vector = 128 / epsilon * steps * math.sqrt(steps * B) * logs
    return matrix, vector


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchScales:
    """The scales that Appendix E.1 derives from the noise: `deviation` is Upsilon, `extra` is c_K, `vector` is C."""

    deviation: float
    extra: float
    vector: float
    log_chi: float
    radius: float


def batch_scales(
    matrix: float, vector: float, *, B: int, episodes: int, steps: int, d: int, fail_prob: float
) -> BatchScales:
    """Return the shift and the radius of Appendix E.1 for noise of these standard deviations."""
    K, H, p = episodes, steps, fail_prob
    deviation = matrix * nodes_printed(B) * (4 * math.sqrt(d) + 2 * math.log(6 * K * H / p))
    return _scales(deviation, d * deviation, vector, K=K, H=H, d=d, p=p)


def _scales(deviation: float, extra: float, vector: float, *, K: int, H: int, d: int, p: float) -> BatchScales:
    """Return C, log chi and beta for a given Upsilon and c_K."""
    C = vector * (math.sqrt(d) + 2 * math.sqrt(math.log(6 * K * H * d / p))) if vector else 0.0
    ridge = d + extra
    largest = max(1.0, 2 * H * math.sqrt(d * K / ridge) + C / ridge)
    log_chi = math.log(24**2 * 18 * K**2 * d * largest * H / p)
    return BatchScales(
        deviation=deviation, extra=extra, vector=C, log_chi=log_chi, radius=24 * H * math.sqrt(d * ridge) * log_chi
    )


def tight_scales(
    matrix: float, vector: float, *, nodes: int, episodes: int, steps: int, d: int, fail_prob: float, extra: int = 1
) -> BatchScales:
    """Return the same with the operator norm of `nodes` symmetric noises as it is: Upsilon; c_K is `extra` times it.

    Noise of symmetry "half" has operator norm above stddev (sqrt(2d) + t) with probability at most 2 exp(-t^2 / 2).
    """
    tail = math.sqrt(2 * math.log(12 * episodes * steps / fail_prob))
    deviation = matrix * math.sqrt(nodes) * (math.sqrt(2 * d) + tail)
    return _scales(deviation, extra * deviation, vector, K=episodes, H=steps, d=d, p=fail_prob)


def regret_bound(scales: BatchScales, *, B: int, episodes: int, steps: int, d: int, fail_prob: float) -> float:
    """Return Eq. (22), the bound on the regret."""
    K, H, p = episodes, steps, fail_prob
    switches = math.floor(d * H * math.ceil(K / B) * math.log(K / d**2 + 1) / (2 * math.log(4) - 2))
    elliptical = math.sqrt(2 * d * K * math.log(K / (d + scales.extra) + 1))
    return 2 * math.sqrt(2 * K * H**3 * math.log(3 / p)) + H * switches + 8 * scales.radius * H * elliptical
