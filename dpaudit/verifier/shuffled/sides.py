"""The losses of shuffled reports, derived again: joint laws of two counts, summed cell by cell and merged into bins.

From above each cell is split between two knots, which dominates; from below cells are merged, which forgets what tells
them apart.
"""

import json
import math
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpaudit.verifier.curve import Worst
from dpaudit.verifier.losses import Loss, Multiset, black_box, discrete, most, reversed_all
from dpaudit.verifier.polygons import fallen, listed, symmetric
from dpaudit.verifier.refusals import Array, Table, follow, require
from dpaudit.verifier.schemes import bare
from dpaudit.verifier.shuffled.few_reports import shown_beside, worst_of_few
from dpaudit.verifier.shuffled.reports import (
    Change,
    Known,
    blanket,
    change_of,
    changes,
    counted,
    every_value,
    few_enough,
    law_of,
    listed_out,
    seen,
    shown,
    sticks,
)

_BINS, _CELLS, _LEAST, _LEAST_KNOWN = 8_000, 16_000_000, 1e-6, 1e-3
_HEIGHTS, _FEWER, _BEYOND, _EVENTS, _FEW, _OTHERS = 699, 120, 24, 70, 40, 1_000
_DENSE = 0.7  # the power that spaces knots, so that a curve falls by as much between any two of them
_COUNTS = 100_000  # numbers of a law of counts
_MANY, _SOME, _MOST = 10**6, 10**5, 10**9  # users that are counted at most, with fewer knots, and by clones
_EXACT, _BLOCKS, _FEWER_BLOCKS = 300, 120, 50  # users whose every data set of two values is counted; blocks of more
_DEVIATIONS = 13  # of a binomial number; beyond lies less than 10^-36
_GONE = 1e-12  # a delta that is next to nothing
_OUTSIDE, _SEEN = 1e-36, 1e-60  # at least what lies outside of likely values; cells that are less likely are left out


def shuffled_above(node: Table, part: Multiset, relation: str) -> Loss:
    """Return the pair that dominates: of reports whose law is known by what hides each, else clones that are coins."""
    require(relation == "replace_one" and node["users"] >= 1, "a shuffle is stated for replaced data of some users")
    epsilon, failing = map(max, zip(most(part), most(reversed_all(part)), strict=True))
    require(epsilon <= 30 and not failing, "shuffled reports need a pure epsilon of at most 30")
    if epsilon < _LEAST:
        return black_box(epsilon)
    users = min(node["users"], _MOST)
    if _known(node) and epsilon >= _LEAST_KNOWN:
        return _hidden(users, epsilon, json.dumps(node["part"]))
    if epsilon < _LEAST_KNOWN or part.total() != 1 or part == Counter([black_box(epsilon)]):
        return _clones(users, epsilon, _answers(node))
    return _of_pair(users, epsilon, next(iter(part)))


@lru_cache(maxsize=16)
def _of_pair(users: int, epsilon: float, report: Loss) -> Loss:
    """Return the pair of clones that report from the mean of the pair (P, Q) that dominates one release.

    Whoever holds another value reports from (P + Q) / (2 e^epsilon) at least, after the same post-processing.
    """
    knots = np.linspace(0.0, epsilon, _HEIGHTS)
    heights = [*Worst([Counter([report])]).above(knots[:-1]).tolist(), 0.0]
    values, p, _ = symmetric(knots, heights)
    values, p = values[p > 0], p[p > 0]  # knots beyond which no mass is left
    q = p * np.exp(-values)
    knots, heights = _blanket(users, epsilon, 0, [(p, q, (p + q) / (2 * math.exp(epsilon)), np.stack([p, q]))])
    return ("between", listed(*symmetric(knots, heights)), discrete([(0.0, 1.0)]))


