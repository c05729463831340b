"""Closed forms for any composition: sums of the largest losses, the joint mu of Gaussian ones, one loss by itself.

Each of them brackets the same number, so that the brackets are intersected.
"""

from collections.abc import Callable
from typing import TypeAlias

from dpaudit.engines import basic, gaussian, single
from dpaudit.engines.engine import Ends, Engine
from dpaudit.engines.limits import gridded, is_derived
from dpaudit.engines.precision import Precision
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import Composition

Form: TypeAlias = Callable[[Composition, float], Ends]


def is_closed(composition: Composition) -> bool:
    """Return whether a closed form is the whole curve: Gaussian losses alone, or one loss that is met once.

    >>> from dpaudit.model.losses import GaussianLoss, LaplaceLoss
    >>> loss = LaplaceLoss(shift=1.0)
    >>> [is_closed(Composition.of(*some)) for some in ([GaussianLoss(mu=1.0)] * 2, [loss], [loss] * 2)]
    [True, True, False]
    """
    if not composition.parts or gaussian.all_gaussian(composition):
        return True
    return composition.events == 1 and not is_derived(composition.parts[0][0])


def _delta(composition: Composition, epsilon: float, precision: Precision) -> Ends:
    """Bound delta(epsilon)."""
    return _by((basic.delta_ends, gaussian.delta_ends, single.delta_ends), composition, epsilon)


def _epsilon(composition: Composition, delta: float, precision: Precision) -> Ends:
    """Bound the smallest epsilon with delta(epsilon) <= delta."""
    return _by((basic.epsilon_ends, gaussian.epsilon_ends, single.epsilon_ends), composition, delta)


def _by(forms: tuple[Form, Form, Form], composition: Composition, at: float) -> Ends:
    """Return what the sums say, and with it the joint mu or each loss by itself, where that is known."""
    sums, joint, alone = forms
    others = alone if is_closed(composition) or not gridded(composition) else sums
    own = joint if gaussian.all_gaussian(composition) else others
    (least, most), (low, high) = sums(composition, at), own(composition, at)
    largest_losses = Bracket(lower=least, upper=most, engines=("the sum of largest losses",))
    both = largest_losses.intersect(Bracket(lower=low, upper=high, engines=("another closed form",)))
    return both.lower, both.upper


CLOSED = Engine(name="closed", covers=lambda composition: True, delta_ends=_delta, epsilon_ends=_epsilon)
"""Closed forms; of several losses that a grid takes, they say what the largest losses do."""
