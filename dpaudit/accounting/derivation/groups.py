"""Several records of one person that change together: one after another, and on a sample."""

import math
from fractions import Fraction

from dpaudit.accounting.dominance import worst
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.accounting.samples.black_box import black_box
from dpaudit.checks import meant
from dpaudit.engines.gaussian import all_gaussian, total_mu
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Subsample
from dpaudit.model.losses import (
    LOST,
    ApproximateLoss,
    ChoiceLoss,
    ComposedLoss,
    Composition,
    ConcentratedLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    MixtureLoss,
    SampledGaussianLoss,
    SimpleLoss,
    binomial_shifts,
    group_delta,
)

_MOST = 400  # records of a person in a set of fixed size, whose probabilities are exact
_LEAST = math.nextafter(0.0, 1.0)  # what a probability that is too small for a float counts as, from above


def chain(composition: Composition, records: int) -> Composition:
    """Return a composition that dominates `records` that change one after another in each of its releases (lemma C).

    Exact for a shift of Gaussian or Laplace noise; of a law of finitely many losses the largest counts.
    Raises: UnsupportedError: the loss of a sample or of secret steps, which does not say how many records it holds.

    >>> chain(Composition.of(LaplaceLoss(shift=1.0)), 3)
    Composition(parts=((LaplaceLoss(shift=3.0), 1),))
    """
    if records == 1:
        return composition
    return Composition.total(Composition.of(_longer(loss, records)) * times for loss, times in composition.parts)


def _longer(loss: SimpleLoss, records: int) -> Loss:
    """Return a loss that dominates `records` changed one after another; each may meet another option of a choice.

    Shifts of a choice compose, each being a release of a part of its own. Other options count as one black box:
    e^epsilon of one multiplies the delta of another.
    Source: Vadhan (2017), Lemma 2.2, for black boxes; Dong, Roth and Su (2022), on group privacy, for shifts; Bun and
    Steinke (2016), Proposition 1.9, for rho.
    """
    match loss:
        case GaussianLoss():
            return GaussianLoss.exactly(loss.exact * records)
        case LaplaceLoss():
            return LaplaceLoss.exactly(loss.exact * records)
        case ConcentratedLoss():
            return ConcentratedLoss.exactly(loss.exact * records**2)
        case ApproximateLoss(epsilon=epsilon, delta=delta):
            grown = group_delta(epsilon, delta, records)
            return ApproximateLoss(epsilon=float(records * meant(epsilon)), delta=min(grown, math.nextafter(1, 0)))
        case DiscreteLoss():
            orders = loss, loss.reversed()
            lost = max(order.infinite_mass for order in orders)
            if lost == 1:
                return LOST
            epsilon = max(0.0, *(order.supremum for order in orders))
            return _longer(ApproximateLoss(epsilon=epsilon, delta=min(lost, math.nextafter(1, 0))), records)
        case ChoiceLoss(options=options) if all(isinstance(option, GaussianLoss | LaplaceLoss) for option in options):
            return ComposedLoss(
                parts=tuple(
                    (longer, 1)
                    for option in options
                    if not isinstance(longer := _longer(option, records), ComposedLoss)
                )
            )
        case ChoiceLoss() if box := black_box(Composition.of(loss)):
            return _longer(box, records)
        case _:
            raise UnsupportedError(
                f"'group' of size {records} over a loss that holds a sample or secret steps of its own is not covered: "
                "nothing says how many of a person's records it draws. Sample persons, not records, and put the group "
                "inside."
            )


