"""Several records of one person that change together: on a sample, and one after another."""

import math
from fractions import Fraction

from dpaudit.accounting.dominance import consists_of, worst
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.accounting.samples.black_box import black_box
from dpaudit.engines.gaussian import total_mu
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Subsample
from dpaudit.model.losses import (
    LOST,
    ApproximateLoss,
    Composition,
    GaussianLoss,
    LaplaceLoss,
    MixtureLoss,
    SampledGaussianLoss,
    binomial_shifts,
)

_MOST = 400  # records of a person in a set of fixed size, whose probabilities are exact
_LEAST = math.nextafter(0.0, 1.0)  # what a probability that is too small for a float counts as, from above


def of_a_person(
    inside: Alternatives, alternatives: Alternatives, node: Subsample, neighbours: Neighbours, records: int
) -> Alternatives:
    """Return upper alternatives for `records` of one person on the sample of `node`, read for `neighbours`.

    `inside` are the part's alternatives for one record, and `alternatives` those of the sample. Removed records are
    binomially many in a Poisson sample of Gaussian releases, and hypergeometrically many in a set of fixed size.
    Elsewhere they change one after another, which needs that every data set between has the same population.
    Raises: UnsupportedError: a removal that changes the population and has no rule here.
    """
    if records == 1 or node.rate == 0:
        return alternatives
    if node.scheme == "poisson" and neighbours != "replace_one" and all(map(_on_a_poisson_sample, alternatives)):
        return tuple(_from_a_poisson_sample(held, records) for held in alternatives)
    if node.scheme == "without_replacement" and neighbours == "add_remove":
        return tuple(dict.fromkeys(_from_a_set(held, node, records) for held in inside))
    if node.scheme in ("truncated_poisson", "with_replacement"):
        raise UnsupportedError(
            f"'group' over {node.scheme!r} is not covered: the population falls with each record that is removed, and "
            "a sample may hold any number of them. Sample persons, and put the group inside the sample."
        )
    return chained(alternatives, records)


def chained(alternatives: Alternatives, records: int) -> Alternatives:
    """Return upper alternatives for `records` of one person that change one after another.

    Every data set between is one of the declaration, and each step may meet another alternative. Where there is one, or
    all are Gaussian, putting all records into one is worst. For losses with a largest one the group property of a black
    box is used, of which every alternative is an instance.
    Raises: UnsupportedError: anything else.
    """
    if records == 1:
        return alternatives
    if len(alternatives) == 1 or all(consists_of(GaussianLoss, a) for a in alternatives):
        return worst(tuple(a.group(records) for a in alternatives))
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
    return (Composition.of(box.group(records)),)


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
    whole, drawn = node.population or 1, node.batch_size or 1
    ways = [
        math.comb(records, j) * math.perm(drawn, j) * math.perm(whole - drawn, records - j) for j in range(records + 1)
    ]
    chances = [float(Fraction(way, math.perm(whole, records))) for way in ways]
    return tuple(
        (j * shift, chance or _LEAST)
        for j, (way, chance) in enumerate(zip(ways, chances, strict=True))
        if way and (chance or above)
    )


def _from_a_set(composition: Composition, node: Subsample, records: int) -> Composition:
    """Return what dominates `records` that a set of fixed size may hold, from one order of a part's exchanged record.

    Given that it holds j of them, j other records take their places in the set without them. Half lines attain all j.
    """
    if not composition.parts:
        return composition
    if all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts):
        shifts = shifts_of_a_set(node, records, total_mu(composition)[1], above=True)
        return Composition.of(MixtureLoss(above=shifts, below=((0.0, 1.0),)))
    ((loss, times), *rest) = composition.parts
    if isinstance(loss, LaplaceLoss) and times == 1 and not rest:
        shifts = shifts_of_a_set(node, records, loss.shift, above=True)
        return Composition.of(MixtureLoss(above=shifts, below=((0.0, 1.0),), noise="laplace"))
    raise UnsupportedError(
        f"'group' of {records} records over 'without_replacement' under remove is covered for Gaussian releases or one "
        "Laplace release. Sample persons, and put the group inside the sample."
    )


def _on_a_poisson_sample(composition: Composition) -> bool:
    """Return whether all losses are those of Gaussian releases on a Poisson sample, which may hold every record."""
    return all(isinstance(loss, SampledGaussianLoss | GaussianLoss) for loss, _ in composition.parts)


def _from_a_poisson_sample(composition: Composition, records: int) -> Composition:
    """Return what dominates `records` of which a Poisson sample holds a binomial number, each moving by as much."""
    held = []
    for loss, times in composition.parts:
        if isinstance(loss, SampledGaussianLoss):
            mixed = MixtureLoss(above=binomial_shifts(records, loss.rate, loss.mu), below=((0.0, 1.0),))
            held.append(Composition.of(mixed if loss.order == "remove" else mixed.reversed()) * times)
        else:
            held.append(Composition.of(loss).group(records) * times)
    return Composition.total(held)


def attained_by_a_person(composition: Composition, node: Subsample, alone: Composition, records: int) -> Composition:
    """Return what `records` of one person attain on a sample where each moves Gaussian releases by as much.

    `composition` is what one record attains of the part, and `alone` what it attains on the sample; the records are
    removed, or zeroed on a Poisson sample.
    """
    gaussian = all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts)
    if node.scheme == "poisson" and _on_a_poisson_sample(alone):
        return _from_a_poisson_sample(alone, records)
    if node.scheme == "without_replacement" and gaussian and composition.parts and alone.parts:
        shifts = shifts_of_a_set(node, records, total_mu(composition)[0], above=False)
        return Composition.of(MixtureLoss(above=shifts, below=((0.0, 1.0),)))
    return alone
