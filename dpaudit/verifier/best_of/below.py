"""What the best of many runs attains under one score, found again: whose outputs are taken from both ends of their row.

The witness says at which epsilon the score is worst. Of the outputs of one run, by falling ratio, some of the highest
make up the event; between them, lowest ones are scored, which take away what the other law has left. Over these scores
the best one is found from its end, and its law is summed once more. Cells of noise on a line are split, as some part of
one has any share of both its masses (Lyapunov 1940). Outcomes of a table stay whole, but where runs draw settings anew.
"""

import math
from collections import Counter

import numpy as np
from scipy.special import ndtr

from dpaudit.verifier.best_of.runs import Runs
from dpaudit.verifier.best_of.weights import pieces
from dpaudit.verifier.losses import Loss, Multiset, discrete, reversed_all
from dpaudit.verifier.refusals import Array, Table

SCORES = 162  # half of the scores are for the reversed pair
_CELLS, _REACH, _OUTCOMES = 300, 9.0, 300  # the cells of noise; of a table
_APART, _FINE = 0.25, 0.1  # a fall of ln f' within one cell, and within one outcome
_SEEN, _NOTHING = 1e-14, 1e-5  # of an event; a share that shows nothing, more than rounding takes from it
_IMPOSSIBLE = 1e-25


def best_below(node: Table, part: Multiset, score: int, above: Loss) -> Multiset:
    """Return the pair that a score shows, beside what bounds it; nothing of runs that are neither noise nor a table."""
    other = score >= SCORES // 2
    part = Counter({loss[2] if loss[0] == "once" else loss: n for loss, n in part.items()})
    laws = _laws(reversed_all(part) if other else part)
    if laws is None:
        return Counter()
    runs = Runs(node)
    table = part.total() == 1 and next(iter(part))[0] == "discrete"
    p, q = laws if table and node["scores"] == "any" else pieces(*laws, runs, _FINE if table else _APART)
    ranks = _scored(p, q, runs, math.exp(_epsilon(score % (SCORES // 2))))
    if ranks is None:
        return Counter()
    shown = [_best(law[ranks], runs) for law in (p, q)]
    seen = (shown[0] > _IMPOSSIBLE) & (shown[1] > _IMPOSSIBLE)
    first_masses, second_masses = (law[seen] * (1 - _NOTHING) for law in shown)
    alone = [math.fsum(law[them[ranks] == 0]) * (1 - _NOTHING) for law, them in zip(shown, (q, p), strict=True)]
    unseen = 1 - math.fsum(first_masses) - alone[0], 1 - math.fsum(second_masses) - alone[1]
    atoms = zip(np.log(first_masses / second_masses).tolist(), first_masses.tolist(), strict=True)
    return Counter([("between", above, discrete([*atoms, (math.log(unseen[0] / unseen[1]), unseen[0])], *alone))])


def _epsilon(score: int) -> float:
    """Return where a score is worst: four in an octave up to 4, then three quarters apart."""
    return 4 * 2 ** ((score - 24) / 4) if score < 24 else 4 + 0.375 * (score - 24)


def _laws(part: Multiset) -> tuple[Array, Array] | None:
    """Return the laws of one run, by falling ratio; None of what is neither noise on a line nor one table."""
    kinds = {loss[0] for loss in part}
    if kinds == {"gaussian"}:
        mu = math.sqrt(math.fsum(n * loss[1] ** 2 for loss, n in part.items()))
        at = np.linspace(-_REACH, mu + _REACH, _CELLS)
        return _cells(ndtr(at - mu), ndtr(mu - at)), _cells(ndtr(at), ndtr(-at))
    if part.total() != 1:
        return None
    ((loss, _),) = part.items()
    if kinds == {"laplace"}:
        at = np.linspace(0.0, loss[1], _CELLS)
        tails = [(np.exp(-abs(x)) / 2, x > 0) for x in (at - loss[1], at)]
        p, q = (_cells(np.where(right, 1 - tail, tail), np.where(right, tail, 1 - tail)) for tail, right in tails)
        return p, q
    if kinds != {"discrete"} or not loss[1] or len(loss[1]) > _OUTCOMES:
        return None
    values, masses = np.array(loss[1][::-1]).T
    return np.array([loss[2], *masses, 0.0]), np.array([0.0, *(masses * np.exp(-values)), loss[3]])


def _cells(under: Array, over: Array) -> Array:
    """Return the masses between places, from the last one down, each from its smaller tail."""
    inner = np.where(under[1:] < 0.5, under[1:] - under[:-1], over[:-1] - over[1:])
    return np.array([over[-1], *inner[::-1], under[0]])


def _scored(p: Array, q: Array, runs: Runs, x: float) -> Array | None:
    """Return the outputs by falling score; None where nothing shows.

    `best[i, j]` is the most that can still be gained where i of the highest and j of the lowest ratios are scored.
    """
    size = len(p)
    over = [np.append(0.0, np.cumsum(law)) for law in (p, q)]
    under = [np.append(0.0, np.cumsum(law[::-1])) for law in (p, q)]
    best, gained = np.zeros((size + 1, size + 2)), np.full((size, size + 1), -math.inf)
    for i in reversed(range(size)):
        j = np.arange(size - i)
        gains, costs = (
            runs.among(over[law][i] + under[law][j], over[law][size - j] - over[law][i], mass[i])
            for law, mass in enumerate((p, q))
        )
        gained[i, j] = gains - x * costs + best[i + 1, j]
        for_any = np.maximum.accumulate(gained[i, j][::-1])[::-1]
        best[i, j] = np.maximum(0.0, for_any)
    if best[0, 0] < _SEEN:
        return None
    order: list[int] = []
    start = 0
    for i in range(size):
        if start >= size - i or best[i, start] <= 0:
            break
        end = start + int(np.argmax(gained[i, start : size - i]))
        order += [*range(size - 1 - start, size - 1 - end, -1), i]
        start = end
    return np.array([*order, *sorted({*range(size)} - {*order})])


def _best(masses: Array, runs: Runs) -> Array:
    """Return the law of the best run over outputs by falling score."""
    return runs.among(np.append(0.0, np.cumsum(masses)[:-1]), np.cumsum(masses[::-1])[::-1], masses)
