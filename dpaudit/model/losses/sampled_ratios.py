"""The loss on a sample that holds the record with a given probability, and its inverse, to the last digits.

A rate q stands for its shortest decimal, and p = 1 - q is taken from that decimal: near q = 1 the float 1 - q may be
wrong in its second digit. L is the loss of the record that is surely there; on the sample it is ln(p + q e^L). No form
of this is exact everywhere: ln(1 + q (e^L - 1)) loses the digits of p where q is near 1 and L far below 0, and
L + ln(q + p e^-L) cancels for a small q and a large L.
Source: Zhu, Dong and Wang (2022), Theorem 11, for the map.
"""

import math

import numpy as np
from numpy.typing import NDArray

from dpaudit.checks import meant

Floats = NDArray[np.float64]
_LARGE, _FAR = 700.0, 30.0  # e to the first is a float; beyond the second 1 hardly counts beside it
_UNIT = 2.0**-53
ROUNDED = 16 * _UNIT
"""Relative; more than what these functions make of a loss that is a float."""


def absent(rate: float) -> float:
    """Return the probability that a sample lacks the record: 1 less the decimal that `rate` stands for.

    >>> absent(1 - 2e-14), 1 - (1 - 2e-14)
    (2e-14, 1.9984014443252818e-14)
    """
    return float(1 - meant(rate))


def log_absent(rate: float) -> float:
    """Return the logarithm of `absent`, minus infinity at rate 1.

    >>> log_absent(1e-60)
    -1e-60
    """
    if rate <= 0.5:
        return math.log1p(-rate)
    return math.log(absent(rate)) if rate < 1 else -math.inf


def sampled_losses(losses: Floats, rate: float) -> Floats:
    """Return ln(1 - rate + rate e^loss) of each loss, right to a relative 2^-51.

    Shape: that of `losses`, which may be infinite. Edge cases: 0 at rate 0, the losses themselves at rate 1.

    >>> sampled_losses(np.array([-np.inf, 0.0, 5.0, 710.0]), 1e-17).tolist()
    [-1e-17, 0.0, 1.474131591025765e-15, 670.8560534191013]
    """
    if rate == 1:
        return losses
    if rate == 0:
        return np.zeros_like(losses)
    p = absent(rate)
    within = np.minimum(losses, _LARGE)
    growth = rate * np.expm1(within)
    lost = growth < -0.5
    near = np.where(lost, np.log(p + rate * np.exp(within)), np.log1p(np.where(lost, 0.0, growth)))
    far = np.maximum(losses, _LARGE)
    shifted = far + math.log(rate)
    beyond = np.where(
        shifted > 0, shifted + np.log1p(p / rate * np.exp(-far)), np.log1p(np.exp(np.minimum(shifted, 0.0)))
    )
    return np.asarray(np.where(losses > _LARGE, beyond, near), np.float64)


def sampled_loss(loss: float, rate: float) -> float:
    """Return the same of one loss.

    >>> sampled_loss(1.0, 0.5) == math.log((1 + math.e) / 2)
    True
    """
    return float(sampled_losses(np.array([loss]), rate)[0])


def moved_by_rounding(losses: Floats, rate: float) -> float:
    """Return what half a unit in the last place of each loss, and the map, make of sampled losses: a relative bound.

    A sample of rate q that is rare makes losses smaller, and what rounding has made of them relatively larger: by
    L q e^(L - s) / s, s being the loss on the sample.

    >>> [round(moved_by_rounding(np.array([loss]), rate) * 2.0**52) for loss, rate in ((100.0, 1e-60), (1.0, 0.5))]
    [108, 9]
    """
    mapped = sampled_losses(losses, rate)
    seen = np.isfinite(losses) & (losses != 0)
    at, away = losses[seen], mapped[seen]
    growth = np.abs(at / away) * rate * np.exp(np.minimum(at - away, _LARGE))
    return ROUNDED + 2 * _UNIT * float(growth.max(initial=0.0))


def loss_before(epsilon: float, rate: float) -> float:
    """Return the loss that a sample of `rate` maps to `epsilon`: ln((e^epsilon - 1 + rate) / rate).

    Edge cases: minus infinity where no loss is mapped so low.

    >>> loss_before(1e-17, 1e-17) == math.log(2), loss_before(-1.0, 0.1)
    (True, -inf)
    """
    if rate == 1 or epsilon == math.inf:
        return epsilon
    if epsilon > _FAR:
        return epsilon - math.log(rate) + math.log1p(-absent(rate) * math.exp(-epsilon))
    growth = math.expm1(epsilon) / rate
    if growth >= -0.5:
        return math.log1p(growth)
    share = math.exp(epsilon) - absent(rate) if rate > 0.5 else math.expm1(epsilon) + rate
    return math.log(share / rate) if share > 0 else -math.inf


def share_without(epsilon: float, rate: float) -> float:
    """Return 1 - (1 - rate) e^epsilon, by which a curve counts where the record is added; 0 where it is negative.

    >>> share_without(0.0, 1e-17), share_without(1.0, 0.5)
    (1e-17, 0.0)
    """
    return max(0.0, rate - absent(rate) * math.expm1(min(epsilon, _LARGE)))
