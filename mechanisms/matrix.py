"""A stream released through a strategy matrix with Gaussian noise on every row: factorised prefix sums, DP-FTRL."""

import math
from dataclasses import replace
from typing import Annotated, ClassVar, Self

import numpy as np

from dpaudit import Claim, Release, Repeat, Subsample, smallest_noise
from dpaudit.arguments import settled
from dpaudit.checks import Count, FieldError, Within, settle
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import ComposedLoss, GaussianLoss, Loss
from dpaudit.model.mechanism import AdditiveMechanism, Array, is_additive
from mechanisms._matrices.sensitivity import Moved, squared_move
from mechanisms._matrices.strategies import (
    Strategy,
    convolved,
    inverse,
    square_root_coefficients,
    strategy_matrix,
    tree_sums,
)
from mechanisms.gaussian import Gaussian

_LARGEST, _LARGEST_MATRIX = 1 << 16, 512


@settled
class Matrix:
    """Releases C G + Z for a stream G of up to `horizon` elements, a strategy matrix C and independent noise Z.

    `strategy` is "square_root" (lower triangular Toeplitz, the square root of prefix sums), "toeplitz" (`entries` are
    the coefficients of the first column; the rest is 0), "full_tree" (every aligned block inside the horizon, right
    children too; `tree_aggregation` holds left nodes alone) or "explicit" (`entries` are the rows of a lower triangular
    matrix, one after the other). `leaf` states how far one record moves one element, and the noise of a row. A record
    enters up to `participations` elements, `separation` or more apart, by any vectors within the leaf's sensitivity.
    Shape: values are (..., length) with a length of at most `horizon`, time last, and every coordinate before it is one
    of the element's; outputs are (..., rows). Shorter streams are filled with zeros.
    Guarantee: the stream may depend on everything released before. `loss` is Gaussian, with mu the leaf's times the
    move of the rows. It is exact for "square_root", for coefficients that are not negative and fall, for one
    participation, for bands no wider than the separation, for a full tree with up to 32 participations at separations
    up to 32, and where all schedules can be counted out and signs agree. Elsewhere it is an upper bound, within some
    percent for columns that are not negative, and `attained_loss` says what a schedule attains; `gap` is the ratio of
    the two.
    Edge cases: the length of the stream must not depend on the data. What is computed from the rows (prefix sums, the
    estimate of Honaker) is post-processing.
    Raises: ValueError: a horizon outside 1 .. 65,536 (512 where the matrix is explicit), entries that do not fit the
        strategy, or a leaf that is not Gaussian noise number by number.
    Source: Denisov, McMahan, Rush, Smith and Thakurta (2022), Theorem 2.1; Choquette-Choo et al. (2023).

    >>> leaf = Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="add_remove")
    >>> round(Matrix(strategy="square_root", horizon=16, leaf=leaf).squared_move.upper, 9)
    1.943878847
    """

    name: ClassVar[str] = "matrix"

    strategy: Strategy
    horizon: Annotated[int, Within(at_least=1, at_most=_LARGEST)]
    leaf: AdditiveMechanism
    entries: tuple[float, ...] = ()
    participations: Count = 1
    separation: Count = 1

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "entries", _entries(self.strategy, self.entries, self.horizon))
        if not is_additive(self.leaf):
            raise FieldError(
                "leaf", f"Expected leaf={self.leaf!r} to be a mechanism that adds noise, such as Gaussian."
            )
        if self.leaf.item_axes != 0 or not isinstance(self.leaf.loss(), GaussianLoss):
            raise FieldError("leaf", f"Expected leaf={self.leaf!r} to add Gaussian noise number by number.")

    @classmethod
    def calibrated(
        cls,
        claim: Claim,
        *,
        strategy: Strategy,
        horizon: int,
        leaf: AdditiveMechanism,
        entries: tuple[float, ...] = (),
        participations: int = 1,
        separation: int = 1,
    ) -> Self:
        """Return the mechanism over `leaf`'s query with the least noise that the accountant certifies for `claim`."""
        mechanism = cls(
            strategy=strategy,
            horizon=horizon,
            leaf=leaf,
            entries=entries,
            participations=participations,
            separation=separation,
        )
        return mechanism.scaled(smallest_noise(mechanism, claim))

    @property
    def neighbours(self) -> Neighbours:
        """The relation that the leaf's sensitivity is stated for."""
        return self.leaf.neighbours

    @property
    def squared_move(self) -> Moved:
        """Bounds on the squared move of all rows, in units of the leaf's sensitivity, and the schedule that attains."""
        return squared_move(self.strategy, self.horizon, self.entries, self.participations, self.separation)

    @property
    def gap(self) -> float:
        """The ratio of the proved move to the attained one: 1, up to rounding, where the loss is exact."""
        return math.sqrt(self.squared_move.upper / self.squared_move.lower)

    def loss(self) -> Loss:
        """Return a loss that dominates every pair of neighbours."""
        return self._loss(self.squared_move.upper, math.inf)

    def attained_loss(self) -> Loss:
        """Return the loss of the pair that `worst_pair` describes."""
        return self._loss(self.squared_move.lower, 0.0)

    def _loss(self, square: float, towards: float) -> Loss:
        """Return the leaf's loss as often as a whole square says, or a Gaussian one with mu rounded in a direction."""
        single = self.leaf.loss()
        assert isinstance(single, GaussianLoss)  # noqa: S101 - checked when the object was made
        if self.squared_move.whole:
            return ComposedLoss(parts=((single, int(square)),))
        mu = single.mu * math.sqrt(square)
        for _ in range(4):
            mu = math.nextafter(mu, towards)
        return GaussianLoss(mu=mu)

    def rows(self, value: Array) -> Array:
        """Return the rows of the strategy for a stream. Shape: (..., length) in, (..., rows) out.

        Raises: ValueError: more elements than the horizon.
        """
        stream = np.asarray(value, np.float64)
        if stream.ndim < 1 or stream.shape[-1] > self.horizon:
            raise ValueError(f"Expected at most horizon={self.horizon} elements on the last axis, got {stream.shape}.")
        padded = np.zeros((*stream.shape[:-1], self.horizon))
        padded[..., : stream.shape[-1]] = stream
        if self.strategy == "full_tree":
            return np.moveaxis(tree_sums(np.moveaxis(padded, -1, 0), self.horizon), 0, -1)
        return convolved(padded, self._coefficients) if self._coefficients else padded @ self.matrix().T

    @property
    def _coefficients(self) -> tuple[float, ...]:
        """Return the coefficients of a Toeplitz matrix; nothing for another one."""
        if self.strategy == "square_root":
            return square_root_coefficients(self.horizon)
        return self.entries if self.strategy == "toeplitz" else ()

    def matrix(self) -> Array:
        """Return the strategy matrix, rows by elements."""
        return strategy_matrix(self.strategy, self.horizon, self.entries)

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the noisy rows of the stream `value`. Shape: (..., length) in, (..., rows) out.

        Raises: ValueError: more elements than the horizon.
        """
        return self.leaf.release(self.rows(value), rng)

    def prefix_sums(self, output: Array) -> Array:
        """Return the least-squares estimate of every prefix sum from noisy rows: post-processing.

        Shape: (..., rows) in, (..., horizon) out. Memory: rows times horizon numbers, but for Toeplitz matrices.
        Source: Honaker (2015) for trees.
        """
        if self._coefficients and self._coefficients[0]:
            return convolved(np.asarray(output), tuple(np.cumsum(inverse(self._coefficients, self.horizon)).tolist()))
        sums = np.cumsum(np.linalg.pinv(self.matrix()), axis=0)
        return np.asarray(output) @ sums.T

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density of the rows `output`, summed over them."""
        return self.leaf.log_density(output, self.rows(value)).sum(axis=-1)

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        return replace(self, leaf=self.leaf.scaled(factor))

    def worst_pair(self) -> tuple[Array, Array]:
        """Return two streams that differ in the attaining schedule, each element by as much as the leaf allows."""
        moved, still = self.leaf.worst_pair()  # type: ignore[attr-defined]
        first, second = np.full(self.horizon, float(still)), np.full(self.horizon, float(still))
        move = self.squared_move
        for element, sign in zip(move.elements, move.signs, strict=True):
            (first if sign > 0 else second)[element] = float(moved)
        return first, second

    def cyclic_poisson(self, rate: float, label: str) -> Repeat:
        """Return the declaration of this stream with batches sampled from fixed public groups in turn.

        Records are split into as many public groups as the strategy has bands, and step j samples group j mod bands at
        `rate`, each record by itself. A record is then met by ceil(horizon / bands) releases on Poisson samples, each
        with the move of the largest column.
        Raises: ValueError: a strategy that is no band.
        Source: Choquette-Choo et al. (2023, amplified banded matrix factorisation), Theorem 4; cited, not proved here.
        """
        bands = len(self.entries) if self.strategy == "toeplitz" else self.horizon
        if bands >= self.horizon:
            raise ValueError(f"Expected strategy={self.strategy!r} to be a band: 'toeplitz' with few coefficients.")
        alone = replace(self, participations=1, separation=1)
        leaf = self.leaf.loss()
        assert isinstance(leaf, GaussianLoss)  # noqa: S101 - checked when the object was made
        loss = alone.loss()
        mu = loss.mu if isinstance(loss, GaussianLoss) else leaf.mu * math.sqrt(alone.squared_move.upper) * (1 + 1e-15)
        noise = Gaussian(stddev=1.0, l2_sensitivity=mu, neighbours=self.neighbours)
        part = Subsample(part=Release(label=label, mechanism=noise), rate=rate)
        return Repeat(part=part, times=-(-self.horizon // bands))


def _entries(strategy: Strategy, entries: object, horizon: int) -> tuple[float, ...]:
    """Return checked entries of a strategy, as floats."""
    if not isinstance(entries, tuple) or not all(isinstance(e, int | float) and math.isfinite(e) for e in entries):
        raise FieldError("entries", f"Expected entries={entries!r:.60} to be a tuple of finite numbers.")
    numbers = tuple(float(entry) for entry in entries)
    if strategy in ("square_root", "full_tree") and numbers:
        raise FieldError("entries", f"Expected no entries for strategy={strategy!r}, which names them all.")
    if strategy == "toeplitz" and (not numbers or len(numbers) > horizon or not any(numbers)):
        raise FieldError("entries", f"Expected entries to be 1 .. {horizon} coefficients, not all of them 0.")
    if strategy == "explicit":
        if horizon > _LARGEST_MATRIX or len(numbers) != horizon**2:
            raise FieldError(
                "entries",
                f"Expected entries to be {horizon} rows of {horizon} numbers, for a horizon of at most "
                f"{_LARGEST_MATRIX}; got {len(numbers)} numbers.",
            )
        matrix = np.reshape(numbers, (horizon, horizon))
        if np.triu(matrix, 1).any() or not matrix.any():
            raise FieldError("entries", "Expected entries of a lower triangular matrix, not all 0: no row looks ahead.")
    return numbers


EXAMPLES = (
    Matrix(strategy="square_root", horizon=8, leaf=Gaussian(stddev=3.0, l2_sensitivity=1.0, neighbours="replace_one")),
    Matrix(
        strategy="full_tree",
        horizon=8,
        leaf=Gaussian(stddev=5.0, l2_sensitivity=1.0, neighbours="add_remove"),
        participations=2,
        separation=2,
    ),
    Matrix(
        strategy="toeplitz",
        horizon=8,
        leaf=Gaussian(stddev=6.0, l2_sensitivity=1.0, neighbours="add_remove"),
        entries=(1.0, -0.9),
        participations=3,
    ),
)
