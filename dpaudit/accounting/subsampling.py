"""Amplification by subsampling: what a part delivers when it sees a random sample of the records.

Everything inside one sample is composed first and sampled after. A pair of neighbours may be read in either order, so
that an upper side has an alternative for each order of the part's own loss.
"""

import math
from collections.abc import Iterator

from dpaudit.accounting.normal_form import Alternatives, in_both_orders, in_open_orders
from dpaudit.accounting.samples.black_box import black_box
from dpaudit.accounting.samples.exchanged import exchanged
from dpaudit.accounting.samples.in_either_order import in_either_order
from dpaudit.accounting.samples.together import together_above, together_attained
from dpaudit.accounting.schemes import drawn_counts, drawn_with_replacement, kept_rate, truncated_shares
from dpaudit.accounting.zeroed import is_cut, zeroed_above, zeroed_attained
from dpaudit.engines.gaussian import total_mu
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Billboard, PostProcess, Release, Subsample
from dpaudit.model.losses import (
    LOST,
    ApproximateLoss,
    AverageLoss,
    ChoiceLoss,
    Composition,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    MixtureLoss,
    SampledGaussianLoss,
    SampledLoss,
    SimpleLoss,
    StitchedLoss,
    larger_order,
    outer_losses,
    sampled_atoms,
)
from dpaudit.model.losses.sampled_ratios import absent, sampled_loss
from dpaudit.model.mechanism import is_opposed, is_plugged_in
from dpaudit.model.sampled_relations import needs_others, relation_inside

_LARGEST_MU, _LARGEST_SHIFT = 20.0, 300.0  # of what is moved apart


def sampled_above(alternatives: Alternatives, node: Subsample, neighbours: Neighbours) -> Alternatives:
    """Return upper alternatives for a part on the sample of `node`, read for `neighbours`.

    `alternatives` are the part's, for the relation inside the sample (`relation_inside`).
    Edge cases: nothing at rate 0.
    Raises: UnsupportedError: a part that the scheme is not proved for.
    """
    if node.rate == 0:
        return (Composition(),)
    alternatives = exchanged(alternatives, node)
    if not any(held.parts for held in alternatives):
        return (Composition(),)
    if opposed := _opposed(node, neighbours):
        return (Composition.of(opposed[0]),)
    if _apart(node, neighbours) and not _one_shift(alternatives) and (whole := together_above(node)):
        return (whole,)
    if relation_inside(node, neighbours) == "replace_one":
        alternatives = tuple(map(_in_any_order, alternatives))
    alone = node.scheme == "poisson" and neighbours != "replace_one"
    return (in_open_orders if alone else in_both_orders)(alternatives, lambda order: _above(order, node, neighbours))


def sampled_attained(
    composition: Composition,
    node: Subsample,
    neighbours: Neighbours,
    *,
    beside: bool = True,
    labels: tuple[str, ...] | None = None,
) -> Composition:
    """Return what a pair attains on the sample of `node`, if some pair attains `composition` without it.

    The move counts as attained whatever else the sample holds. `beside` says that the other records exist, too, that
    some schemes need (`needs_others`): by definition only copies of a record that moves the answer do, or none.
    Edge cases: nothing where no pair is known, as for a part whose loss depends on the order of the neighbours. Of a
    finite one of unknown order the smaller curve of both orders counts.

    >>> from dpaudit.model.declaration import Stated
    >>> sample = Subsample(part=Stated(epsilon=1.0, source="a supplier"), rate=0.5)
    >>> sampled_attained(Composition.of(LaplaceLoss(shift=1.0)), sample, "add_remove").parts[0][0].rate
    0.5
    """
    if node.rate == 0 or not composition.parts:
        return Composition()
    composition = in_either_order(composition)
    zeroed = _zeroed(node, neighbours)
    if not beside and needs_others(node, neighbours) and node.scheme != "without_replacement":
        return Composition()
    if opposed := _opposed(node, neighbours):
        return Composition.of(opposed[1])
    if _apart(node, neighbours) and not _one_shift((composition,)) and (whole := together_attained(node, labels)):
        return whole
    if not _plain(composition) or composition != composition.reversed():
        return Composition()
    if node.scheme == "poisson" and neighbours == "replace_one":
        moved = _shift(composition, upwards=False)
        return Composition() if moved is None else _moved_apart(moved, node.rate)
    if node.scheme == "with_replacement":
        if not _gaussian(composition):
            return Composition()
        return Composition.of(drawn_with_replacement(node, total_mu(composition)[0]))
    if zeroed and beside and _gaussian(composition):
        return _zeroed_attained(composition, node.rate)
    return _sampled(composition, kept_rate(node) if node.scheme == "truncated_poisson" else node.rate, upwards=False)


