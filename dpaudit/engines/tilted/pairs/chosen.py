"""The pair above an adaptive choice between pairs: the curve through the largest of all at each knot."""

from collections.abc import Sequence

import numpy as np

from dpaudit.engines.tilted.pairs.finite_pair import FinitePair, Floats
from dpaudit.engines.verified.choices import connected_masses, knot_width

_MOST = 1 << 11  # knots on either side of 0
_UNIT = 2.0**-53


def chosen_above(pairs: Sequence[FinitePair], width: float) -> FinitePair:
    """Return a pair whose curve lies nowhere below that of any of `pairs`, all from above.

    Curves are convex in e^epsilon, so that the chords between the largest values at knots lie above all. Below 0 the
    reversed pairs say the same without cancellation.
    Source: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), Section 4; Zhu, Dong and Wang (2022), Proposition 8.

    >>> import numpy as np
    >>> sure = FinitePair(losses=np.array([0.0]), masses=np.array([0.8]), infinite=0.2, missing=0.2)
    >>> fair = FinitePair(losses=np.array([-1.0, 1.0]), masses=np.array([0.26894142, 0.73105858]))
    >>> both = chosen_above([sure, fair], 0.01)
    >>> round(both.delta_above(0.0), 5), round(both.delta_above(2.0), 5)
    (0.46212, 0.2)
    """
    orders = [[pair, pair.reversed()] for pair in pairs]
    there, back = (max(float(order[i].losses.max(initial=0.0)) for order in orders) for i in (0, 1))
    h = knot_width(max(width, max(there, back) / _MOST))
    right, left = (
        np.max([_targets(order[i], h, end) for order in orders], axis=0) for i, end in ((0, there), (1, back))
    )
    masses = connected_masses(right, left, h)
    losses = np.asarray(h * np.arange(1 - len(left), len(right)), np.float64)
    under_q = float((masses * np.exp(-losses)).sum())
    return FinitePair(
        losses=losses,
        masses=masses,
        infinite=float(right[-1]),
        missing=max(0.0, 1 - under_q + _UNIT * (len(masses) + 8)),
        error=1e-14,
    )


def _targets(pair: FinitePair, h: float, end: float) -> Floats:
    """Return upper bounds on delta at 0, h, 2h, ... to just beyond `end`."""
    return np.array([pair.delta_above(h * j) for j in range(int(np.ceil(end / h)) + 2)])
