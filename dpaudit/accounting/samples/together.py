"""Several releases inside one Poisson sample whose record is replaced, composed before the sample is drawn."""

import math
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from dpaudit.model.declaration import Billboard, Declaration, PostProcess, Release, Repeat, Sequential, Subsample
from dpaudit.model.losses import (
    Composition,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    StitchedLoss,
    ThreeLaws,
    composed_laws,
    noise_laws,
    sampled_apart,
)
from dpaudit.model.mechanism import Mechanism, attained_loss, is_opposed, rests_on_plug_ins

_OUTPUTS, _FEWEST, _MOST = 1_000_000, 80, 4096  # outputs together, and cells of one continuous noise
_FINE = 4  # cells for each unit of a shift, so that sums over places in a cell are integrals
_SPAN = 13.0  # deviations that the cells of Gaussian noise reach
_LARGEST = 20.0  # the largest shift that is cut into cells
_OUT = 2.0**-48  # relative, by which the joint shift of Gaussian losses is rounded outwards
Labels = tuple[str, ...] | None


def together_above(node: Subsample) -> Composition | None:
    """Return what dominates all releases of a sample whose record is replaced; None where that is not known.

    Known are noises whose half lines attain both trade-offs of a record, against no record and against its opposite:
    Gaussian, Laplace, integer noise, and tables of two laws. Queries may depend on what the sample has released before.
    Source: Balle, Barthe and Gaboardi (2018), Theorem 1; Neyman and Pearson (1933).
    """
    loss = _loss(node, None, above=True)
    if loss is None:
        return None
    return Composition.of(loss if loss.symmetric else StitchedLoss(positive=loss, negative=loss.reversed()))


def together_attained(node: Subsample, labels: Labels) -> Composition | None:
    """Return what two opposite records attain that move all releases of `labels`; None where that is not known.

    All releases are moved where `labels` is empty or None.
    """
    loss = _loss(node, labels, above=False)
    return None if loss is None else Composition.of(loss)


def _loss(node: Subsample, labels: Labels, *, above: bool) -> DiscreteLoss | None:
    """Return the loss of all releases together on a sample, rounded to one side."""
    all_releases = list(_releases(node.part, 1))
    if any(release is None for release, _ in all_releases):
        return None
    moved = Counter[Mechanism]()
    for release, times in all_releases:
        if release is not None and (not labels or release.label in labels):
            moved[release.mechanism] += times
    return _composed(tuple(moved.items()), node.rate, above=above) if moved.total() > 1 else None


def _releases(node: Declaration, times: int) -> Iterator[tuple[Release | None, int]]:
    """Yield each release of a part and how often it is met, or None for anything else than releases in sequence."""
    match node:
        case Release():
            yield node, times
        case Sequential(parts=parts):
            for part in parts:
                yield from _releases(part, times)
        case Repeat(part=part, times=more):
            yield from _releases(part, times * more)
        case PostProcess(part=part) | Billboard(part=part):
            yield from _releases(part, times)
        case _:
            yield None, times


@lru_cache(maxsize=32)
def _composed(moved: tuple[tuple[Mechanism, int], ...], rate: float, *, above: bool) -> DiscreteLoss | None:
    """Return the loss of all mechanisms, each so many times, on a sample; None where one is not known, or too large."""
    listed: list[tuple[ThreeLaws, int]] = []
    shifts: Counter[GaussianLoss | LaplaceLoss] = Counter()
    for mechanism, times in moved:
        if rests_on_plug_ins(mechanism):
            return None
        if is_opposed(mechanism):
            listed.append((mechanism.three_laws(above=above), times))
            continue
        upper = Composition.of(mechanism.loss())
        if upper != Composition.of(attained_loss(mechanism)):
            return None
        for loss, copies in upper.parts:
            if not isinstance(loss, GaussianLoss | LaplaceLoss):
                return None
            shifts[loss] += times * copies
    noises = _joint(shifts, above=above)
    finite = composed_laws(listed) if listed else None
    if listed and finite is None:
        return None
    cells = _cells(noises, 1 if finite is None else len(finite.masses))
    if any(_size(loss) > _LARGEST for loss in noises):
        return None
    cut = [(noise_laws(loss, cells[loss], above=above), times) for loss, times in noises.items()]
    total = composed_laws([*cut, *([] if finite is None else [(finite, 1)])])
    return None if total is None else sampled_apart(total, rate, above=above)


def _joint(shifts: "Counter[GaussianLoss | LaplaceLoss]", *, above: bool) -> "Counter[GaussianLoss | LaplaceLoss]":
    """Return shifts with all Gaussian ones as one."""
    square = math.fsum(n * loss.mu * loss.mu for loss, n in shifts.items() if isinstance(loss, GaussianLoss))
    joined: Counter[GaussianLoss | LaplaceLoss] = Counter()
    for loss, n in shifts.items():
        if isinstance(loss, LaplaceLoss):
            joined[loss] += n
    if square:
        joined[GaussianLoss(mu=math.sqrt(square) * (1 + _OUT if above else 1 - _OUT))] = 1
    return joined


def _cells(noises: "Counter[GaussianLoss | LaplaceLoss]", outputs: int) -> "dict[GaussianLoss | LaplaceLoss, int]":
    """Return how many cells each continuous noise may have so that all outputs together can be listed, equally wide."""
    spans = {loss: 2 * _size(loss) * (_SPAN if isinstance(loss, GaussianLoss) else 1.0) for loss in noises}
    room = math.log(_OUTPUTS / outputs) - math.fsum(n * math.log(3 * spans[loss]) for loss, n in noises.items())
    width = math.exp(-room / max(1, noises.total()))
    fewest = {
        loss: int(_FINE * _size(loss)) + (_FEWEST if isinstance(loss, GaussianLoss) else _FEWEST // 10)
        for loss in noises
    }
    return {loss: min(_MOST, int(span / width) + fewest[loss]) for loss, span in spans.items()}


def _size(loss: GaussianLoss | LaplaceLoss) -> float:
    """Return the shift of a noise."""
    return loss.mu if isinstance(loss, GaussianLoss) else loss.shift
