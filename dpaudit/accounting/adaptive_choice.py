"""One composition that dominates several alternatives, however earlier outputs pick among them."""

import math
from functools import reduce

from dpaudit.accounting.dominance import dominates, exceeds
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.engines.gaussian import all_gaussian, total_mu
from dpaudit.engines.limits import options_of
from dpaudit.model.losses import ChoiceLoss, Composition, GaussianLoss, SimpleLoss


def join(alternatives: Alternatives) -> Composition:
    """Return one composition that dominates every alternative, however it is picked.

    Next to other releases a record's alternative may be picked by their outputs, and an adaptive choice
    between alternatives can be worse than each of them: delta(epsilon) is then a mixture of their curves at
    different epsilons. Where one dominates the others it is the answer. Copies of one loss are paired with copies
    of another, each pair being a choice; for anything else all losses together are the answer.
    The longest come first and Gaussian ones last, as these can be cut into any number of pieces.
    """
    return reduce(_either, sorted(alternatives, key=lambda a: (all_gaussian(a), -a.events)))


def _either(left: Composition, right: Composition) -> Composition:
    """Return a multiset that dominates both; a dominating side is returned unchanged."""
    if dominates(left, right):
        return left
    if dominates(right, left):
        return right
    if all_gaussian(right) and len(left.parts) == 1:
        ((_, copies),) = left.parts
        mu = total_mu(right)[1] / math.sqrt(copies) * (1 + 2.0**-50)
        right = Composition.of(GaussianLoss(mu=mu)) * copies
    if len(left.parts) == len(right.parts) == 1:
        ((first, n), (second, m)) = (*left.parts, *right.parts)
        both = Composition.of(_choice(first, second)) * min(n, m)
        unpaired = Composition.of(first) * (n - min(n, m)) + Composition.of(second) * (m - min(n, m))
        return both + unpaired
    counts = dict(left.parts)
    for loss, times in right.parts:
        counts[loss] = max(times, counts.get(loss, 0))
    return reduce(Composition.__add__, (Composition.of(loss) * times for loss, times in counts.items()))


def _choice(left: SimpleLoss, right: SimpleLoss) -> SimpleLoss:
    """Return the loss of either, picked by what was seen before; of two of one kind it is the larger."""
    if exceeds(left, right) or exceeds(right, left):
        return left if exceeds(left, right) else right
    return ChoiceLoss(options=(*options_of(left), *options_of(right)))
