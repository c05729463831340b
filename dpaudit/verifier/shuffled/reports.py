"""Shuffled reports of a known law, derived again: what hides one of them at least, and what is shown beside some.

A change of a user's value is (first law, second law, least law, laws of all values), each over classes of outcomes. The
blanket and the events are those of `dpaudit.accounting.reports`; here sums are tilted and transformed by other code, on
finer grids.
"""

import math
from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from dpaudit.verifier.mechanisms import rows_of_table
from dpaudit.verifier.polygons import hull
from dpaudit.verifier.refusals import Array, Table

Known = tuple[Array, Array, bool]
"""The laws of the values, a row each; the least probability of each class; whether there are no other values."""
Change = tuple[Array, Array, Array, Array]
Group = tuple[Array, int]
_OUTCOMES, _VALUES, _LISTED = 10_000, 16, 10_000_000
_POINTS = ((1_000, 24), (100_000, 12), (math.inf, 5))  # users, and points of the grid in a step's deviation
_SHARPER, _LONGEST = 2, 800  # times as many points below; the most points of one step
_REACH, _MORE, _OUTSIDE = 13, 60, 1e-36  # deviations and steps beyond the mean; what is left out on both sides
_NOISE, _UP = 2e-15, 1e-14  # of a transform for each bit and number; relative, of steps and sums for each user


def law_of(fields: Table) -> Known | None:
    """Return what is known of one report by a mechanism's fields; None for a mechanism of another kind."""
    if "stated" in fields:
        return None
    match fields["name"]:
        case "finite":
            return _table(fields)
        case "randomised_response":
            return _response(float(fields["epsilon"]), int(fields.get("categories", 2)))
        case "unary_encoding":
            return _bits(float(fields["epsilon"]), int(fields["categories"]), fields.get("encoding", "symmetric"))
        case "subset_selection":
            return _sets(float(fields["epsilon"]), int(fields["categories"]), int(fields["subset_size"]))
    return None


def _table(fields: Table) -> Known:
    """Two laws of which nothing is open."""
    values = np.array([[float(p) for p in law] for law in zip(*rows_of_table(fields), strict=True)])
    return values, values.min(axis=0), True


def _response(epsilon: float, categories: int) -> Known:
    """The truth, or one of the others: three categories, and all further ones together."""
    lie, named = 1 / (math.exp(epsilon) + categories - 1), min(categories, 3)
    least = np.array([lie] * named + [(categories - named) * lie] * (categories > named))
    values = np.tile(least, (named, 1))
    values[np.arange(named), np.arange(named)] = math.exp(epsilon) * lie
    return values, least, categories <= 3


def _bits(epsilon: float, categories: int, encoding: str) -> Known:
    """Each bit by itself: those of three categories, and whether all others are set."""
    named, half = min(categories, 3), math.exp(-epsilon / 2)
    stayed, raised = (1 / (1 + half), half / (1 + half)) if encoding == "symmetric" else (0.5, half**2 / (1 + half**2))
    gains = np.array([(1 - stayed) / (1 - raised), stayed / raised])
    columns = []
    for row in product((0, 1), repeat=named):
        base = math.prod(raised if bit else 1 - raised for bit in row)
        for chance, others in ((1 - raised ** (categories - named), 0), (raised ** (categories - named), 1)):
            if chance:
                all_bits = [*row, others] if categories > named else [*row]
                columns.append([base * chance * gains[bit] for bit in (*row, min(all_bits))])
    table = np.array(columns).T
    return table[:-1], table[-1], categories <= 3


def _sets(epsilon: float, categories: int, size: int) -> Known:
    """Sets of one size, by which of three categories they hold."""
    named = min(categories, 3)
    ways = [math.comb(categories - named, size - n) if size >= n else 0 for n in range(named + 1)]
    with_own, all_sets = math.comb(categories - 1, size - 1), math.comb(categories, size)
    gain = math.exp(epsilon)
    unit = 1 / (gain * (with_own / all_sets) + 1 - with_own / all_sets)
    rows = [row for row in product((0, 1), repeat=named) if ways[sum(row)]]
    least = np.array([unit * (ways[sum(row)] / all_sets) for row in rows])
    return (
        np.array([[gain if row[own] else 1.0 for row in rows] for own in range(named)]) * least,
        least,
        categories <= 3,
    )


