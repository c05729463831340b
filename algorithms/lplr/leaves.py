"""The noise of one message: the mechanism that each of its numbers goes through, as printed and as repaired.

All of it is in scaled units: a bin of index k on layer h holds vectors of norm at most gamma^-k, which the device
multiplies by gamma^k, and residuals at most R_h, which it divides by R_h. So every bin has the same noise.

Messages may be shuffled. In one phase everybody runs the same randomiser: the public state is fixed, and a message is
an array with an entry for every bin of every action, whichever of them the record fills. So the messages of a phase
form one shuffle. A user is in one phase, and those of the first epoch are the smallest, so one of them is declared.

A record fills one cell, and another record empties it and fills another one. Noise of one scale in every cell makes
both moves together no larger than the largest move within one cell, so each statistic is declared as one release of the
whole array. An update message has no width and a width message nothing else; both are declared as one report that has
all four. A quarter of the budget is for the width.
"""

import math
from dataclasses import dataclass

from algorithms._shuffles import report_epsilon
from algorithms.lplr.schedule import epochs_of, phases_of
from algorithms.lplr.settings import SHARES, LplrSettings
from dpaudit import Claim, Mechanism, Stated
from dpaudit.model.claim import Neighbours
from mechanisms import BallLaplace, Gaussian, Laplace, OneSidedWishart, SymmetrisedWishart

_OF_UPDATES = (0.75, 0.25)
"""The shares of update and of width messages in the budget of one report, where both are declared as one."""

