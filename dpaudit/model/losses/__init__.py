"""The privacy losses a mechanism can have, as a small closed family.

A loss stands for a worst-case pair (P, Q) of output laws, through its hockey-stick divergence

    delta(epsilon) = E_P[(1 - e^(epsilon - L))_+],   L = log dP/dQ,

and everything an engine needs to compose it. Members:

    GaussianLoss        N(mu, 1) against N(0, 1)
    LaplaceLoss         Laplace(shift, 1) against Laplace(0, 1)
    ThresholdLoss       the same, seen through one threshold
    ApproximateLoss     the pair that dominates every (epsilon, delta)-private one;
                        randomised response where delta is 0
    ConcentratedLoss    whatever is known by its rho alone
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

from dpaudit.model.losses.approximate import ApproximateLoss as ApproximateLoss
from dpaudit.model.losses.approximate import group_delta as group_delta
from dpaudit.model.losses.both_orders import larger_of as larger_of
from dpaudit.model.losses.both_orders import larger_order as larger_order
from dpaudit.model.losses.both_orders import log_ratio as log_ratio
from dpaudit.model.losses.both_orders import smaller_order as smaller_order
from dpaudit.model.losses.composed import AllocatedLoss as AllocatedLoss
from dpaudit.model.losses.composed import AverageLoss as AverageLoss
from dpaudit.model.losses.composed import ChoiceLoss as ChoiceLoss
from dpaudit.model.losses.composed import ComposedLoss as ComposedLoss
from dpaudit.model.losses.composed import DerivedLoss as DerivedLoss
from dpaudit.model.losses.composed import Loss as Loss
from dpaudit.model.losses.composed import PlainLoss as PlainLoss
from dpaudit.model.losses.composed import SampledLoss as SampledLoss
from dpaudit.model.losses.composed import SimpleLoss as SimpleLoss
from dpaudit.model.losses.composed import StitchedLoss as StitchedLoss
from dpaudit.model.losses.composition import Composition as Composition
from dpaudit.model.losses.concentrated import ConcentratedLoss as ConcentratedLoss
from dpaudit.model.losses.discrete import LOST as LOST
from dpaudit.model.losses.discrete import DiscreteLoss as DiscreteLoss
from dpaudit.model.losses.gaussian import GaussianLoss as GaussianLoss
from dpaudit.model.losses.laplace import LaplaceLoss as LaplaceLoss
from dpaudit.model.losses.laplace import ThresholdLoss as ThresholdLoss
from dpaudit.model.losses.mixture import MixtureLoss as MixtureLoss
from dpaudit.model.losses.mixture import binomial_shifts as binomial_shifts
from dpaudit.model.losses.opposed import opposed_loss as opposed_loss
from dpaudit.model.losses.opposed import outer_losses as outer_losses
from dpaudit.model.losses.opposed import sampled_atoms as sampled_atoms
from dpaudit.model.losses.sampled_gaussian import SampledGaussianLoss as SampledGaussianLoss
from dpaudit.model.losses.sampled_gaussian import SampledOrder as SampledOrder
from dpaudit.model.losses.three_cells import noise_laws as noise_laws
from dpaudit.model.losses.three_laws import ThreeLaws as ThreeLaws
from dpaudit.model.losses.three_laws import composed_laws as composed_laws
from dpaudit.model.losses.three_laws import sampled_apart as sampled_apart
