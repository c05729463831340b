"""The noise of a training loop beside the sums that it covers: it must not follow them, nor stay from step to step."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy.special import bdtrc, betainc, pdtrc

from dpaudit.model.mechanism import Array
from dpaudit.training.check import Check
from dpaudit.training.watching import Training, Watch

_SLOPE = 0.1
"""The standard deviation of the slopes that the bet on a slope has in mind."""

_SIZES = (0.5, 0.7, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25, 1.5, 2.0)
"""Sizes of noise over the declared one that bets on each class of coordinates have in mind, in equal shares."""

_CROWDED = 0.05
_CLOSE = 1e-8
_LINES, _MATRIX = 64, 2

_FEWEST, _COMPARED, _STEPS, _ALIKE = 8, 64, 1 << 12, 1 - 1e-6
"""Noise is one up to its size where the cosine exceeds the last: of eight numbers by chance with probability 1e-20."""

_WHERE = ("the sum is zero", "the sum is small", "the sum is large")


def noise_follows_sums(training: Training, watch: Watch, significance: float) -> Iterator[Check]:
    """Yield a check where noise follows the sums that it covers: a part of them is added, or its size goes with them.

    Rule: `DPA212`. Two bets of equal shares are made on the coordinates in their order, each with sums that were known
    before the noise was drawn: on a slope of the noise on the sum, and on another size of the noise where the sum is
    zero, small or large. A sum that is only made smaller is no fault.
    Guarantee: independent normal noise of the declared size is flagged with probability at most `significance` (Ville
    1939), whatever sums a loop computes from earlier steps.

    >>> rng = np.random.default_rng(0)
    >>> watch = Watch(records=10)
    >>> for _ in range(40):
    ...     total = rng.normal(0, 5, (20, 2))
    ...     _ = watch.step(1.2 * total + rng.normal(0, 1, (20, 2)), total, np.arange(3))
    >>> declared = Training(noise_multiplier=1, max_grad_norm=1, sample_rate=0.3, steps=40, records=10)
    >>> [check.rule for check in noise_follows_sums(declared, watch, 1e-6)]
    ['DPA212']
    """
    variance = training.stddev**2
    needed = -math.log(significance) + math.log(2)
    beside = tuple(_noise_and_sum(watch))
    product = sum(float(np.vdot(noise, sums)) for noise, sums in beside) / variance
    power = sum(float((sums**2).sum()) for _, sums in beside) / variance
    slope = product / power if power > 0 else 0.0
    if (slope > 0 or slope < -2) and _log_wealth_of_slope(product, power) >= needed:
        message = f"The noise holds {slope:.4g} times the sum that it covers: a record moves {abs(1 + slope):.4g} times"
        yield _found(slope, f"{message} as far as its clipped gradient.")
        return
    for (number, squares), where in zip(by_size_of_sum(watch), _WHERE, strict=True):
        if number and _log_wealth_of_sizes(number, squares / variance) >= needed + math.log(len(_WHERE)):
            size = math.sqrt(squares / variance / number)
            yield _found(size, f"Where {where}, the noise is {size:.4g} times the declared size.")
            return


def by_size_of_sum(watch: Watch) -> list[tuple[int, float]]:
    """Return the number of coordinates and their squared noise where the sum is zero, small or large.

    >>> watch = Watch(records=3)
    >>> _ = watch.step(np.array([[0.5], [3.0], [6.0]]), np.array([[0.0], [2.0], [4.0]]))
    >>> by_size_of_sum(watch)
    [(1, 0.25), (1, 1.0), (1, 4.0)]
    """
    totals = [[0, 0.0] for _ in _WHERE]
    for noise, sums in _noise_and_sum(watch):
        squares, sizes = noise**2, sums**2
        moved = sizes > 0
        large = sizes > (sizes.sum() / moved.sum() if moved.any() else 0.0)
        for total, chosen in zip(totals, (~moved, moved & ~large, large), strict=True):
            total[0] += int(chosen.sum())
            total[1] += float(squares[chosen].sum())
    return [(int(number), squares) for number, squares in totals]


def _noise_and_sum(watch: Watch) -> Iterator[tuple[Array, Array]]:
    """Yield the noise of each step beside the sum that it covers, over all parameters, flat."""
    for step in watch.taken:
        noise = step.noise_by_parameter()
        if noise and step.summed is not None:
            sums = [step.summed[name].ravel() for name in noise]
            yield np.concatenate([values.ravel() for values in noise.values()]), np.concatenate(sums)


def same_directions(ours: Sequence[Array], theirs: Sequence[Array]) -> Array:
    """Return which steps carry one noise, up to sign, size and single precision. Shape: (steps, steps) of both runs.

    Edge cases: no steps where their noise has fewer than eight numbers, or not equally many.

    >>> first, second = np.arange(8.0), np.ones(8)
    >>> same_directions([first, second], [-2 * first]).tolist()
    [[True], [False]]
    """
    first, second = ([noise.ravel() for noise in noises[:_STEPS]] for noises in (ours, theirs))
    if len({noise.size for noise in (*first, *second)}) != 1 or first[0].size < _FEWEST:
        return np.zeros((0, 0), dtype=bool)
    units = [np.stack([noise[:_COMPARED] for noise in noises]) for noises in (first, second)]
    ours_at, theirs_at = (table / np.maximum(np.linalg.norm(table, axis=1), 1e-300)[:, None] for table in units)
    return np.abs(ours_at @ theirs_at.T) > _ALIKE


def noise_kept(watch: Watch, significance: float) -> tuple[int, str]:
    """Return how many numbers of the noise were kept from step to step, and in which words; 0 where none were.

    Numbers of one coordinate that are equal in two steps are compared with equal numbers of different coordinates, and
    the sizes of whole steps with each other: noise that is moved or turned round keeps its size. Nothing is said of
    single places where some of the noise is zero.
    Guarantee: each look accuses noise that is drawn afresh with probability about half of `significance` at most.
    """
    noises = watch.noises()
    numbers = [noise.astype(np.float32) for noise in noises if noise.size == noises[0].size]
    repeated = _in_one_place(np.stack(numbers), significance / 2) if len(numbers) > 1 else 0
    if repeated:
        return repeated, f"{repeated} times a coordinate carries the very noise of another step: it is not fresh."
    alike = _of_one_size(noises, significance / 2)
    return alike, f"The noise of {alike} steps has the same size as that of an earlier step: it is moved and not fresh."


def noise_shared(watch: Watch, significance: float) -> str:
    """Return, in words, which two parameters, rows or columns carry the same noise, up to sign and size, or nothing.

    The numbers that two of them have in the same places are correlated over all steps; of a matrix the first 64 rows
    and columns are looked at.
    Guarantee: independent normal noise is flagged with probability at most `significance`: the correlation of so many
    numbers has a known law (Fisher 1915). Steps of different sizes alone look alike; so the correlation counts as
    well where each step is divided by its own size.

    >>> rng, watch = np.random.default_rng(0), Watch(records=1)
    >>> for _ in range(20):
    ...     noise = rng.normal(size=(3, 2))
    ...     _ = watch.step({"first": noise, "last": noise[:2]}, {"first": 0 * noise, "last": 0 * noise[:2]})
    >>> noise_shared(watch, 1e-6)
    'The parameters first and last carry the same noise: it is not drawn afresh for each.'
    """
    steps = [noise for step in watch.taken if (noise := step.noise_by_parameter())]
    sized: list[Mapping[str, Array]] = [dict(zip(step, _of_own_size([*step.values()]), strict=True)) for step in steps]
    looks = zip(_correlations(steps), _correlations(sized), strict=True)
    alike = [(says, min(share, own[1]), numbers, pairs) for (says, share, numbers, pairs), own in looks if numbers > 1]
    for says, share, numbers, pairs in alike:
        if betainc((numbers - 1) / 2, 0.5, 1 - share) < significance / (len(alike) * pairs):
            return f"{says} carry the same noise: it is not drawn afresh for each."
    return ""


def _of_own_size(noises: list[Array]) -> list[Array]:
    """Return the noise of all parameters in one step over the root mean square of all its numbers."""
    size = math.sqrt(float(np.mean(np.concatenate([noise.ravel() for noise in noises]) ** 2)))
    return [noise / (size or 1.0) for noise in noises]


def _correlations(steps: list[Mapping[str, Array]]) -> Iterator[tuple[str, float, int, int]]:
    """Yield (words, squared correlation, numbers, pairs): of two parameters, and the largest of lines of a matrix."""
    for left, right in combinations(steps[0] if steps else (), 2):
        both = [(step[left].ravel(), step[right].ravel()) for step in steps if left in step and right in step]
        ours = np.concatenate([first[: len(second)] for first, second in both])
        theirs = np.concatenate([second[: len(first)] for first, second in both])
        size = float(np.linalg.norm(ours) * np.linalg.norm(theirs))
        share = min(1.0, (float(ours @ theirs) / size) ** 2) if size else 0.0
        yield f"The parameters {left} and {right}", share, len(ours), 1
    for name, first in steps[0].items() if steps else ():
        noises = [step[name] for step in steps if name in step and step[name].shape == first.shape]
        for axis, kind in enumerate(("Rows", "Columns") if first.ndim == _MATRIX else ()):
            table = np.concatenate([np.moveaxis(noise, axis, 1)[:, :_LINES] for noise in noises])
            table = table / np.maximum(np.linalg.norm(table, axis=0), 1e-300)
            shares = np.triu((table.T @ table) ** 2, 1)
            pair = np.unravel_index(int(shares.argmax()), shares.shape)
            says = f"{kind} {pair[0] + 1} and {pair[1] + 1} of {name}"
            lines = table.shape[1]
            yield says, min(1.0, float(shares[pair])), len(table), max(1, lines * (lines - 1) // 2)


def _log_wealth_of_slope(product: float, power: float) -> float:
    """Return the log wealth of a normal mixture of bets on a slope; sums are over the variance of the noise."""
    spread = 1 + _SLOPE**2 * power
    return _SLOPE**2 * product**2 / (2 * spread) - math.log(spread) / 2


def _log_wealth_of_sizes(number: float, squares: float) -> float:
    """Return the log wealth of bets on other sizes of so many numbers, whose squares add up to `squares`."""
    bets = [-number * math.log(size) + squares / 2 * (1 - size**-2) for size in _SIZES]
    return float(np.logaddexp.reduce(bets)) - math.log(len(_SIZES))


def _in_one_place(noises: Array, level: float) -> int:
    """Return how many pairs of steps agree in a coordinate, if they are too many.

    Shape: (steps, coordinates). Given how many pairs of numbers are equal at all, each is as likely to be any pair.
    """
    steps, width = noises.shape
    if width < 2 or not noises.all():
        return 0
    everywhere, aligned = _equal_pairs(noises.reshape(-1, 1)), _equal_pairs(noises)
    share = (steps - 1) / (steps * width - 1)
    crowded = (everywhere - aligned) * share > _CROWDED * width
    return 0 if crowded or not aligned or bdtrc(aligned - 1, everywhere, share) >= level else int(aligned)


def _equal_pairs(columns: Array) -> int:
    """Return the number of pairs of equal numbers in a column, over all columns."""
    ordered = np.sort(columns, axis=0)
    fresh = np.ones(ordered.shape, dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    lengths = np.diff(np.append(np.flatnonzero(fresh.T.ravel()), ordered.size)).astype(np.int64)
    return int((lengths * (lengths - 1) // 2).sum())


def _of_one_size(noises: list[Array], level: float) -> int:
    """Return how many steps have the sum of squares of another one, up to single precision, if that is no chance."""
    width = noises[0].size if noises else 0
    totals = [float((noise**2).sum()) for noise in noises if noise.size == width]
    squares = np.sort([total for total in totals if total > 0])
    if width < 2 or len(squares) < 2:
        return 0
    equal = int((np.diff(squares) <= _CLOSE * squares[:-1]).sum())
    pairs = len(squares) * (len(squares) - 1) / 2
    expected = pairs * 2 * _CLOSE * math.sqrt(width / (8 * math.pi))
    return equal if equal and pdtrc(equal - 1, expected) < level else 0


def _found(observed: float, message: str) -> Check:
    """Return the check of noise that follows the sums."""
    return Check(
        name="noise beside the sums",
        observed=observed,
        declared=0.0,
        rule="DPA212",
        message=message,
    )
