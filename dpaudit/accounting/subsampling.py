"""Amplification by subsampling: what a part delivers when it sees a random sample of the records.

Everything inside one sample is composed first and amplified after. Two schemes are covered, each with the
neighbours its theorem is about: Poisson sampling when a record is added or removed, sampling of a fixed
number without replacement when a record is replaced.
"""

import math

from dpaudit.accounting.normal_form import Alternatives, NormalForm
from dpaudit.engines.basic import total_infinite_mass
from dpaudit.engines.gaussian import total_mu
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Scheme
from dpaudit.model.losses import ApproximateLoss, Composition, GaussianLoss, SampledGaussianLoss

_LARGE = 700.0
_NEIGHBOURS: dict[Scheme, Neighbours] = {"poisson": "add_remove", "without_replacement": "replace_one"}


def subsampled(part: NormalForm, rate: float, scheme: Scheme, neighbours: Neighbours) -> NormalForm:
    """Return the normal form of `part` on a sample that holds each record with probability `rate`.

    Raises: as for `sampled_above`.
    """
    return NormalForm(
        upper=sampled_above(part.upper, rate, scheme, neighbours),
        lower=tuple(sampled_attained(alternative, rate, scheme) for alternative in part.lower),
    )


def sampled_above(alternatives: Alternatives, rate: float, scheme: Scheme, neighbours: Neighbours) -> Alternatives:
    """Return upper alternatives for a part on a sample that holds each record with probability `rate`.

    Gaussian releases on a Poisson sample have an exact loss; anything else is treated as a black box of its
    largest loss and infinite mass.

    Raises:
        DeclarationError: the scheme is read for neighbours that its theorem is not about.
        UnsupportedError: the part is no Gaussian one and has no finite largest loss.
    """
    if neighbours != _NEIGHBOURS[scheme]:
        raise DeclarationError(
            f"'subsample' with scheme={scheme!r} is proved for neighbours={_NEIGHBOURS[scheme]!r}, but is read for "
            f"neighbours={neighbours!r}. Change the claim's neighbours, or the scheme if the code samples otherwise."
        )
    if scheme == "poisson" and all(_gaussian(a) for a in alternatives):
        return tuple(_sampled_gaussian(total_mu(a)[1], rate) for a in alternatives)
    return _amplified(alternatives, rate)


def sampled_attained(composition: Composition, rate: float, scheme: Scheme) -> Composition:
    """Return what a pair attains on a sample that attains `composition` without it: nothing where that is not known.

    >>> from dpaudit import LaplaceLoss
    >>> sampled_attained(Composition.of(LaplaceLoss(shift=1.0)), 0.5, "poisson").events
    0
    """
    if scheme != "poisson" or not _gaussian(composition):
        return Composition()
    return _sampled_gaussian(total_mu(composition)[0], rate)


def _gaussian(composition: Composition) -> bool:
    """Return whether every loss is Gaussian."""
    return all(isinstance(loss, GaussianLoss) for loss, _ in composition.parts)


def _sampled_gaussian(mu: float, rate: float) -> Composition:
    """Return Gaussian releases of joint `mu` on one Poisson sample."""
    return Composition.of(SampledGaussianLoss(mu=mu, rate=rate) if rate < 1 else GaussianLoss(mu=mu))


def _amplified(alternatives: Alternatives, rate: float) -> Alternatives:
    """Return black boxes of ln(1 + rate (e^epsilon - 1)) and rate delta.

    Source: Balle, Barthe and Gaboardi (2018), Theorems 8 and 9.
    """
    found: list[Composition] = []
    for alternative in alternatives:
        # Either order of neighbours may be the worse one; a black box covers both.
        orders = (alternative, alternative.reversed())
        epsilon = max(math.fsum(loss.supremum * n for loss, n in order.parts) for order in orders)
        if epsilon == math.inf:
            raise UnsupportedError(
                "'subsample' of a part without a largest loss is covered for Gaussian releases on a 'poisson' sample "
                "only. Sample the Gaussian releases apart, or state the part's (epsilon, delta) as a 'stated' node."
            )
        delta = max(total_infinite_mass(order)[1] for order in orders) * rate * (1 + 1e-14)
        smaller = (
            math.log1p(rate * math.expm1(epsilon))
            if epsilon < _LARGE
            else epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon))
        )
        found.append(
            Composition.of(
                ApproximateLoss(
                    epsilon=min(epsilon, smaller * (1 + 1e-14) + 1e-300) * (1 + 2.0**-52),
                    delta=min(delta, math.nextafter(1, 0)),
                )
            )
        )
    return tuple(found)
