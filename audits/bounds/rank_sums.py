"""The largest mu that rank sums refute: how often scores with the record exceed scores without it, in blocks of four.

Let Y_1, ..., Y_m be the scores of a block without the record, X one with it, and N the number of the Y below X. Write
U_j = Q(score > Y_j), refined by a fresh coin at ties, so that the U_j are independent and uniform. A trade-off f allows
the test "score > Y_j" a true positive rate of at most 1 - f(U_j). So, given the block's Y, P(N >= k) is at most what it
is where scores are N(0, 1) without and N(mu, 1) with the record, if f is the Gaussian trade-off of mu. The X of a block
are independent given its Y: their sum of N is stochastically at most the Gaussian one, and so is the sum over
independent blocks. The Gaussian law of a block is a chain of integrals; it increases with mu.
Source of the statistic: Mann and Whitney (1947).
"""

import math
from functools import cache, lru_cache

import numpy as np
from numpy.polynomial import chebyshev
from scipy.fft import irfft, next_fast_len, rfft

from audits.bounds.bisection import largest_refuted
from dpaudit.checks import count, open_probability
from dpaudit.model.mechanism import Array

BLOCK = 4
"""Scores a side in a block: the limits are 6 % wider than of one large block, whose law nobody can compute."""

_MOST = BLOCK**2
_LARGEST_MU, _STEPS = 14.0, 20
_ORDER, _FARTHEST = 200, 9.0
"""The order of the polynomials of the integrals, and beyond how many deviations a normal law has less than 1e-18."""

_OUTSIDE = 1e-15
"""The probability, at most, of a sum outside the window in which sums are added up."""

_LAW_ERROR = 1e-11
"""More than the error of the law of a block, all values together, and of its powers, a block."""


def block_wins(ins: Array, outs: Array, rng: np.random.Generator) -> tuple[int, int]:
    """Return how often a score with the record exceeds one without it in the same block, and the number of blocks.

    Shape: (n1,), (n0,); blocks of four scores a side, drawn by `rng`, so that the order of the scores does not matter;
    the other scores are not used. Equal scores are lost. Edge cases: (0, 0) where a side has fewer than four scores.

    >>> block_wins(np.arange(8.0) + 100, np.arange(9.0), np.random.default_rng(2))
    (32, 2)
    """
    blocks = min(len(ins), len(outs)) // BLOCK
    used = blocks * BLOCK
    first, second = (rng.permutation(np.asarray(side))[:used].reshape(blocks, BLOCK) for side in (ins, outs))
    return int((first[:, :, None] > second[:, None, :]).sum()), blocks


def rank_sum_mu(wins: int, blocks: int, significance: float) -> float:
    """Return the largest mu that `wins` in `blocks` blocks refute, or 0.

    Guarantee: above mu with probability at most `significance` for every pair of laws within the trade-off of mu, for
    independent scores whose direction was fixed before. It bounds no other measure: a law may refute mu and have a
    smaller rho than mu^2 / 2. Edge cases: 0 for no block; finite where every comparison is won.
    Raises: ValueError: more wins than comparisons, or `significance` outside (0, 1).

    >>> round(rank_sum_mu(3040, 250, 0.01), 4)
    0.8779
    """
    open_probability("significance", significance)
    count("blocks", blocks, at_least=0)
    if not 0 <= wins <= _MOST * blocks:
        raise ValueError(f"Expected wins={wins} to be between 0 and {_MOST} for each of blocks={blocks}.")
    return largest_refuted(lambda mu: _p_value(mu, wins, blocks) <= significance, _LARGEST_MU, _STEPS)


def _p_value(mu: float, wins: int, blocks: int) -> float:
    """Return an upper limit of the probability of so many wins under the Gaussian laws of mu.

    Sums are added up modulo the length of a window, which Hoeffding's inequality lets them leave with less than
    `_OUTSIDE`.
    """
    if wins == 0:
        return 1.0
    law = _block_law(mu)
    reach = _MOST * math.sqrt(blocks * math.log(2 / _OUTSIDE) / 2)
    start = max(0, math.floor(blocks * float(law @ np.arange(_MOST + 1)) - reach))
    size: int = next_fast_len(2 * math.ceil(reach) + _MOST + 2, real=True)
    cells = np.roll(irfft(rfft(law, size) ** blocks, size), -start)
    reached = cells[max(0, wins - start) :]
    return float(np.maximum(reached, 0.0).sum()) + 2 * _OUTSIDE + blocks * _LAW_ERROR


@lru_cache(maxsize=4096)
def _block_law(mu: float) -> Array:
    """Return the probabilities of 0, 1, ..., 16 wins in a block, N(mu, 1) against N(0, 1).

    `below[a][b]` holds, at each node, the probability that a given scores without and b with the record lie below it in
    some order, by the wins so far. A score without the record wins nothing; one with it wins over the a below it.
    """
    places, integral = _integral()
    half = mu / 2 + _FARTHEST
    nodes = places * half + mu / 2
    outs, ins = (half * np.exp(-((nodes - shift) ** 2) / 2) / math.sqrt(2 * math.pi) for shift in (0.0, mu))
    below = {(0, 0): np.ones((1, len(nodes)))}
    for a, b in list(np.ndindex(BLOCK + 1, BLOCK + 1))[1:]:
        density = np.zeros((a * b + 1, len(nodes)))
        if a:
            density[: (a - 1) * b + 1] += a * below[a - 1, b] * outs
        if b:
            density[a:] += b * below[a, b - 1] * ins
        below[a, b] = density @ integral
    masses = np.maximum(below[BLOCK, BLOCK][:, -1], 0.0)
    return masses / masses.sum()


@cache
def _integral() -> tuple[Array, Array]:
    """Return places in [-1, 1] and the matrix that takes a function's values there to its integrals from -1."""
    places = np.append(-np.cos(np.pi * (np.arange(_ORDER) + 0.5) / _ORDER), 1.0)
    values = chebyshev.chebvander(places, _ORDER)
    integrals = chebyshev.chebvander(places, _ORDER + 1) @ chebyshev.chebint(np.eye(_ORDER + 1), lbnd=-1)
    matrix: Array = np.linalg.solve(values.T, integrals.T)
    return places, matrix
