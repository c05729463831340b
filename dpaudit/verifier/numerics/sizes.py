"""The sizes of a Poisson sample that is cut, in a window around their mean, whatever the population."""

import math

import numpy as np

from dpaudit.verifier.refusals import Array, follow

_REACH, _BESIDE = 40.0, 800  # deviations to either side, and sizes more: beyond lies less than e^-800
_LONGEST = 2**22  # sizes of a window
_POSSIBLE, _RARE = 1e-300, 1e-22  # of what is possible; of sizes that have the rate of the smallest one
_UNIT = 1e-15  # relative; the rounding that each size adds to a sum of probabilities
_ALIKE = 1e-3  # relative, of sizes that have the rate of the smallest of them

Shares = list[tuple[float, float]]


def cut_sizes(others: int, rate: float, bound: int) -> tuple[float, float, Shares]:
    """Return the mean rate that is kept, from below, and from above who finds room and who replaces another record.

    A record finds room beside fewer than `bound` of the `others`, with this probability; else it replaces another one,
    at the rates and with the probabilities of the shares. Both sides of the window count at the largest such rate, and
    not at all from below.
    """
    sizes, masses = _window(others, rate)
    full = sizes >= bound
    room, least = float(masses[~full].sum()), _POSSIBLE * (rate < 1)
    replaced, weights = sizes[full], masses[full]
    rates = rate * bound / (replaced + 1)
    mean_rate = (room * rate + float(weights @ rates)) * (1 - _UNIT * len(sizes))
    common = np.cumsum(weights[::-1])[::-1] > _RARE
    group = np.floor(np.log(replaced[common] / bound) / math.log1p(_ALIKE)).astype(int)
    _, starts = np.unique(group, return_index=True)
    grouped_weights = np.add.reduceat(weights[common], starts).tolist() if len(starts) else []
    rare_share = max(float(weights[~common].sum()), least), rate * bound / (bound + 1)
    return mean_rate, max(room, least), [rare_share, *zip(grouped_weights, rates[common][starts].tolist(), strict=True)]


def _window(others: int, rate: float) -> tuple[Array, Array]:
    """Return sizes and their probabilities, which follow from each other and are divided by their sum."""
    if rate == 1:
        return np.array([others]), np.ones(1)
    mean, reach = others * rate, _REACH * math.sqrt(others * rate * (1 - rate)) + _BESIDE
    first, last = max(0, math.floor(mean - reach)), min(others, math.ceil(mean + reach))
    follow(last - first < _LONGEST, "a cut sample of so many sizes is beyond this checker")
    sizes = np.arange(first, last + 1)
    steps = np.log((others - sizes[:-1]) / sizes[1:]) + math.log(rate) - math.log1p(-rate)
    logs = np.append(0.0, np.cumsum(steps))
    masses = np.exp(logs - logs.max())
    return sizes, masses / masses.sum()