_SAFETY = 1 + 1e-12
"""Above the exact scales, so that the sum of six rounded losses does not exceed the claim in its last digit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaves:
    """The mechanisms of one message, by label: `update` those of an update message, `confidence` the other's.

    Stated for two records in the same cell (`replace_one`), or for one record against none (`add_remove`).
    """

    update: tuple[tuple[str, Mechanism], ...]
    confidence: tuple[tuple[str, Mechanism], ...]

    def of(self, label: str) -> Mechanism:
        """Return the mechanism called `label`."""
        return dict(self.update + self.confidence)[label]


def leaves_of(settings: LplrSettings, neighbours: Neighbours = "replace_one") -> Leaves:
    """Return the mechanisms of one message: for two records in the same cell, or for one against none."""
    if settings.model == "shuffle":
        return whole_leaves(message_epsilon(settings), settings.dimension, SHARES[settings.calibration])
    if settings.noise == "gaussian":
        return gaussian_leaves(settings.claim(), neighbours)
    if settings.variant == "paper":
        return printed_leaves(settings.epsilon, settings.dimension, neighbours)
    return repaired_leaves(settings.epsilon, settings.dimension, neighbours, SHARES[settings.calibration])


def printed_leaves(epsilon: float, dimension: int, neighbours: Neighbours) -> Leaves:
    """Return the noise of Algorithms 3 and 5 as printed.

    Laplace noise of scale 3 / epsilon and 3 sqrt(d) / epsilon, Wishart noise of d + 1 degrees of freedom and scale
    3 * 1.5 / epsilon, and Laplace noise of scale 1 / epsilon. The sensitivities are the true ones *if residuals are
    at most 1*, which the printed protocol does not enforce.
    """
    matrix = OneSidedWishart(dimension=dimension, scale=4.5 / epsilon, trace_sensitivity=1.0, neighbours=neighbours)
    return _leaves(matrix, count=3 / epsilon, vector=3 * math.sqrt(dimension) / epsilon, width=1 / epsilon)


def repaired_leaves(
    epsilon: float, dimension: int, neighbours: Neighbours, shares: tuple[float, float, float] = SHARES["tight"]
) -> Leaves:
    """Return noise that makes the whole message exactly epsilon-private when a record is replaced.

    Each leaf spends its share on two cells, half on each. Matrices get the difference of two Wishart matrices.
    """
    count, vector, matrix = (epsilon * share / _SAFETY for share in shares)
    moved = 2.0 if neighbours == "replace_one" else 1.0
    wishart = SymmetrisedWishart(
        dimension=dimension, scale=1 / matrix, nuclear_sensitivity=moved, neighbours=neighbours
    )
    return _leaves(wishart, count=2 / count, vector=2 * math.sqrt(dimension) / vector, width=2 * _SAFETY / epsilon)


def _leaves(matrix: OneSidedWishart | SymmetrisedWishart, *, count: float, vector: float, width: float) -> Leaves:
    """Return a message with noise of these scales beside that of its matrix, which says whose neighbours they are."""
    neighbours = matrix.neighbours
    same = neighbours == "replace_one"
    return Leaves(
        update=(
            ("count", _ball(1, count, 0.0 if same else 1.0, neighbours)),
            ("vector", _ball(matrix.dimension, vector, 2.0 if same else 1.0, neighbours)),
            ("matrix", matrix),
        ),
        confidence=(("width", Laplace(scale=width, l1_sensitivity=1.0, neighbours=neighbours)),),
    )


def whole_leaves(epsilon: float, dimension: int, shares: tuple[float, float, float]) -> Leaves:
    """Return noise of which the four statistics of a whole message, all cells together, cost at most epsilon.

    Two records in different cells move each statistic by one record in either cell, which costs what the largest move
    within one cell does.
    """
    update, width = (epsilon * share for share in _OF_UPDATES)
    (label, _), *others = repaired_leaves(update, dimension, "replace_one", shares).update
    count = _ball(1, 2 * _SAFETY / (update * shares[0]), 2.0, "replace_one")
    return Leaves(
        update=((label, count), *others),
        confidence=(("width", Laplace(scale=2 * _SAFETY / width, l1_sensitivity=2.0, neighbours="replace_one")),),
    )


def gaussian_leaves(claim: Claim, neighbours: Neighbours) -> Leaves:
    """Return Gaussian noise on the whole message at once, for comparison: the paper has none.

    The message is one vector: the count, the vector, and the matrix with off-diagonals times sqrt 2. One record has
    length sqrt 3; in the same cell two are at most sqrt 4.5 apart, in different cells sqrt 6, whatever the dimension.
    """
    message = Gaussian.calibrated(claim, l2_sensitivity=math.sqrt(6))
    width = Gaussian.calibrated(claim, l2_sensitivity=math.sqrt(2))
    same = neighbours == "replace_one"
    return Leaves(
        update=(
            (
                "message",
                Gaussian(
                    stddev=message.stddev * _SAFETY,
                    l2_sensitivity=math.sqrt(4.5 if same else 3.0),
                    neighbours=neighbours,
                ),
            ),
        ),
        confidence=(("width", Gaussian(stddev=width.stddev * _SAFETY, l2_sensitivity=1.0, neighbours=neighbours)),),
    )


def _ball(dimension: int, scale: float, distance: float, neighbours: Neighbours) -> BallLaplace:
    """Return Laplace noise on a vector that moves by `distance`."""
    return BallLaplace(dimension=dimension, scale=scale, l2_sensitivity=distance, neighbours=neighbours)


def fewest_shuffled(settings: LplrSettings) -> int:
    """Return how many users the smallest phase has: those of the first epoch."""
    first = epochs_of(settings.horizon, settings.first_unit)[0]
    return first.length // phases_of(settings.dimension, first_confidence=False)


def message_epsilon(settings: LplrSettings) -> float:
    """Return the epsilon of one message: the claimed one, or what the smallest shuffle amplifies to it."""
    if settings.model == "local":
        return settings.epsilon
    users = fewest_shuffled(settings)
    return report_epsilon(_stated, epsilon=settings.epsilon, delta=settings.delta, users=users)


def _stated(epsilon: float) -> Stated:
    """Return a message of which only its epsilon is known, as the accountant reads no more of it."""
    return Stated(epsilon=epsilon, source="one message, which its own leaves certify")