def _opposed(node: Subsample, neighbours: Neighbours) -> tuple[Loss, Loss] | None:
    """Return both sides of one release that knows its loss where a sampled record is replaced; None of any other."""
    if not _apart(node, neighbours):
        return None
    part = node.part
    while isinstance(part, PostProcess | Billboard):
        part = part.part
    if not isinstance(part, Release) or is_plugged_in(part.mechanism) or not is_opposed(part.mechanism):
        return None
    return part.mechanism.opposed(node.rate)


def _above(composition: Composition, node: Subsample, neighbours: Neighbours) -> Iterator[Composition]:
    """Yield what dominates one order of a part on a sample."""
    if not composition.parts:
        yield composition
    elif not _plain(composition) and node.scheme in ("truncated_poisson", "with_replacement"):
        yield from _above(Composition.of(_boxed(composition)), node, neighbours)
    elif not _plain(composition):
        twice = _apart(node, neighbours) or _zeroed(node, neighbours)
        yield _amplified(composition.group(2) if twice else composition, node.rate)
    elif _apart(node, neighbours):
        moved = _shift(composition, upwards=True)
        yield _both(composition.group(2), node.rate) if moved is None else _moved_apart(moved, node.rate)
    elif node.scheme == "without_replacement" and neighbours == "replace_one":
        yield _both(composition, node.rate)
    elif _zeroed(node, neighbours):
        mu = total_mu(composition)[1]
        line = _gaussian(composition) and is_cut(mu, node.rate)
        yield Composition.of(zeroed_above(mu, node.rate)) if line else _both(composition.group(2), node.rate)
    elif node.scheme == "with_replacement":
        yield _drawn(composition, node)
    elif node.scheme == "truncated_poisson":
        yield _truncated(composition, node)
    else:
        yield _sampled(composition, node.rate, upwards=True)


def _in_any_order(composition: Composition) -> Composition:
    """Return one finite loss as the larger curve of both orders: each set of other records may have its own order."""
    if composition.events != 1:
        return composition
    ((loss, _),) = composition.parts
    return Composition.of(larger_order(loss)) if isinstance(loss, DiscreteLoss) and not loss.symmetric else composition


def _apart(node: Subsample, neighbours: Neighbours) -> bool:
    """Return whether both neighbours hold a record that a Poisson sample may lack."""
    return node.scheme == "poisson" and neighbours == "replace_one"


def _zeroed(node: Subsample, neighbours: Neighbours) -> bool:
    """Return whether a record or its zero takes the place of another record, which moves twice as far as to zero."""
    return node.scheme == "without_replacement" and neighbours == "zero_out" and node.rate < 1


def _zeroed_attained(composition: Composition, rate: float) -> Composition:
    """Return what a record against its zero attains where all others are opposite, of Gaussian losses."""
    mu = total_mu(composition)[0]
    return Composition.of(zeroed_attained(mu, rate)) if is_cut(mu, rate) else _sampled(composition, rate, upwards=False)


def _plain(composition: Composition) -> bool:
    """Return whether no loss is a choice, of which a sample has no law."""
    return not any(isinstance(loss, ChoiceLoss) for loss, _ in composition.parts)


def _one_shift(alternatives: Alternatives) -> bool:
    """Return whether a part is one shift of Gaussian or Laplace noise, whose pair on a sample has a closed form."""
    return all(_plain(held) and held.parts and _shift(held, upwards=True) for held in alternatives)


def _gaussian(composition: Composition) -> bool:
    """Return whether every loss is Gaussian."""
    return all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts)


def _sampled(composition: Composition, rate: float, *, upwards: bool) -> Composition:
    """Return all losses together on one sample that holds the record with probability `rate`."""
    if _gaussian(composition):
        mu = total_mu(composition)[1 if upwards else 0]
        return Composition.of(SampledGaussianLoss(mu=mu, rate=rate) if rate < 1 else GaussianLoss(mu=mu))
    if rate == 1:
        return composition
    ((loss, times), *rest) = composition.parts
    if isinstance(loss, DiscreteLoss) and times == 1 and not rest:
        return Composition.of(outer_losses(sampled_atoms(loss, rate), above=upwards))
    return Composition.of(SampledLoss(inside=composition.parts, rate=rate))


def _joint(composition: Composition) -> Composition:
    """Return Gaussian losses as one, from above."""
    return Composition.of(GaussianLoss(mu=total_mu(composition)[1])) if _gaussian(composition) else composition


def _both(composition: Composition, rate: float) -> Composition:
    """Return what dominates a pair of which either may be the worse: one map for each sign of epsilon.

    Source: Balle, Barthe and Gaboardi (2018), Theorem 1, and joint convexity.
    """
    if rate == 1:
        return composition
    positive = SampledLoss(inside=_joint(composition).parts, rate=rate)
    negative = SampledLoss(inside=_joint(composition.reversed()).parts, rate=rate).reversed()
    return Composition.of(StitchedLoss(positive=positive, negative=negative))