def _blanket(users: int, epsilon: float, answers: int, changed: list[Change]) -> tuple[Array, list[float]]:
    """Return knots, and heights by what all others report at least; of too many users no higher than of clones."""
    enough = min(users, _MANY)

    def height(at: float) -> float:
        return max(blanket(change, enough, at) for change in changed)

    near = fallen(height, epsilon, _GONE)
    inner = _FEWER if users <= _SOME else _FEWER // 2
    knots = np.unique([*near * np.linspace(0.0, 1.0, inner) ** _DENSE, *np.linspace(near, epsilon, _BEYOND)])
    heights = _below_clones(users, epsilon, answers, knots, np.array([height(float(at)) for at in knots]))
    return knots, heights.tolist()


def _below_clones(users: int, epsilon: float, answers: int, knots: Array, heights: Array) -> Array:
    """Return heights that are no higher than those of clones where users are too many, and nothing at the end."""
    if users > _MANY:
        _, above, _ = _clones(users, epsilon, answers)
        losses, masses = np.array(above[1]).T
        clones = [float(masses @ np.maximum(0.0, -np.expm1(at - losses))) for at in knots]
        heights = np.minimum(heights, np.array(clones) + _OUTSIDE)
    heights = np.minimum(1.0, heights * (1 + 1e-9) + _OUTSIDE)
    heights[-1] = 0.0
    return heights


def _clones(users: int, epsilon: float, answers: int) -> Loss:
    """Return the pair of clones of the user in question among the others, each a fair coin."""
    p = math.exp(epsilon)
    least = 1 / (p + answers - 1)
    rate, share = (2 * least, (p + 1) * least) if 2 <= answers <= p + 1 else (1 / p, 1.0)
    clones = _likely(users - 1, rate)
    heads = np.unique(np.concatenate([_likely(m, 0.5) for m in (int(clones[0]), int(clones[-1]))]))
    heads = np.arange(heads[0], heads[-1] + 2)
    follow(len(heads) * len(clones) <= _CELLS, "a shuffle of so many users cannot be derived again")
    m, a = clones[:, None], heads[None, :]
    own, other = (_binomial(j, m, 0.5) for j in (a - 1, a))
    weight = share * _binomial(clones, users - 1, rate)[:, None] / (p + 1)
    laws = weight * (p * own + other), weight * (own + p * other)
    return _merged(*laws, max(0.0, 1 - share), epsilon, unseen=2 * _OUTSIDE)


@lru_cache(maxsize=4)
def _hidden(users: int, epsilon: float, part: str) -> Loss:
    """Return the pair through knots of the curve of reports whose law is known."""
    node = {"part": json.loads(part)}
    answers, report_laws = _answers(node), _known(node)
    near = epsilon / 4 if users > _FEW else 0.0
    knots = np.unique([*np.linspace(0.0, epsilon, _HEIGHTS), *np.linspace(0.0, near, _HEIGHTS)])
    exact_heights = _every_data_set(users, epsilon, report_laws, knots, answers)
    if exact_heights is None:
        knots, heights = _blanket(users, epsilon, answers, changes(report_laws))
    else:
        heights = _below_clones(users, epsilon, answers, knots, exact_heights).tolist()
    return ("between", listed(*symmetric(knots, heights)), discrete([(0.0, 1.0)]))


def _every_data_set(users: int, epsilon: float, report_laws: list[Known], knots: Array, answers: int) -> Array | None:
    """Return the largest delta of all data sets at each knot, exactly or nearly; None where they are too many."""
    if answers > 2 and users <= _FEW:
        return worst_of_few(users, epsilon, answers, np.exp(knots))
    changed = changes(report_laws)
    if changed[0][3].shape == (2, 2) and users <= _MANY:
        return np.asarray(np.max([_in_blocks(change, users, knots) for change in changed], axis=0))
    if not all(complete for _, _, complete in report_laws):
        return None
    all_heights = [listed_out(change, users, knots) for change in changed]
    heights = [height for height in all_heights if height is not None]
    return np.asarray(np.max(heights, axis=0)) if len(heights) == len(all_heights) else None


