"""The privacy losses a mechanism can have, as a small closed family.

A loss stands for a worst-case pair (P, Q) of output laws, through its hockey-stick divergence

    delta(epsilon) = E_P[(1 - e^(epsilon - L))_+],   L = log dP/dQ,

and everything an engine needs to compose it. Members:

    GaussianLoss        N(mu, 1) against N(0, 1)
    LaplaceLoss         Laplace(shift, 1) against Laplace(0, 1)
    ApproximateLoss     the pair that dominates every (epsilon, delta)-private one;
                        randomised response where delta is 0
    DiscreteLoss        finitely many loss values, and a mass at infinity
    SampledGaussianLoss (1 - rate) N(0, 1) + rate N(mu, 1) against N(0, 1), or the reverse
    MixtureLoss         a mixture of shifts of one noise against another one
    SampledLoss         (1 - rate) Q + rate P against Q for any losses, or the reverse
    AverageLoss         one of several, picked by a public coin
    StitchedLoss        one loss at epsilons of 0 or more, another one below
    AllocatedLoss       losses met at one secret step out of several
    ChoiceLoss          one of several of the above, picked by what was released before
    ComposedLoss        several of the above, released together

A mechanism opens the family by returning one of these; it never adds a member.
"""

from dpaudit.model.losses.approximate import ApproximateLoss, group_delta
from dpaudit.model.losses.both_orders import larger_of, larger_order, log_ratio, smaller_order
from dpaudit.model.losses.composed import (
    AllocatedLoss,
    AverageLoss,
    ChoiceLoss,
    ComposedLoss,
    DerivedLoss,
    Loss,
    PlainLoss,
    SampledLoss,
    SimpleLoss,
    StitchedLoss,
)
from dpaudit.model.losses.composition import Composition
from dpaudit.model.losses.discrete import LOST, DiscreteLoss
from dpaudit.model.losses.gaussian import GaussianLoss
from dpaudit.model.losses.laplace import LaplaceLoss
from dpaudit.model.losses.mixture import MixtureLoss, binomial_shifts
from dpaudit.model.losses.opposed import opposed_loss, outer_losses, sampled_atoms
from dpaudit.model.losses.sampled_gaussian import SampledGaussianLoss, SampledOrder
from dpaudit.model.losses.three_cells import noise_laws
from dpaudit.model.losses.three_laws import ThreeLaws, composed_laws, sampled_apart

__all__ = [
    "LOST",
    "AllocatedLoss",
    "ApproximateLoss",
    "AverageLoss",
    "ChoiceLoss",
    "ComposedLoss",
    "Composition",
    "DerivedLoss",
    "DiscreteLoss",
    "GaussianLoss",
    "LaplaceLoss",
    "Loss",
    "MixtureLoss",
    "PlainLoss",
    "SampledGaussianLoss",
    "SampledLoss",
    "SampledOrder",
    "SimpleLoss",
    "StitchedLoss",
    "ThreeLaws",
    "binomial_shifts",
    "composed_laws",
    "group_delta",
    "larger_of",
    "larger_order",
    "log_ratio",
    "noise_laws",
    "opposed_loss",
    "outer_losses",
    "sampled_apart",
    "sampled_atoms",
    "smaller_order",
]