def every_value(parts: list[Known]) -> list[Array]:
    """Return the law of a report for every value: of two parts the second may answer another question by the first.

    The first value and the last one differ in each part. Two parts may have few values alone.
    """
    if len(parts) == 1:
        return list(parts[0][0])
    (first, outcomes, _), (second, *_) = parts
    choices: list[list[int]] = [[]]
    for _ in outcomes:
        choices = [[*choice, answer] for choice in choices for answer in range(len(second))]
    return [
        np.concatenate([p * second[answer] for p, answer in zip(law, choice, strict=True)])
        for choice in choices
        for law in first
    ]


def few_enough(parts: list[Known]) -> bool:
    """Return whether the outcomes of a report are few, and the values of one of two parts."""
    if not 1 <= len(parts) <= 2 or math.prod(len(least) for _, least, _ in parts) > _OUTCOMES:
        return False
    return len(parts) == 1 or len(parts[0][0]) * len(parts[1][0]) ** len(parts[0][1]) <= _VALUES


def changes(parts: list[Known]) -> list[Change]:
    """Return every way in which the value of a report may change, alike ones once."""
    numbers = range(len(every_value(parts)))
    moves = [(0, 1), (1, 0)] if len(parts) == 1 else [(a, b) for a in numbers for b in numbers if a != b]
    distinct_changes: dict[tuple[tuple[float, ...], ...], Change] = {}
    for a, b in moves:
        change = _change(parts, a, b)
        alike = tuple(sorted(map(tuple, np.round(np.array(change[:3]).T, 10).tolist())))
        distinct_changes.setdefault(alike, change)
    return list(distinct_changes.values())


def change_of(parts: list[Known], moved: list[bool]) -> Change:
    """Return the way in which the first value of a report changes in those parts that are moved, and in no other.

    Of two parts values stand by the answer to the second question, then by that to the first one.
    """
    if len(parts) == 1:
        return _change(parts, 0, 1)
    of_first, all_values = len(parts[0][0]), len(every_value(parts))
    return _change(parts, 0, (of_first - 1 if moved[0] else 0) + (all_values - of_first if moved[1] else 0))


def _change(parts: list[Known], before: int, after: int) -> Change:
    """Return one change of a value over classes of outcomes that are told apart by nothing."""
    values, least = every_value(parts), _joint([part[1] for part in parts])
    rows = np.array([values[before], values[after], least, *values])
    kinds: dict[tuple[int, ...], Array] = {}
    for column in rows[:, least > 0].T:
        kind = tuple(np.rint(np.log(column / column[2]) * 1e9).astype(int).tolist())
        kinds[kind] = kinds.get(kind, 0.0) + column
    rows = np.array(list(kinds.values())).T
    return rows[0], rows[1], rows[2], rows[3:]


def _joint(laws: list[Array]) -> Array:
    """Return the law of independent outcomes."""
    law = np.ones(1)
    for part in laws:
        law = np.outer(law, part).ravel()
    return law


def blanket(change: Change, users: int, at: float) -> float:
    """Return what a change shows at most at epsilon `at`, from what all others report at least."""
    first, second, least, _ = change
    values = np.append((first - math.exp(at) * second) / least, 0.0)
    chances = np.append(least, max(0.0, 1 - float(least.sum())))
    unit = _unit(values, chances / chances.sum(), users, 1)
    cells = np.floor(values / unit)
    share = values / unit - cells
    steps = np.concatenate([cells, cells + 1]).astype(int)
    sums, _, most = _sums(steps, [(np.concatenate([chances * (1 - share), chances * share]), users)], 0)
    gains = unit * float((np.maximum(sums, 0) * most).sum()) / users
    return min(1.0, gains * (1 + _UP * (users + 10_000)) + _OUTSIDE * float(values.max()))


