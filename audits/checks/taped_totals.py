"""The noise of many people's messages that was drawn as one sum: is it as much as all of them add?"""

import math
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from dpaudit import Mechanism
from dpaudit.model.mechanism import Array, is_additive
from dpaudit.model.tape import RunTape, TapedRelease, TapedTotal
from dpaudit.model.trace import Finding

_CROWD = 1_000
"""From so many people on a sum of their noises is taken as normal; a sum of Gaussian noises always is."""

_DRAWS = 400_000
_DEVIATIONS = 5.62
"""A standard normal number lies so far below 0 with probability 1e-8."""

_SAMPLED = 0.015
"""How far the sampled variance of one message may lie off: four standard deviations for Laplace noise."""

_ROUNDING, _FEWEST, _FEWEST_ON_LATTICE, _LATTICE = 1e-6, 4, 64, 2.0**20
"""Up to this relative difference numbers are equal; so few of them are compared at least, and more where they lie on a
lattice: there the others' noises may cancel in one place up to about half the time."""

Variances = dict[tuple[Mechanism, tuple[int, ...]], Array]


def too_calm(tape: RunTape) -> Iterator[Finding]:
    """Yield a finding (DPA229) for each label whose sums carry less noise than the messages of all people in them.

    The mean square of the sums' noise is compared with the number of people times the variance of one message, which is
    sampled from the mechanism; at last all labels together. False alarm: 1e-8 a label. Noise whose variance is too
    small by a tenth is found from some ten thousand numbers on. Where one message's noise times a number stands for the
    sum, the number is compared as it is.
    """
    yield from _too_small_multiples(tape)
    crowds: dict[str, list[Array]] = defaultdict(list)
    sites: dict[str, str] = {}
    variances: Variances = {}
    for total in tape.totals:
        normal = total.users >= _CROWD or total.mechanism.name == "gaussian"
        if normal and is_additive(total.mechanism) and total.noise.ndim > 1:
            crowds[total.label].append(_squares(total, variances))
            sites.setdefault(total.label, total.site)
    squares = {label: np.concatenate(parts) for label, parts in crowds.items()}
    accused = [(label, share) for label, parts in squares.items() if (share := _too_small(parts))]
    if not accused and len(squares) > 1 and (share := _too_small(np.concatenate(list(squares.values())))):
        accused = [(next(iter(squares)), share)]
    for label, share in accused:
        message = (
            f"The sums over all people ('{label}') carry {share:.3g} times the variance of the noise that all of them "
            f"add ({sites[label]})."
        )
        yield Finding(rule="DPA229", where=label, message=message)


def _too_small_multiples(tape: RunTape) -> Iterator[Finding]:
    """Yield a finding (DPA229) for each label where a sum is too small a multiple of one message's noise."""
    accused: set[str] = set()
    messages = _messages(tape)
    for total in tape.totals:
        multiple = _multiple(total.noise.ravel(), messages.get((total.label, total.noise.shape)))
        if 0 < multiple**2 < total.users * (1 - _ROUNDING) and total.label not in accused:
            accused.add(total.label)
            share = multiple**2 / total.users
            message = (
                f"The sum over {total.users} people ('{total.label}') carries one message's noise {multiple:.6g} "
                f"times, which has {share:.3g} times the variance of what all of them add ({total.site})."
            )
            yield Finding(rule="DPA229", where=total.label, message=message)


def multiples(tape: RunTape) -> dict[int, float]:
    """Return, by their places on the tape, the releases whose noise times a number stands for a sum's, with the number.

    Such a release holds the exact sum over that number, so that one message moves it by as much less.
    """
    sums: dict[tuple[str, tuple[int, ...]], list[Array]] = defaultdict(list)
    for total in tape.totals:
        sums[total.label, total.noise.shape].append(total.noise.ravel())
    stacked = {key: np.stack(noises) for key, noises in sums.items()}
    found: dict[int, float] = {}
    for place, release in enumerate(tape.released if stacked else ()):
        noises = [stacked[key] for label in set(release.labels) if (key := (label, release.output.shape)) in stacked]
        row = _row_of(release) if noises else None
        if row is not None and (multiple := max(_multiple(each, row) for each in noises)):
            found[place] = multiple
    return found


