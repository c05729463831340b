"""A bound for one run that may stop at any canary: coins are bet on in the order of scores that read the output only.

Given the output and the coins seen so far, the odds of the next coin stay in e^-epsilon to e^epsilon under pure
privacy. A stake at odds outside, paid as if they were clipped to that interval, is a supermartingale.
"""

import math

import numpy as np

from audits.bounds.e_process import LEVELS, lowest_survivor
from dpaudit.model.audit_result import LowerBound
from dpaudit.model.mechanism import Array

_SLOPES = (0.25, 0.5, 1.0, 2.0, 4.0)
_MOST, _BLOCK = 20_000, 1_000
"""Bets stop after so many guesses, the surest ones; so many are computed at a time."""


def one_run_order_bound(magnitudes: Array, right: Array, significance: float) -> LowerBound:
    """Return the bound on epsilon at delta 0 from guesses of independent fair coins, the surest guess first.

    Shape: (guesses,), of which the 20,000 surest are bet on. `magnitudes` say how sure each guess is and read the
    output alone; `right` says which guesses are right. The wealth is the mean over five slopes from magnitudes to log
    odds.
    Guarantee: exceeds epsilon with probability at most `significance`, wherever the guessing stops; canaries may leak
    together.
    Source: Ville (1939); the odds follow from Steinke, Nasr and Jagielski (2023), Section 5.

    >>> one_run_order_bound(np.ones(200), np.ones(200, dtype=bool), 0.05).epsilon > 2
    True
    """
    order = np.lexsort((right, -magnitudes))[:_MOST]  # among equal magnitudes wrong guesses come first
    sizes, hits = magnitudes[order], np.asarray(right, dtype=bool)[order]
    typical = float(magnitudes.mean()) if len(sizes) else 0.0
    best = np.zeros(len(LEVELS))
    if typical > 0:
        carried = np.zeros((len(_SLOPES), 1, len(LEVELS)))
        for start in range(0, len(sizes), _BLOCK):
            block, won = sizes[start : start + _BLOCK] / typical, hits[start : start + _BLOCK]
            logs = carried + np.cumsum([_gains(slope * block, won) for slope in _SLOPES], axis=1)
            wealth = np.logaddexp.reduce(logs)
            best = np.maximum(best, wealth.max(axis=0) - math.log(len(_SLOPES)))
            carried = logs[:, -1:]
    epsilon = lowest_survivor(best, significance)
    return LowerBound(name="one_run_order", epsilon=epsilon, significance=significance)


def _gains(sizes: Array, hits: Array) -> Array:
    """Return the log wealth that each guess gains against each epsilon of the grid. Shape: (guesses, grid)."""
    signed = np.where(hits, sizes, -sizes)[:, None]
    return np.logaddexp(0, -np.clip(signed, -LEVELS, LEVELS)) - np.logaddexp(0, -signed)
