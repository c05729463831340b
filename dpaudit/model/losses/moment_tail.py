"""What bounds the moments of a loss whose atoms leave a mass beyond the largest one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentTail:
    """A bound on a curve beyond its largest atom: h(x) is at most e^log_runs h_0(x e^log_share) for another pair's h_0.

    `moments` holds (s, ln E_P[e^(s L)]) of that pair, by s, rounded up.
    """

    log_runs: float
    log_share: float
    moments: tuple[tuple[float, float], ...]