def _in_blocks(change: Change, users: int, knots: Array) -> Array:
    """Return the largest delta where others hold one of two values and give one of two answers.

    Numbers of others who hold the first value lie between the ends of a block; those that a block leaves open are told
    apart.
    """
    blocks = users if users <= _EXACT else _BLOCKS if users <= _SOME else _FEWER_BLOCKS
    heights = np.zeros(len(knots))
    for block in range(blocks):
        least, end = (users * side // blocks for side in (block, block + 1))
        laws = _two_counted(change, [least, users - end])
        heights = np.maximum(heights, sticks(*laws, knots, 1e-10 + 1e-13 * users))
    return np.minimum(1.0, heights + _OUTSIDE)


def _two_counted(change: Change, others: list[int]) -> tuple[Array, Array]:
    """Return both laws of the first of two counts, beside others who hold one of two values."""
    sides = [(number, float(law[0])) for number, law in zip(others, change[3], strict=True)]
    ones, more_ones = (_binomial(_likely(*side), *side) for side in sides)
    counts = np.convolve(ones, more_ones)
    return np.convolve(counts, change[0][::-1]), np.convolve(counts, change[1][::-1])


def beside(node: Table) -> list[list[int]]:
    """Return the data sets of all others that a witness may name by number: how many of them hold each value.

    Of two values any number of few others hold the first one where a report has two outcomes; else, where users or
    outcomes are few, a power of two or all but so many. Laws that mirror each other need half of these. Of other
    reports all others hold one value, the same after any outcome; of many users the last one.
    """
    report_laws, others = _known(node), node["users"] - 1
    if not report_laws:
        return []
    kinds, own = len(every_value(report_laws)), len(report_laws[0][0])
    if kinds == 2 and (report_laws[0][0].shape == (2, 2) or _short(report_laws[0], others + 1)):
        values = report_laws[0][0]
        firsts = set(range(others + 1)) if others < _FEW and values.shape[1] == 2 else {0, 1, 2, 4, 8, 16}
        mirrored = sorted(values.T.tolist()) == sorted(values[::-1].T.tolist())
        firsts = {n for n in firsts if 2 * n <= others} if mirrored else firsts | {others - n for n in firsts}
        return [[first, others - first] for first in sorted(firsts) if 0 <= first <= others]
    common_values = [common for common in range(kinds - 1, -1, -1) if common < own or common >= kinds - own]
    common_values = common_values if others < _OTHERS or kinds == 2 else common_values[:1]
    return [[others * (value == common) for value in range(kinds)] for common in common_values]


def shuffled_below(node: Table, part: Multiset, entry: int, moves: Callable[[Table], bool]) -> Multiset:
    """Return what is attained beside the data set of that number by a change that moves some releases of a report."""
    report_laws, users = _known(node), node["users"]
    if not report_laws or not part:
        return Counter()
    epsilon, others = max(most(part)[0], most(reversed_all(part))[0]), beside(node)[entry]
    change = change_of(report_laws, [moves(release) for release in _asked(node["part"])])
    if (answers := _answers(node)) > 2 and users <= _FEW:
        laws = shown_beside(users, epsilon, answers, others.index(max(others)))
    elif change[3].shape == (2, 2):
        laws = _two_counted(change, others)
    elif len(report_laws) == 1 and report_laws[0][2] and _short(report_laws[0], users):
        laws = counted(change, others)
    elif users > _MANY or epsilon < _LEAST:
        return Counter()
    else:
        near = fallen(lambda at: seen(change, others, at)[1], epsilon, _GONE)
        atoms = shown(change, others, near * np.linspace(0.0, 1.0, _EVENTS) ** _DENSE)
        return Counter([("between", black_box(epsilon), discrete(atoms))])
    return Counter([_merged(*laws, 0.0, epsilon)])


def _short(report_law: Known, users: int) -> bool:
    """Return whether the counts of few users' outcomes have a short law."""
    return bool(users <= _FEW and (users + 1) ** (report_law[0].shape[1] - 1) <= _COUNTS)


def _known(node: Table) -> list[Known]:
    """Return what is known of each part of a report; nothing where a part or their number is not."""
    laws = [law_of(release["mechanism"]) for release in _asked(node["part"])]
    known_laws = [law for law in laws if law]
    return known_laws if len(known_laws) == len(laws) and few_enough(known_laws) else []


def _answers(node: Table) -> int:
    """Return how many answers a single randomised response has; 0 for other reports."""
    asked = _asked(node["part"])
    fields = asked[0]["mechanism"]
    single = len(asked) == 1 and fields["name"] == "randomised_response" and bool(_known(node))
    return int(fields.get("categories", 2)) if single else 0


def _asked(part: Table) -> list[Table]:
    """Return the releases of a report, three or more for anything but releases one after another."""
    part = bare(part, "local")
    if part["node"] == "release":
        return [part]
    if part["node"] == "repeat" and part["times"] <= 2:
        return _asked(part["part"]) * int(part["times"])
    if part["node"] == "sequential":
        return [release for inner in part["parts"] for release in _asked(inner)]
    return [{"mechanism": {"name": ""}}] * 3


def _binomial(counts: Array, trials: int | Array, rate: float) -> Array:
    """Return the probabilities of a binomial number, 0 of impossible ones; few trees shuffle: SciPy's loads slowly."""
    from scipy.stats import binom

    return np.asarray(binom.pmf(counts, trials, rate))


def _likely(trials: int, rate: float) -> Array:
    """Return the values of a binomial number outside which less than 10^-36 lies."""
    middle, reach = trials * rate, _DEVIATIONS * math.sqrt(trials * rate * (1 - rate)) + 60
    follow(reach < _CELLS / 8, "a shuffle of so many users cannot be derived again")
    return np.arange(max(0, math.floor(middle - reach)), min(trials, math.ceil(middle + reach)) + 1)


def _merged(p: Array, q: Array, nothing: float, largest: float, unseen: float = 0.0) -> Loss:
    """Return the loss of two laws on bins, from above and from below, with a mass that tells nothing.

    No loss exceeds the `largest`, that of one report, but by rounding. It is the loss from above of what is not listed:
    `unseen` under either law, and cells that are next to impossible.
    """
    seen = (p > _SEEN) & (q > _SEEN)
    unseen += max(float(law[~seen].sum()) for law in (p, q))
    values = np.log(p[seen] / q[seen])
    # Bins are narrow near 0, where amplified losses lie: even in the inverse hyperbolic sine of a deviation.
    unit = max(math.sqrt(float(p[seen] @ values**2)), 1e-12)
    places = np.arcsinh(values / unit)
    low, step = float(places.min()), max(float(np.ptp(places)), 1e-12) / _BINS
    merged = np.rint((places - low) / step).astype(int)
    p_bins, q_bins = (np.bincount(merged, law[seen]) for law in (p, q))
    full = (p_bins > 0) & (q_bins > 0)
    labels = np.log(p_bins[full] / q_bins[full]), p_bins[full] * ((1 - nothing) / p_bins[full].sum())
    where = np.minimum(np.floor((places - low) / step), _BINS - 1).astype(int)
    ends = unit * np.sinh(low + np.arange(_BINS + 1) * step)
    ends = np.append(np.minimum(ends[:-1], values.max()), values.max())
    shares = np.expm1(ends[where] - values) / np.expm1(ends[where] - ends[where + 1])
    rise = p[seen] * np.clip(shares, 0.0, 1.0)
    masses = np.append(np.bincount(where, p[seen] - rise, _BINS), 0.0) + np.append(0.0, np.bincount(where, rise, _BINS))
    both = (np.minimum(ends, largest), masses), labels
    above, below = (list(zip(values.tolist(), masses.tolist(), strict=True)) for values, masses in both)
    above += [(largest, unseen), (-largest, unseen * math.exp(-largest))]
    return ("between", *(discrete([*law, (0.0, nothing)]) for law in (above, below)))
