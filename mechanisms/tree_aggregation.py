"""Running sums of a stream, each made of a few noisy tree nodes."""

from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from dpaudit import Claim, smallest_noise
from dpaudit.arguments import settled
from dpaudit.checks import Count, settle
from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import ComposedLoss, GaussianLoss, Loss
from dpaudit.model.mechanism import AdditiveMechanism, Array, is_additive, is_dominated
from mechanisms._draws.counters import TreeBank, TreePath
from mechanisms._matrices.fenwick import node_values, parted_nodes, prefix_sums, touched_nodes, worst_plan
from mechanisms.gaussian import Gaussian
from mechanisms.laplace import Laplace

_LARGEST_SEPARATION = 16


@settled
class TreeAggregation:
    """Releases every prefix sum of a stream of up to `horizon` elements, with one draw of `leaf` noise a tree node.

    `leaf` states how far one record moves one element, and the noise of a node. `signs` says which elements one
    record moves, in order of time: (1,) is a single element; (1, -1) an element and its later removal, by exactly
    as much, so that shared nodes cancel; (1, 1, 1) up to three participations. They lie `separation` elements apart
    or more, and the record may stop early.
    Shape: values are (..., horizon, *item) with as many item axes as `leaf.item_axes`; a shorter stream is allowed.
    Guarantee: the stream may depend on everything released before (for Gaussian leaves Denisov et al. 2022, Theorem
    2.1; for pure ones node by node). A record's loss is that of `squared_nodes` leaf releases: exactly the nodes it
    touches where signs alternate; with a Gaussian leaf the sum of its squared node counts for any signs.
    Edge cases: the length of the stream must not depend on the data; a node's noise is drawn once and never again.
    Raises: ValueError: a horizon below 1, a separation outside 1 .. 16, a leaf that adds no noise, signs other than
        +1 and -1, or signs that do not alternate with a leaf that is not Gaussian.
    Source: Dwork, Naor, Pitassi and Rothblum (2010); Chan, Shi and Song (2011).

    >>> leaf = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove")
    >>> tree = TreeAggregation(horizon=1000, leaf=leaf)
    >>> tree.levels, tree.touched(4)
    (10, (4, 8, 16, 32, 64, 128, 256, 512))
    """

    name: ClassVar[str] = "tree_aggregation"

    horizon: Count
    leaf: AdditiveMechanism
    signs: tuple[int, ...] = (1,)
    separation: Count = 1

    def __post_init__(self) -> None:
        settle(self)
        if self.separation > _LARGEST_SEPARATION:
            raise ValueError(
                f"Expected separation={self.separation} to be at most {_LARGEST_SEPARATION}, beyond which exact counts "
                "take too long; a smaller separation admits more schedules, so its loss is an upper bound."
            )
        if not is_additive(self.leaf):
            raise ValueError(f"Expected leaf={self.leaf!r} to be a mechanism that adds noise, such as Gaussian.")
        signs: object = self.signs
        if not isinstance(signs, tuple) or not signs or any(sign not in (1, -1) for sign in signs):
            raise ValueError(f"Expected signs={self.signs!r} to be a non-empty tuple of +1 and -1.")
        alternating = all(a == -b for a, b in pairwise(self.signs))
        if not alternating and not isinstance(self.leaf.loss(), GaussianLoss):
            raise ValueError(
                f"Expected signs={self.signs!r} to alternate for a leaf of {self.leaf.name} noise; declare several "
                "participations of one sign as a group of records."
            )

    @classmethod
    def calibrated(
        cls,
        claim: Claim,
        *,
        horizon: int,
        leaf: AdditiveMechanism,
        signs: tuple[int, ...] = (1,),
        separation: int = 1,
    ) -> Self:
        """Return the tree over `leaf`'s query with the least noise that the accountant certifies for `claim`."""
        tree = cls(horizon=horizon, leaf=leaf, signs=signs, separation=separation)
        return tree.scaled(smallest_noise(tree, claim))

    @property
    def neighbours(self) -> Neighbours:
        """The relation that the leaf's sensitivity is stated for."""
        return self.leaf.neighbours

    @property
    def levels(self) -> int:
        """The largest number of nodes that hold one element: floor(log2 horizon) + 1."""
        return self.horizon.bit_length()

    @property
    def squared_nodes(self) -> int:
        """The largest sum over nodes of (signed count of one record's elements)^2; `levels` for one element."""
        return worst_plan(self.horizon, self.signs, self.separation)[0]

    def touched(self, element: int) -> tuple[int, ...]:
        """Return the nodes that hold `element`, counted from 1.

        Raises: ValueError: an element beyond the horizon.
        """
        if not 1 <= element <= self.horizon:
            raise ValueError(f"Expected element={element} in 1 .. {self.horizon}.")
        return touched_nodes(self.horizon, element)

    def parted(self, first: int, second: int) -> tuple[int, ...]:
        """Return the nodes that hold one of two elements only: what an element and its removal shift.

        Raises: ValueError: an element beyond the horizon.
        """
        for element in (first, second):
            self.touched(element)
        return parted_nodes(self.horizon, first, second)

    def loss(self) -> ComposedLoss:
        """Return the exact loss of the whole stream for the worst elements a record can move."""
        return self._repeated(self.leaf.loss())

    def attained_loss(self) -> ComposedLoss:
        """Return what some pair attains; it differs from `loss` only where the leaf's own two losses do."""
        return self._repeated(self.leaf.attained_loss() if is_dominated(self.leaf) else self.leaf.loss())

    def _repeated(self, single: Loss) -> ComposedLoss:
        """Return the loss of one node, met once for each of `squared_nodes`."""
        parts = single.parts if isinstance(single, ComposedLoss) else ((single, 1),)
        return ComposedLoss(parts=tuple((loss, times * self.squared_nodes) for loss, times in parts))

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return all noisy prefix sums of the stream `value`, in the same shape.

        Raises: ValueError: more elements than the capacity.
        """
        elements = self._time_first(np.asarray(value))
        noise = self._time_first(self.leaf.release(np.zeros_like(np.asarray(value)), rng))
        return self._time_back(np.cumsum(elements, axis=0) + prefix_sums(noise))

    def counter(self, shape: tuple[int, ...], rng: np.random.Generator) -> "TreeCounter":
        """Return the same release one element at a time, for streams that depend on its outputs.

        Shape: `shape` is that of one element over all runs, (n_runs, *item). Memory: (levels + 1) such arrays.
        """
        return TreeCounter(tree=self, shape=shape, rng=rng)

    def path(self, rng: np.random.Generator) -> TreePath:
        """Return the noise of one run's prefix sums, drawn block by block as its stream grows."""
        return TreePath(leaf=self.leaf, horizon=self.horizon, rng=rng)

    def bank(self, n_counters: int, rng: np.random.Generator) -> TreeBank:
        """Return `n_counters` independent trees, each with a clock of its own, for streams of unequal length."""
        return TreeBank(leaf=self.leaf, horizon=self.horizon, n_counters=n_counters, rng=rng)

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density of the prefix sums `output`, summed over time; sum over what item axes are left.

        The nodes are a linear map of determinant 1 of the prefix sums, so their densities multiply.
        """
        sums = np.cumsum(self._time_first(np.asarray(value)), axis=0)
        prefixes, sums = np.broadcast_arrays(self._time_first(np.asarray(output)), _padded(sums, np.ndim(output)))
        nodes = self.leaf.log_density(self._time_back(node_values(prefixes)), self._time_back(node_values(sums)))
        return nodes.sum(axis=-1)

    def scaled(self, factor: float) -> Self:
        """Return the same tree with `factor` times the noise."""
        return replace(self, leaf=self.leaf.scaled(factor))

    def worst_pair(self) -> tuple[Array, Array]:
        """Return two streams that differ in the worst elements, by as much as the leaf allows."""
        moved, still = (np.asarray(answer) for answer in _worst_pair(self.leaf))
        first, second = (np.zeros((self.horizon, *np.shape(moved)), dtype=moved.dtype) for _ in range(2))
        _, elements = worst_plan(self.horizon, self.signs, self.separation)
        for element, sign in zip(elements, self.signs, strict=False):
            first[element - 1], second[element - 1] = (moved, still) if sign > 0 else (still, moved)
        return first, second

    def _time_first(self, values: Array) -> Array:
        """Return a view with the time axis first, or refuse a stream beyond the capacity."""
        axis = values.ndim - 1 - self.leaf.item_axes
        if axis < 0 or values.shape[axis] > self.horizon:
            raise ValueError(
                f"Expected a stream of at most horizon={self.horizon} elements on axis {-1 - self.leaf.item_axes}, "
                f"got shape {values.shape}; state the capacity with every element that may come, removals too."
            )
        return np.moveaxis(values, axis, 0)

    def _time_back(self, values: Array) -> Array:
        """Return a view with the time axis just before the item axes."""
        return np.moveaxis(values, 0, values.ndim - 1 - self.leaf.item_axes)


class TreeCounter:
    """One run (or many in lock-step) of a tree, fed element by element; the only mutable thing about it."""

    def __init__(self, *, tree: TreeAggregation, shape: tuple[int, ...], rng: np.random.Generator) -> None:
        self.tree, self.shape, self.rng, self.length = tree, shape, rng, 0
        self._sum: Any = 0
        self._noise: list[Any] = [0] * tree.levels

    @property
    def noise(self) -> Array:
        """The noise that was drawn for the latest sum: of all its nodes. Shape: that of one element."""
        return self._noise[(self.length & -self.length).bit_length() - 1]

    def step(self, value: Array) -> Array:
        """Return the noisy sum of everything fed so far, `value` included. Shape: that of one element.

        Raises: ValueError: the tree is full, or `value` does not have the shape of one element over all runs.
        """
        if self.length == self.tree.horizon:
            raise ValueError(f"Expected at most horizon={self.tree.horizon} elements; the tree is full.")
        element = np.asarray(value)
        if element.shape != self.shape:
            raise ValueError(f"Expected an element of shape {self.shape}, got {element.shape}.")
        self.length += 1
        level = (self.length & -self.length).bit_length() - 1
        parent = self.length & (self.length - 1)
        carried = self._noise[(parent & -parent).bit_length() - 1] if parent else 0
        self._noise[level] = carried + self.tree.leaf.release(np.zeros_like(element), self.rng)
        self._sum = self._sum + element
        return self._sum + self._noise[level]


def _worst_pair(leaf: Any) -> tuple[Any, Any]:
    """Return the leaf's own worst pair."""
    return leaf.worst_pair()


def _padded(values: Array, ndim: int) -> Array:
    """Return `values` with single axes after the first, so that it broadcasts against `ndim` axes."""
    return values.reshape(values.shape[:1] + (1,) * (ndim - values.ndim) + values.shape[1:])


EXAMPLES = (
    TreeAggregation(horizon=13, leaf=Gaussian(stddev=3.0, l2_sensitivity=1.0, neighbours="replace_one")),
    TreeAggregation(horizon=8, leaf=Laplace(scale=5.0, l1_sensitivity=1.0, neighbours="add_remove")),
    TreeAggregation(horizon=16, leaf=Laplace(scale=8.0, l1_sensitivity=1.0, neighbours="replace_one"), signs=(1, -1)),
    TreeAggregation(
        horizon=11,
        leaf=Gaussian(stddev=6.0, l2_sensitivity=1.0, neighbours="replace_one"),
        signs=(1, 1, 1),
        separation=3,
    ),
)