def chained(alternatives: Alternatives, records: int) -> Alternatives:
    """Return upper alternatives for `records` of one person that change one after another.

    Every data set between is one of the declaration, and each step may meet another alternative. Where there is one, or
    all are Gaussian, putting all records into one is worst. For losses with a largest one the group property of a black
    box is used, of which every alternative is an instance.
    Raises: UnsupportedError: anything else.
    """
    if records == 1:
        return alternatives
    if len(alternatives) == 1 or all(map(all_gaussian, alternatives)):
        return worst(tuple(chain(a, records) for a in alternatives))
    boxes = [box for a in alternatives if (box := black_box(a)) is not None]
    if len(boxes) < len(alternatives):
        raise UnsupportedError(
            f"'group' of {records} records is not covered over parts of several kinds where one has no largest loss: "
            "one person's records may spread over the parts. Put the group inside each part, or use one kind of noise."
        )
    delta = max(box.infinite_mass for box in boxes)
    if delta == 1:
        return (Composition.of(LOST),)
    box = ApproximateLoss(epsilon=max(box.supremum for box in boxes), delta=delta)
    return (chain(Composition.of(box), records),)


def shifts_of_a_set(node: Subsample, records: int, shift: float, *, above: bool) -> tuple[tuple[float, float], ...]:
    """Return (j shift, probability that a set of fixed size holds j out of `records`), which is hypergeometric.

    Each probability is the float nearest to it; one too small for a float is left out, or counts as the least float
    from above.
    Raises: UnsupportedError: more than 400 records.

    >>> from dpaudit.model.declaration import Stated
    >>> told = Stated(epsilon=1.0, source="a supplier")
    >>> node = Subsample(part=told, rate=0.25, scheme="without_replacement", population=4, batch_size=1)
    >>> shifts_of_a_set(node, 2, 3.0, above=True)
    ((0.0, 0.5), (3.0, 0.5))
    """
    if records > _MOST:
        raise UnsupportedError(f"'group' of {records} records over a set of fixed size is covered up to {_MOST}.")
    size, drawn = node.population or 1, node.batch_size or 1
    ways = [
        math.comb(records, j) * math.perm(drawn, j) * math.perm(size - drawn, records - j) for j in range(records + 1)
    ]
    chances = [float(Fraction(way, math.perm(size, records))) for way in ways]
    return tuple(
        (j * shift, chance or _LEAST)
        for j, (way, chance) in enumerate(zip(ways, chances, strict=True))
        if way and (chance or above)
    )


def from_a_set(composition: Composition, node: Subsample, records: int) -> Composition:
    """Return what dominates `records` that a set of fixed size may hold, from one order of a part's exchanged record.

    Given that it holds j of them, j other records take their places in the set without them. Half lines attain all j.
    """
    if not composition.parts:
        return composition
    if all_gaussian(composition):
        shifts = shifts_of_a_set(node, records, total_mu(composition)[1], above=True)
        return Composition.of(MixtureLoss(above=shifts, below=((0.0, 1.0),)))
    ((loss, times), *others) = composition.parts
    if isinstance(loss, LaplaceLoss) and times == 1 and not others:
        shifts = shifts_of_a_set(node, records, loss.shift, above=True)
        return Composition.of(MixtureLoss(above=shifts, below=((0.0, 1.0),), noise="laplace"))
    raise UnsupportedError(
        f"'group' of {records} records over 'without_replacement' under remove is covered for Gaussian releases or one "
        "Laplace release. Sample persons, and put the group inside the sample."
    )


def on_a_poisson_sample(composition: Composition) -> bool:
    """Return whether all losses are those of Gaussian releases on a Poisson sample, which may hold every record."""
    return all(isinstance(loss, SampledGaussianLoss | GaussianLoss) for loss, _ in composition.parts)


def from_a_poisson_sample(composition: Composition, records: int) -> Composition:
    """Return what dominates `records` of which a Poisson sample holds a binomial number, each moving by as much."""
    moved = []
    for loss, times in composition.parts:
        if isinstance(loss, SampledGaussianLoss):
            mixed = MixtureLoss(above=binomial_shifts(records, loss.rate, loss.mu), below=((0.0, 1.0),))
            moved.append(Composition.of(mixed if loss.order == "remove" else mixed.reversed()) * times)
        else:
            moved.append(chain(Composition.of(loss), records) * times)
    return Composition.total(moved)
