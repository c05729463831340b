"""What becomes of the losses of a part on a random sample: maps of one composition, with no tree in sight."""

import math

from dpaudit.accounting.derivation.groups import chain
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.accounting.samples.black_box import black_box
from dpaudit.accounting.schemes import drawn_counts, truncated_shares
from dpaudit.accounting.zeroed import is_cut, zeroed_above
from dpaudit.engines.gaussian import all_gaussian, total_mu
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Subsample
from dpaudit.model.losses import (
    LOST,
    ApproximateLoss,
    AverageLoss,
    ChoiceLoss,
    Composition,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
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

_HARDLY = 1e-18  # at most this probability that a record replaces another one in a cut sample counts as seen
_ROUNDING = 1e-9  # relative, of a sum of the library's binomial probabilities
_LARGEST_MU, _LARGEST_SHIFT = 20.0, 300.0  # of what is moved apart


def present(composition: Composition, node: Subsample) -> Composition:
    """Return all losses together on one sample that holds the record with its rate."""
    if not plain(composition):
        return _amplified(composition, node.rate)
    return sampled(composition, node.rate, upwards=True)


def apart(composition: Composition, node: Subsample) -> Composition:
    """Return a record against another one, of which a Poisson sample may lack either."""
    if not plain(composition):
        return _amplified(chain(composition, 2), node.rate)
    moved = shift_of(composition, upwards=True)
    return _both(chain(composition, 2), node.rate) if moved is None else moved_apart(moved, node.rate)


def exchanged(composition: Composition, node: Subsample) -> Composition:
    """Return a record in the place of another one."""
    return _both(composition, node.rate) if plain(composition) else _amplified(composition, node.rate)


def zeroed(composition: Composition, node: Subsample) -> Composition:
    """Return a record or its zero in the place of another record, which moves twice as far as to zero."""
    if node.rate == 1:
        return present(composition, node)
    if not plain(composition):
        return _amplified(chain(composition, 2), node.rate)
    if all_gaussian(composition) and is_cut(mu := total_mu(composition)[1], node.rate):
        return Composition.of(zeroed_above(mu, node.rate))
    return _both(chain(composition, 2), node.rate)


def cut(composition: Composition, node: Subsample) -> Composition:
    """Return the average over the size of the sample before it was cut.

    While there is room, the record is added to the sample; else it replaces another one. Where that hardly ever
    happens, everything counts as seen of a record that replaces one (docs/theory/sampling.md, "A sample that is hardly
    ever cut").
    """
    if not plain(composition):
        composition = Composition.of(_boxed(composition))
    if not composition.parts:
        return composition
    if node.rate == 1:
        raise UnsupportedError("'subsample' with scheme='truncated_poisson' is covered for a rate below 1.")
    replaced = chain(composition, 2)
    shares = truncated_shares(node)
    shown = math.fsum(weight for weight, _, room in shares if not room) * (1 + _ROUNDING) * node.rate
    if shown <= _HARDLY:
        seen = Composition.of(ApproximateLoss(epsilon=0.0, delta=shown)) if shown else Composition()
        return sampled(composition, node.rate, upwards=True) + seen
    options: list[tuple[float, SimpleLoss]] = []
    for weight, rate, room in shares:
        options.append((weight, SampledLoss(inside=joint(composition if room else replaced).parts, rate=rate)))
    return Composition.of(AverageLoss(options=tuple(options)))


def copied(composition: Composition, node: Subsample) -> Composition:
    """Return draws with replacement: a binomial number of copies of the record is replaced.

    Source: Balle, Barthe and Gaboardi (2018), Theorem 10.
    """
    if not plain(composition):
        composition = Composition.of(_boxed(composition))
    if not composition.parts:
        return composition
    options: list[tuple[float, SimpleLoss]] = []
    for weight, copies in drawn_counts(node):
        moved = chain(composition, copies) if copies else Composition.of(LOST)
        if all_gaussian(moved):
            options.append((weight, GaussianLoss(mu=total_mu(moved)[1])))
        elif len(moved.parts) == 1 and moved.parts[0][1] == 1:
            options.append((weight, moved.parts[0][0]))
        else:
            raise UnsupportedError(
                "'subsample' with scheme='with_replacement' is covered for one release, or for Gaussian ones; sample "
                "the releases apart."
            )
    averaged = AverageLoss(options=tuple(options))
    population, draws = node.population or 1, node.batch_size or 1
    drawn = -math.expm1(draws * math.log1p(-1 / population)) if population > 1 else 1.0
    return _both(Composition.of(averaged), min(1.0, drawn * (1 + 1e-14)))


def in_any_order(composition: Composition) -> Composition:
    """Return one finite loss as the larger curve of both orders: each set of other records may have its own order."""
    if composition.events != 1:
        return composition
    ((loss, _),) = composition.parts
    return Composition.of(larger_order(loss)) if isinstance(loss, DiscreteLoss) and not loss.symmetric else composition


def even(composition: Composition) -> bool:
    """Return whether losses are known of one pair in both orders."""
    return plain(composition) and composition == composition.reversed()


def plain(composition: Composition) -> bool:
    """Return whether no loss is a choice, of which a sample has no law."""
    return not any(isinstance(loss, ChoiceLoss) for loss, _ in composition.parts)


def one_shift(alternatives: Alternatives) -> bool:
    """Return whether a part is one shift of Gaussian or Laplace noise, whose pair on a sample has a closed form."""
    return all(plain(part) and part.parts and shift_of(part, upwards=True) for part in alternatives)


def shift_of(composition: Composition, *, upwards: bool) -> GaussianLoss | LaplaceLoss | None:
    """Return the one shift that a part is, or None; None also of one so large that densities there are no numbers."""
    if all_gaussian(composition):
        mu = total_mu(composition)[1 if upwards else 0]
        return GaussianLoss(mu=mu) if mu <= _LARGEST_MU else None
    ((loss, times), *others) = composition.parts
    fits = isinstance(loss, LaplaceLoss) and times == 1 and not others and loss.shift <= _LARGEST_SHIFT
    return loss if fits and isinstance(loss, LaplaceLoss) else None


def moved_apart(loss: GaussianLoss | LaplaceLoss, rate: float) -> Composition:
    """Return a sampled record that moves the answer one way against one that moves it the other way.

    Half lines attain both trade-offs at once, against the sample without the record and against the other record.
    Source: Balle, Barthe and Gaboardi (2018), Theorem 1; Neyman and Pearson (1933).
    """
    if rate == 1:
        return chain(Composition.of(loss), 2)
    move, gaussian = (loss.mu, True) if isinstance(loss, GaussianLoss) else (loss.shift, False)
    above, below = ((0.0, absent(rate)), (move, rate)), ((-move, rate), (0.0, absent(rate)))
    return Composition.of(MixtureLoss(above=above, below=below, noise="gaussian" if gaussian else "laplace"))


def sampled(composition: Composition, rate: float, *, upwards: bool) -> Composition:
    """Return all losses together on one sample that holds the record with probability `rate`."""
    if all_gaussian(composition):
        mu = total_mu(composition)[1 if upwards else 0]
        return Composition.of(SampledGaussianLoss(mu=mu, rate=rate) if rate < 1 else GaussianLoss(mu=mu))
    if rate == 1:
        return composition
    ((loss, times), *others) = composition.parts
    atoms = loss.as_atoms() if isinstance(loss, ApproximateLoss) and loss.epsilon <= _LARGEST_SHIFT else loss
    if isinstance(atoms, DiscreteLoss) and times == 1 and not others:
        return Composition.of(outer_losses(sampled_atoms(atoms, rate), above=upwards))
    return Composition.of(SampledLoss(inside=composition.parts, rate=rate))


def joint(composition: Composition, *, upwards: bool = True) -> Composition:
    """Return Gaussian losses as one, rounded to one side."""
    if not all_gaussian(composition):
        return composition
    return Composition.of(GaussianLoss(mu=total_mu(composition)[1 if upwards else 0]))


def _both(composition: Composition, rate: float) -> Composition:
    """Return what dominates a pair of which either may be the worse: one map for each sign of epsilon.

    Source: Balle, Barthe and Gaboardi (2018), Theorem 1, and joint convexity.
    """
    if rate == 1:
        return composition
    positive = SampledLoss(inside=joint(composition).parts, rate=rate)
    negative = SampledLoss(inside=joint(composition.reversed()).parts, rate=rate).reversed()
    return Composition.of(StitchedLoss(positive=positive, negative=negative))


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
