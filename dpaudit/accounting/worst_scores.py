"""What the best of many runs attains under a score that is worst at one x = e^epsilon.

Outputs of one run stand by falling ratio P/Q. A worst score takes outputs from both ends of this row, and what stays in
between is scored last: outputs from the low end, which lower what Q has left more than what P has, and outputs from the
high end, which make up the event. Over these scores the largest P(S) - x Q(S) is found by a recursion over how many
outputs are taken from either end; `weighed_scores` shows that no other score has more. The outputs of noise on a line
are cells, of which a score picks any share, for both laws at once, as no output has mass (Lyapunov 1940). Those of a
table are whole, but where runs draw settings and show them: a score may pick any share of the settings.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpaudit.accounting.run_counts import RunCount
from dpaudit.accounting.shuffling import binned
from dpaudit.accounting.weighed_scores import split
from dpaudit.engines.gaussian import all_gaussian, total_mu
from dpaudit.engines.transform import Floats
from dpaudit.model.losses import ApproximateLoss, Composition, DiscreteLoss, GaussianLoss, LaplaceLoss

SCORES = 162
"""How many scores are tried: half of them each worst at an epsilon of its own, and half for the reversed pair."""

_LAST, _FOUR, _OCTAVE, _APART = 24, 4.0, 4, 0.375  # of the scores: the last one in octaves, four in each; steps beyond
_STEP, _FINE = 0.25, 0.1  # by which the logarithm of a slope falls at most within a cell, and an outcome of a table
_CELLS, _REACH, _MOST = 300, 9.0, 300  # of noise on a line: cells, and deviations beyond both answers; of a table
_LEAST, _LARGEST = 1e-14, 600.0  # what an event must show; an epsilon beyond all losses of cells


def epsilon_of(score: int) -> float:
    """Return the epsilon at which a score is worst: from 1/16 to 4 in octaves, and on to 25 in equal steps.

    >>> epsilon_of(0), epsilon_of(20), epsilon_of(80)
    (0.0625, 2.0, 25.0)
    """
    return float(_FOUR * 2 ** (min(0, score - _LAST) / _OCTAVE) + _APART * max(0, score - _LAST))


@lru_cache(maxsize=256)
def best_attained(part: Composition, count: RunCount, score: int, *, pieces: bool = False) -> Composition:
    """Return what the best run attains by one score; nothing where a run is neither noise on a line nor one table.

    With `pieces` a score tells outputs of one outcome apart by settings that each run draws and shows.
    """
    other = score >= SCORES // 2
    cells = _cells(part.reversed() if other else part)
    if cells is None or (other and part == part.reversed()):
        return Composition()
    noise = _on_a_line(part)
    p, q = split(*cells, count, _STEP if noise else _FINE) if noise or pieces else cells
    order = worst_order(p, q, count, math.exp(epsilon_of(score % (SCORES // 2))))
    if order is None:
        return Composition()
    p_best, q_best = (best_law(law[order], count) for law in (p, q))
    return Composition.of(binned(p_best, q_best, _LARGEST))


def worst_order(p: Floats, q: Floats, count: RunCount, x: float) -> NDArray[np.int64] | None:
    """Return outputs from the best score to the worst, where `p` and `q` stand by falling ratio; None if nothing shows.

    Shape: both laws and the order have one entry for each output.
    """
    size = len(p)
    high, theirs = (np.append(0.0, np.cumsum(law)) for law in (p, q))
    low, others = (np.append(0.0, np.cumsum(law[::-1])) for law in (p, q))
    later, values = np.zeros(size + 1), np.zeros((size, size + 1))
    for taken in range(size - 1, -1, -1):  # from the high end; the other index counts what is taken from the low end
        left = np.arange(size - taken)
        gains = count.reached(high[taken] + low[left], high[size - left] - high[taken], p[taken])
        costs = count.reached(theirs[taken] + others[left], theirs[size - left] - theirs[taken], q[taken])
        values[taken, left] = gains - x * costs + later[left]
        later = np.zeros(size + 1)
        later[left] = np.maximum(0.0, np.maximum.accumulate(values[taken, left][::-1])[::-1])
    if later[0] < _LEAST:
        return None
    ranks: list[int] = []
    below = 0
    for taken in range(size):
        best = below + int(np.argmax(values[taken, below : size - taken])) if below < size - taken else size
        if best == size or values[taken, best] <= 0:
            break
        ranks += [*range(size - 1 - below, size - 1 - best, -1), taken]
        below = best
    return np.array([*ranks, *sorted(set(range(size)) - set(ranks))])


def best_law(masses: Floats, count: RunCount) -> Floats:
    """Return the law of the best run, the outputs standing by score from the best on."""
    above = np.minimum(1.0, np.append(0.0, np.cumsum(masses)[:-1]))
    below = np.cumsum(masses[::-1])[::-1]
    return count.reached(above, below, masses)


def _on_a_line(part: Composition) -> bool:
    """Return whether a part is noise on a line, of which no output has mass."""
    return all(isinstance(loss, GaussianLoss | LaplaceLoss) for loss, _ in part.parts)


def _cells(part: Composition) -> tuple[Floats, Floats] | None:
    """Return the laws of a run in cells, by falling ratio; None of what is neither noise on a line nor one table."""
    if part.parts and all_gaussian(part):
        mu = total_mu(part)[0]
        edges = np.linspace(-_REACH, mu + _REACH, _CELLS)
        return _between(ndtr(edges - mu), ndtr(mu - edges)), _between(ndtr(edges), ndtr(-edges))
    if part.events != 1:
        return None
    ((loss, _),) = part.parts
    if isinstance(loss, LaplaceLoss):
        edges = np.linspace(0.0, loss.shift, _CELLS)
        return _between(*_laplace(edges - loss.shift)), _between(*_laplace(edges))
    if isinstance(loss, ApproximateLoss) and not loss.delta:
        ratio = math.exp(-loss.epsilon)
        masses = np.array([1.0, ratio]) / (1 + ratio)
        return masses, masses[::-1]
    if not isinstance(loss, DiscreteLoss) or len(loss.atoms) > _MOST or loss.span is not None:
        return None
    values, masses = np.array(loss.atoms[::-1]).T.reshape(2, -1)
    under = np.concatenate([[0.0], masses * np.exp(-values), [loss.reverse_infinite_mass]])
    return np.concatenate([[loss.infinite_mass], masses, [0.0]]), under


def _laplace(x: Floats) -> tuple[Floats, Floats]:
    """Return the Laplace probabilities below and above each place."""
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail), np.where(x < 0, 1 - tail, tail)


def _between(below: Floats, above: Floats) -> Floats:
    """Return the masses of the cells between places, each from its nearer tail, with both ends, from the last one."""
    inner = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    return np.concatenate([[above[-1]], inner[::-1], [below[0]]])
