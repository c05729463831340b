"""The stages of a reign: how many duels the champion plays against each challenger, and what their shares may err by.

A reign adds up the noisy wins of its stages, so a sum of stage a holds the answers of a stages and as much noise. The
half width is the Chernoff bound of both together: with n answers and a draws of Laplace(1 / epsilon), a sum is off by
more than the least over s < epsilon of (L + n s^2 / 8 - a ln(1 - s^2 / epsilon^2)) / s with probability at most e^-L.

Only duels of the best option can remove it: as champion against each other option, or as challenger of each, so that
2 (K - 1) A one-sided events, A the number of stages, have probability `fail_prob` in all.
"""

import math
from dataclasses import dataclass

import numpy as np

from algorithms.dp_ebs.settings import DpEbsSettings

_GROWTH = 1.5
"""A stage ends with so many times the duels that the one before it ended with."""

_MOST_FAILURE = 0.05
_SHARES = np.linspace(0, 1, 402)[1:-1]
"""Values of s that are tried, as shares of the largest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage of a reign: `plays` duels against each challenger, and the half width of shares over all so far."""

    plays: int
    total: int
    half_width: float


def stages_of(settings: DpEbsSettings) -> tuple[Stage, ...]:
    """Return the stages that a reign over one challenger could complete within the horizon; at least one.

    The first has 2 L (1 + 1 / epsilon) duels, the fewest with which a share of 0 or 1 can be told from one half.
    """
    most = 2 + math.ceil(math.log(settings.horizon) / math.log(_GROWTH))
    log = math.log(2 * (settings.arms - 1) * most / failure_of(settings))
    totals = [math.ceil(2 * log * (1 + 1 / settings.epsilon))]
    while totals[-1] <= settings.horizon:
        totals.append(math.ceil(_GROWTH * totals[-1]))
    return tuple(
        Stage(
            plays=total - before,
            total=total,
            half_width=settings.width_factor * half_width(total, age, settings.epsilon, log),
        )
        for age, (before, total) in enumerate(zip([0, *totals], totals, strict=False), start=1)
    )


def failure_of(settings: DpEbsSettings) -> float:
    """Return the failure probability of a run: `fail_prob`, or arms / (epsilon horizon) between 1 / horizon and 1/20.

    A failure costs the horizon at most, so it adds arms / epsilon to the regret, of which private regret has more.
    """
    if settings.fail_prob is not None:
        return settings.fail_prob
    return min(_MOST_FAILURE, max(1.0, settings.arms / settings.epsilon) / settings.horizon)


def half_width(answers: int, draws: int, epsilon: float, log: float) -> float:
    """Return what a share over `answers` answers, with so many draws of noise, is off by with probability e^-log."""
    s = min(epsilon, 4 * math.sqrt(8 * log / answers)) * _SHARES
    ends = (log + answers * s**2 / 8 - draws * np.log1p(-((s / epsilon) ** 2))) / s
    return float(ends.min()) / answers


def champion_labels(settings: DpEbsSettings) -> tuple[str, ...]:
    """Return the labels of all releases: each option reigns at most once, and a reign has at most all stages."""
    return tuple(f"stage {number + 1}" for number in range(settings.arms * len(stages_of(settings))))
