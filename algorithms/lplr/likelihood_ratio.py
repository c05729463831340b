"""Likelihood ratios of messages under the declared noise, for two known records."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpaudit import Mechanism
from dpaudit.model.mechanism import Array
from mechanisms import SymmetrisedWishart

_CERTAIN = 60.0
"""What an impossible output scores: e^60 to one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MessageRatio:
    """The log likelihood ratio of a message, second record over first, summed over leaves and bins.

    An output that one record cannot have caused scores 60 either way: this is the support test that printed matrix
    noise fails. Ratios are rounded to nine digits, so that the last bits of equal densities tell nothing apart. From
    dimension 3 on the repaired matrix noise has no density here, and what is scored is whether an output lies above
    or below both answers, where the ratio is exact.
    """

    leaves: tuple[tuple[str, Mechanism], ...]
    first: Mapping[str, Array]
    second: Mapping[str, Array]

    def __call__(self, view: Mapping[str, Array]) -> Array:
        """Return one score a run. Shape (n_runs,)."""
        total = np.zeros(len(next(iter(view.values()))))
        for label, mechanism in self.leaves:
            output = np.asarray(view[label])
            ratio = cone_ratio if _has_no_density(mechanism) else density_ratio
            each = ratio(mechanism, output, self.first[label], self.second[label])
            total = total + each.reshape(len(output), -1).sum(axis=1)
        return np.clip(np.round(total, 9), -_CERTAIN, _CERTAIN)


def density_ratio(mechanism: Mechanism, output: Array, first: Array, second: Array) -> Array:
    """Return log density differences, impossible outputs counted as nearly so."""
    above, below = mechanism.log_density(output, second), mechanism.log_density(output, first)
    certain: Array = np.maximum(above, -1e4) - np.maximum(below, -1e4)
    return np.where(np.isneginf(above) | np.isneginf(below), np.sign(certain) * 4 * _CERTAIN, certain)


def cone_ratio(mechanism: Mechanism, output: Array, first: Array, second: Array) -> Array:
    """Return the log ratio of outputs that lie above, or below, both answers of a bin; 0 for all others."""
    rate = 1 / (2 * float(getattr(mechanism, "scale", math.inf)))
    far = np.stack([np.linalg.eigvalsh(output - answer) for answer in (first, second)])
    above, below = (far[..., 0] >= 0).all(axis=0), (far[..., -1] <= 0).all(axis=0)
    traces = np.trace(second - first, axis1=-2, axis2=-1)
    return rate * traces * (above.astype(np.float64) - below)


def _has_no_density(mechanism: Mechanism) -> bool:
    """Return whether a mechanism's density has no formula everywhere."""
    match mechanism:
        case SymmetrisedWishart(dimension=dimension):
            return int(dimension) > 2
        case _:
            return False