def seen(change: Change, others: list[int], at: float) -> tuple[float, float]:
    """Return how likely an event is at most under the second law, and at least under the first one."""
    first, second, _, values = change
    n = sum(others)
    law = np.array(others) @ values / n if n else (first + second) / 2
    steps = (first - math.exp(at) * second) / law
    unit = _unit(steps, law, n, _SHARPER)
    scores = np.rint(steps / unit).astype(int)
    bound = round(n * float(law @ (scores - steps / unit)))
    groups = [(values[i], count) for i, count in enumerate(others) if count]
    sums, low, high = _sums(scores, groups, bound)
    places = np.searchsorted(sums, bound - scores, side="right")
    over = [np.append(np.cumsum(side[::-1])[::-1], 0.0)[places] for side in (low, high)]
    over[1] = np.where(bound - scores < sums[0], 1.0, np.minimum(1.0, over[1] + _OUTSIDE))
    margin = _UP * (n + 10_000)
    return min(1.0, float(second @ over[1]) * (1 + margin)), float(first @ np.minimum(1.0, over[0])) * (1 - margin)


def shown(change: Change, others: list[int], knots: Array) -> list[tuple[float, float]]:
    """Return losses and masses of a pair below what the counts show beside others, by events for each knot.

    The events of the first law over the second are corners of a trade-off curve from its beginning; those of the second
    over the first, from its end.
    """
    back = (change[1], change[0], *change[2:])
    mean = np.array(others) @ change[3]
    rows = [sorted(np.round(np.array([*way[:2], mean]).T, 10).tolist()) for way in (change, back)]
    ways = (change,) if rows[0] == rows[1] else (change, back)
    curves = [_steep(sorted(seen(way, others, float(e)) for e in knots)) for way in ways]
    begins, ends = curves[0], [*curves[-1]]
    while True:
        rising = [(b[1] - a[1], b[0] - a[0]) for a, b in pairwise(begins)]
        falling = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(ends)]
        p, q = 1 - begins[-1][1] - ends[-1][0], 1 - begins[-1][0] - ends[-1][1]
        early = min(p, q) > 0 and rising and p * rising[-1][1] > rising[-1][0] * q
        late = min(p, q) > 0 and falling and p * falling[-1][1] < falling[-1][0] * q
        if min(p, q) > 0 and not early and not late:
            return [(math.log(a / b), a) for a, b in [*rising, (p, q), *falling]]
        shorter = begins if early or (not late and len(begins) >= len(ends)) else ends
        shorter.pop()