def _messages(tape: RunTape) -> dict[tuple[str, tuple[int, ...]], Array]:
    """Return the noises of messages by label and shape, one message a row, where they can be told from each other."""
    wanted = {(total.label, total.noise.shape) for total in tape.totals if total.noise.size >= _FEWEST}
    by_sum: dict[tuple[str, tuple[int, ...]], list[Array]] = defaultdict(list)
    for release in tape.released:
        sums = {(label, release.output.shape) for label in release.labels} & wanted
        row = _row_of(release) if sums else None
        if row is not None:
            for key in sums:
                by_sum[key].append(row)
    return {key: np.concatenate(rows) for key, rows in by_sum.items()}


def _row_of(release: TapedRelease) -> Array | None:
    """Return the noise of a release as a row, where it can be told from that of others. Shape: (1, numbers)."""
    single = (release.output - release.value).ravel()
    if single.size < _FEWEST or not single.all() or (single.size < _FEWEST_ON_LATTICE and _on_lattice(single)):
        return None
    return single[None]


def _multiple(noise: Array, messages: Array | None) -> float:
    """Return the size of the number that turns the noise of the first such message into a sum's; 0 where none does.

    Shape: one of both has one row, and the other one or several.
    """
    if messages is None:
        return 0.0
    ratios = noise / messages
    sizes = np.median(ratios, axis=1)
    equal = np.isclose(ratios, sizes[:, None], rtol=_ROUNDING, atol=0.0).all(axis=1) & (sizes != 0)
    return float(abs(sizes[np.argmax(equal)])) if equal.any() else 0.0


def _on_lattice(noise: Array) -> bool:
    """Return whether noises are multiples of 2^-20, whole numbers among them, or equal in size to others."""
    sizes = np.abs(noise).astype(np.float64).ravel()
    return len(np.unique(sizes)) < sizes.size or bool((sizes * _LATTICE == np.round(sizes * _LATTICE)).all())


def _too_small(squares: Array) -> float:
    """Return the mean of squares that should be 1 on average, or 0 where it is not too small."""
    share = float(squares.mean())
    return share if share < 1 - _SAMPLED - _DEVIATIONS * math.sqrt(2 / squares.size) else 0.0


def _squares(total: TapedTotal, variances: Variances) -> Array:
    """Return the squared noise of independent entries, over what is expected of each."""
    axes = max(1, int(getattr(total.mechanism, "item_axes", 0)))
    item = total.noise.shape[total.noise.ndim - axes :]
    if (total.mechanism, item) not in variances:
        rows = max(1, _DRAWS // max(1, math.prod(item)))
        draws = total.mechanism.release(np.zeros((rows, *item)), np.random.Generator(np.random.PCG64(0)))
        variances[total.mechanism, item] = _variances(np.asarray(draws))
    scaled = total.noise.reshape(-1, *item) ** 2 / (total.users * variances[total.mechanism, item])
    if len(item) == 2:  # of a symmetric matrix the upper triangle is drawn
        upper = np.triu_indices(item[0], m=item[1])
        scaled = scaled[:, upper[0], upper[1]]
    return scaled.ravel()


def _variances(draws: Array) -> Array:
    """Return the variance of each entry; entries of equal law, all of a vector or the diagonal and the rest, pooled."""
    squares: Array = np.asarray(draws.var(axis=0))
    if squares.ndim < 2:
        return np.full(squares.shape, squares.mean())
    if squares.shape[0] != squares.shape[1]:
        return squares
    diagonal = np.arange(len(squares))[:, None] == np.arange(len(squares))[None, :]
    off_diagonal = squares[~diagonal].mean() if len(squares) > 1 else 0.0
    return np.where(diagonal, squares[diagonal].mean(), off_diagonal)