def _shift(composition: Composition, *, upwards: bool) -> GaussianLoss | LaplaceLoss | None:
    """Return the one shift that a part is, or None; None also of one so large that densities there are no numbers."""
    if _gaussian(composition):
        mu = total_mu(composition)[1 if upwards else 0]
        return GaussianLoss(mu=mu) if mu <= _LARGEST_MU else None
    ((loss, times), *rest) = composition.parts
    fits = isinstance(loss, LaplaceLoss) and times == 1 and not rest and loss.shift <= _LARGEST_SHIFT
    return loss if fits and isinstance(loss, LaplaceLoss) else None


def _moved_apart(loss: GaussianLoss | LaplaceLoss, rate: float) -> Composition:
    """Return a sampled record that moves the answer one way against one that moves it the other way.

    Half lines attain both trade-offs at once, against the sample without the record and against the other record.
    Source: Balle, Barthe and Gaboardi (2018), Theorem 1; Neyman and Pearson (1933).
    """
    if rate == 1:
        return Composition.of(loss.group(2))
    if isinstance(loss, GaussianLoss):
        above, below = ((0.0, absent(rate)), (loss.mu, rate)), ((-loss.mu, rate), (0.0, absent(rate)))
        return Composition.of(MixtureLoss(above=above, below=below))
    above, below = ((0.0, absent(rate)), (loss.shift, rate)), ((-loss.shift, rate), (0.0, absent(rate)))
    return Composition.of(MixtureLoss(above=above, below=below, noise="laplace"))


def _truncated(composition: Composition, node: Subsample) -> Composition:
    """Return the average over the size of the sample before it was cut.

    While there is room, the record is added to the sample; else it replaces another one.
    """
    replaced = composition.group(2)
    options: list[tuple[float, SimpleLoss]] = []
    for weight, rate, room in truncated_shares(node):
        if rate == 1:
            raise UnsupportedError("'subsample' with scheme='truncated_poisson' is covered for a rate below 1.")
        options.append((weight, SampledLoss(inside=_joint(composition if room else replaced).parts, rate=rate)))
    return Composition.of(AverageLoss(options=tuple(options)))


def _drawn(composition: Composition, node: Subsample) -> Composition:
    """Return draws with replacement: a binomial number of copies of the record is replaced.

    Source: Balle, Barthe and Gaboardi (2018), Theorem 10.
    """
    options: list[tuple[float, SimpleLoss]] = []
    for weight, copies in drawn_counts(node):
        moved = composition.group(copies) if copies > 1 else composition if copies else Composition.of(LOST)
        if _gaussian(moved):
            options.append((weight, GaussianLoss(mu=total_mu(moved)[1])))
        elif len(moved.parts) == 1 and moved.parts[0][1] == 1:
            options.append((weight, moved.parts[0][0]))
        else:
            raise UnsupportedError(
                "'subsample' with scheme='with_replacement' is covered for one release, or for Gaussian ones; sample "
                "the releases apart."
            )
    whole = AverageLoss(options=tuple(options))
    population, draws = node.population or 1, node.batch_size or 1
    drawn = -math.expm1(draws * math.log1p(-1 / population)) if population > 1 else 1.0
    return _both(Composition.of(whole), min(1.0, drawn * (1 + 1e-14)))


def _amplified(composition: Composition, rate: float) -> Composition:
    """Return a black box of ln(1 + rate (e^epsilon - 1)) and rate delta, either order being the worse one.

    Source: Balle, Barthe and Gaboardi (2018), Theorems 8 and 9.
    """
    box = _boxed(composition)
    epsilon, delta = box.supremum, box.infinite_mass * rate * (1 + 1e-14)
    return Composition.of(
        ApproximateLoss(
            epsilon=min(epsilon, sampled_loss(epsilon, rate) * (1 + 1e-14 + 2.0**-51 * epsilon) + 1e-300)
            * (1 + 2.0**-52),
            delta=min(delta, math.nextafter(1, 0)),
        )
    )


def _boxed(composition: Composition) -> ApproximateLoss | DiscreteLoss:
    """Return the black box that a part is, which also bounds records that are exchanged one after another.

    Raises: UnsupportedError: a part without a largest loss.
    """
    box = black_box(composition)
    if box is None:
        raise UnsupportedError(
            "'subsample' of a part that may be one of several kinds, without a largest loss, is not covered. Sample "
            "each kind apart, or state the part's (epsilon, delta) as a 'stated' node."
        )
    return box