def _steep(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of the least concave curve from the origin over points, while it gains more than it pays."""
    points = [(0.0, 0.0), *points]
    corners = [points[i] for i in hull([(q, -p) for q, p in points])]
    steep = [True, *(b[1] - a[1] > b[0] - a[0] for a, b in pairwise(corners))]
    return [corner for corner, is_steep in zip(corners, steep, strict=True) if is_steep]


def _unit(steps: Array, law: Array, users: int, times: int) -> float:
    """Return the distance of the points of a grid."""
    variance = float(law @ steps**2) - float(law @ steps) ** 2
    points = next(points for most, points in _POINTS if users <= most) * times
    return max(math.sqrt(max(0.0, variance)) / points, float(np.ptp(steps)) / _LONGEST, 1e-300)


def _sums(steps: Array, groups: list[Group], bound: int) -> tuple[Array, Array, Array]:
    """Return sums of independent steps with a lower and an upper bound on the probability of each, sharp at `bound`."""
    if not groups:
        return np.zeros(1, int), np.ones(1), np.ones(1)
    number, ends = sum(n for _, n in groups), [sum(n * int(steps[p > 0].min()) for p, n in groups)]
    ends.append(sum(n * int(steps[p > 0].max()) for p, n in groups))

    def moments(tilt: float) -> tuple[float, float, float, list[Array]]:
        mean, variance, scale, laws = 0.0, 0.0, 0.0, []
        for p, n in groups:
            top = tilt * int(steps[p > 0].max())
            law = p * np.exp(np.minimum(0.0, tilt * steps - top))
            scale += n * (math.log(law.sum()) + top)
            laws.append(law / law.sum())
            mean += n * float(laws[-1] @ steps)
            variance += n * max(0.0, float(laws[-1] @ steps**2) - float(laws[-1] @ steps) ** 2)
        return mean, variance, scale, laws

    tilt, (mean, variance, scale, laws) = 0.0, moments(0.0)
    low, high = 0.0, math.inf
    while ends[1] > bound and mean < bound if tilt == 0 else abs(mean - bound) > math.sqrt(variance) / 4:
        low, high = (tilt, high) if mean < bound else (low, tilt)
        tilt = (low + high) / 2 if high < math.inf else max(2 * low, (bound - mean) / (variance + 1))
        mean, variance, scale, laws = moments(tilt)
        if low >= high * (1 - 1e-12):
            break
    reach = _REACH * math.sqrt(variance) + _MORE * float(np.ptp(steps)) + 1
    sums = np.arange(max(ends[0], math.floor(mean - reach)), min(ends[1], math.ceil(mean + reach)) + 1)
    size = next_fast_len(len(sums), real=True)
    waves = [rfft(np.bincount(steps % size, law, size)) for law in laws]
    powers = [_to_the(wave, n) for wave, (_, n) in zip(waves, groups, strict=True)]
    total = math.prod(powers[1:], start=powers[0])
    law = irfft(total, size)[sums % size]
    heights = np.abs(total)
    without = heights / np.maximum(1e-300, np.min(np.abs(waves), axis=0))
    spread = number * float(without.mean()) + math.sqrt(float((heights**2).mean()))
    noise = _NOISE * math.log2(size + 1) * spread
    factor = np.exp(np.minimum(700.0, scale - tilt * sums))
    return sums, np.maximum(0.0, law - noise) * factor, (np.maximum(0.0, law) + noise) * factor


def _to_the(wave: Array, number: int) -> Array:
    """Return a whole power, from the powers of a half."""
    if number == 1:
        return wave
    half = _to_the(wave, number // 2)
    return half * half * wave if number % 2 else half * half


def listed_out(change: Change, users: int, knots: Array) -> Array | None:
    """Return delta at each knot for the worst data set of all that hold the known values; None where they are many."""
    first, second, _, values = change
    kinds = len(first)
    if math.comb(users - 2 + len(values), len(values) - 1) * (users + 1) ** (kinds - 1) > _LISTED:
        return None
    heights = np.zeros(len(knots))
    for law in _counts(values, users - 1):
        heights = np.maximum(heights, sticks(_and(law, first).ravel(), _and(law, second).ravel(), knots, 1e-10))
    return np.minimum(1.0, heights + _OUTSIDE)


def counted(change: Change, others: list[int]) -> tuple[Array, Array]:
    """Return the laws of the counts of all outcomes beside others, so many of which hold each value."""
    law = np.ones((1,) * (len(change[0]) - 1))
    for value, number in zip(change[3], others, strict=True):
        for _ in range(number):
            law = _and(law, value)
    return _and(law, change[0]).ravel(), _and(law, change[1]).ravel()


def sticks(p: Array, q: Array, knots: Array, error: float) -> Array:
    """Return delta of two laws at increasing knots, with a relative error of their sums."""
    p, q = p[p > 0], q[p > 0]
    places = np.searchsorted(knots, np.log(p / q))
    over = [np.bincount(places, side, len(knots) + 1)[::-1].cumsum()[-2::-1] for side in (p, q)]
    return np.asarray(over[0] * (1 + error) - np.exp(knots) * over[1] * (1 - error))


def _counts(values: Array, others: int) -> Iterator[Array]:
    """Return the law of the counts of all classes but the last beside each data set."""
    rows = [(np.ones((1,) * (values.shape[1] - 1)), others)]
    for value in values[:-1]:
        rows = [(longer, left - n) for law, left in rows for n, longer in enumerate(_more(law, value, left))]
    for law, left in rows:
        yield list(_more(law, values[-1], left))[-1]


def _more(law: Array, report: Array, most: int) -> Iterator[Array]:
    """Return the law of counts with no report more, with one, with two and so on."""
    yield law
    for _ in range(most):
        law = _and(law, report)
        yield law


def _and(law: Array, report: Array) -> Array:
    """Return the law of counts with one report more."""
    longer = np.zeros([size + 1 for size in law.shape])
    for outcome, chance in enumerate(report):
        longer[tuple(slice(outcome == axis, size + (outcome == axis)) for axis, size in enumerate(law.shape))] += (
            chance * law
        )
    return longer
