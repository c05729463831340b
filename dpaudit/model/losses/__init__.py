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
    ChoiceLoss          one of several of the above, picked by what was released before
    ComposedLoss        several of the above, released together

A mechanism opens the family by returning one of these; it never adds a member.
"""

from dpaudit.model.losses.approximate import ApproximateLoss, group_delta
from dpaudit.model.losses.composed import ChoiceLoss, ComposedLoss, Loss, PlainLoss, SimpleLoss
from dpaudit.model.losses.composition import Composition
from dpaudit.model.losses.discrete import DiscreteLoss
from dpaudit.model.losses.gaussian import GaussianLoss
from dpaudit.model.losses.laplace import LaplaceLoss
from dpaudit.model.losses.sampled_gaussian import SampledGaussianLoss, SampledOrder

__all__ = [
    "ApproximateLoss",
    "ChoiceLoss",
    "ComposedLoss",
    "Composition",
    "DiscreteLoss",
    "GaussianLoss",
    "LaplaceLoss",
    "Loss",
    "PlainLoss",
    "SampledGaussianLoss",
    "SampledOrder",
    "SimpleLoss",
    "group_delta",
]
