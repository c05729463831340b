"""The interface of a mechanism: the object that is sampled is the object that is certified."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpaudit.model.claim import Neighbours
from dpaudit.model.losses import Loss, ThreeLaws
from dpaudit.model.losses.any_order import in_any_order
from dpaudit.model.losses.plain import as_carried, plain_losses
from dpaudit.model.losses.report_laws import ReportLaws

Array = NDArray[Any]


@runtime_checkable
class Mechanism(Protocol):
    """Noise added to a query, as a frozen dataclass whose public fields say everything about it.

    Sensitivities are for `neighbours` and are taken as attained: some pair of neighbouring data sets
    moves the query exactly so far.

    >>> from mechanisms import Laplace
    >>> isinstance(Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove"), Mechanism)
    True
    """

    name: ClassVar[str]

    @property
    def neighbours(self) -> Neighbours:
        """The relation that the sensitivity is stated for."""
        ...

    def loss(self) -> Loss:
        """Return the exact privacy loss of one release for the worst-case pair.

        Of a finite loss that differs between both orders the larger curve of both is taken, as each query may choose
        which law the record has; `DiscreteLoss(one_order=True)` says that the record has the first one in every
        release. Of another loss that differs the first law is the record's.
        """
        ...

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return `value` with noise; any leading shape counts independent releases."""
        ...

    def log_density(self, output: Array, value: Array) -> Array:
        """Return the log density (or log probability) of each `output` when the query's answer is `value`."""
        ...

    def scaled(self, factor: float) -> Self:
        """Return the same query with `factor` times the noise."""
        ...


_MEMBERS = ("name", "neighbours", "loss", "release", "scaled")


def is_mechanism(value: object) -> TypeGuard[Mechanism]:
    """Return whether `value` is a mechanism: what `isinstance` says, a hundred times sooner.

    >>> from mechanisms import Laplace
    >>> is_mechanism(Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")), is_mechanism(1.0)
    (True, False)
    """
    return hasattr(value, "log_density") and all(map(partial(hasattr, value), _MEMBERS))


@runtime_checkable
class AdditiveMechanism(Mechanism, Protocol):
    """A mechanism that adds noise independent of the answer, so that `release` of zeros is the noise itself.

    `item_axes` is the number of trailing axes that one draw fills: 0 where every coordinate has its own noise.
    """

    item_axes: ClassVar[int]


def is_additive(value: object) -> TypeGuard[AdditiveMechanism]:
    """Return whether `value` adds noise independent of the answer: what `isinstance` says, a hundred times sooner.

    >>> from mechanisms import Laplace
    >>> is_additive(Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")), is_additive(1.0)
    (True, False)
    """
    return is_mechanism(value) and hasattr(value, "item_axes")


@runtime_checkable
class DominatedMechanism(Mechanism, Protocol):
    """A mechanism whose `loss` dominates every pair of neighbours without being the loss of one of them."""

    def attained_loss(self) -> Loss:
        """Return the exact loss of some pair of neighbours: what lower bounds may build on."""
        ...


def attained_loss(mechanism: Mechanism) -> Loss:
    """Return the loss of some pair of neighbours: the exact one, or what a dominated mechanism says of itself."""
    return _carried(mechanism, mechanism.attained_loss() if is_dominated(mechanism) else mechanism.loss())


def dominating_loss(mechanism: Mechanism) -> Loss:
    """Return the loss that dominates every pair of neighbours: of a plug-in what a certificate carries of it."""
    return _carried(mechanism, mechanism.loss())


def _carried(mechanism: Mechanism, loss: Loss) -> Loss:
    """Return a loss of `mechanism`, without the theorems of a plug-in, which no certificate carries."""
    return as_carried(loss) if rests_on_plug_ins(mechanism) else loss


def is_dominated(mechanism: Mechanism) -> TypeGuard[DominatedMechanism]:
    """Return whether the loss of `mechanism` dominates every pair without being that of one of them."""
    return hasattr(mechanism, "attained_loss")


@runtime_checkable
class OpposedMechanism(Mechanism, Protocol):
    """A mechanism, stated for a record against none, that knows its loss where a sampled record is replaced."""

    def opposed(self, rate: float) -> tuple[Loss, Loss]:
        """Return a loss that dominates every such pair, and one that records attain which move the answer apart."""
        ...

    def three_laws(self, *, above: bool) -> ThreeLaws:
        """Return what is shown of no record, of one and of its opposite, for samples that hold several releases."""
        ...


def is_opposed(mechanism: Mechanism) -> TypeGuard[OpposedMechanism]:
    """Return whether `mechanism` knows its loss where a Poisson sample's record is replaced."""
    return hasattr(mechanism, "opposed")


@runtime_checkable
class ReportingMechanism(Mechanism, Protocol):
    """A mechanism that knows the laws of one report for every value, so that a shuffle can count what hides it."""

    def report_laws(self) -> ReportLaws:
        """Return the laws of one report."""
        ...


def is_reporting(mechanism: Mechanism) -> TypeGuard[ReportingMechanism]:
    """Return whether `mechanism` knows the laws of one report."""
    return hasattr(mechanism, "report_laws")


@runtime_checkable
class ChainedMechanism(Mechanism, Protocol):
    """A mechanism that knows a law of its own kind which dominates records that change one after another."""

    def of_records(self, records: int) -> Self:
        """Return the mechanism whose loss dominates `records` of them; ValueError beyond the mechanism's range."""
        ...


def of_records(mechanism: Mechanism, records: int) -> Mechanism | None:
    """Return the mechanism whose loss dominates `records` that change one after another; None where none is known.

    >>> from mechanisms import DiscreteGaussian, Gaussian
    >>> of_records(DiscreteGaussian(stddev=5.0, l2_sensitivity=2, neighbours="add_remove"), 3)
    DiscreteGaussian(stddev=5.0, l2_sensitivity=6, neighbours='add_remove')
    >>> of_records(Gaussian(stddev=5.0, l2_sensitivity=2.0, neighbours="add_remove"), 3) is None
    True
    """
    if records == 1:
        return mechanism
    if not isinstance(mechanism, ChainedMechanism) or is_plugged_in(mechanism):
        return None
    try:
        return mechanism.of_records(records)
    except ValueError:
        return None


_SHIPPED = ("mechanisms", "algorithms")


def is_plugged_in(value: object) -> TypeGuard[Mechanism]:
    """Return whether `value` is a mechanism that no checker can derive, so that its loss is its supplier's word.

    Edge cases: a class that inherits a shipped mechanism's name counts as that mechanism; see `changes_the_law`. One
    that was put into our packages, and that the checker does not know, counts as plugged in.

    >>> from mechanisms import Laplace
    >>> is_plugged_in(Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove"))
    False
    """
    if not is_mechanism(value):
        return False
    name: object = value.name  # a plug-in's may be anything
    return not (isinstance(name, str) and _ships(type(value), name))


@lru_cache
def _ships(kind: type, name: str) -> bool:
    """Return whether a class has a shipped mechanism's name from our packages, and the checker derives its losses."""
    ours = (each for each in kind.__mro__ if each.__module__.partition(".")[0] in _SHIPPED)
    return any(vars(each).get("name") == name for each in ours) and _derived(name)


_FREE = ("name", "calibrated", "release", "log_density", "scaled", "worst_pair")
"""The members of a shipped mechanism that do not say what a release loses; samples tell whether it keeps its law."""


@lru_cache
def changes_the_law(kind: type[Mechanism]) -> bool:
    """Return whether a class has a shipped mechanism's name, and changes what its loss is computed from.

    It does so by a member in place of a shipped one, or by a further field, which a checker does not know.

    >>> from mechanisms import Laplace
    >>> class Half(Laplace):
    ...     def loss(self):
    ...         return type(super().loss())(shift=self.l1_sensitivity / (2 * self.scale))
    >>> changes_the_law(Laplace), changes_the_law(Half)
    (False, True)
    """
    if not _ships(kind, str(kind.name)):
        return False
    shipped = next(each for each in kind.__mro__ if each.__module__.partition(".")[0] in _SHIPPED)
    own, named = ({field.name for field in fields(each)} if is_dataclass(each) else set() for each in (shipped, kind))
    above = kind.__mro__[: kind.__mro__.index(shipped)]
    replaced = {member for each in above for member in vars(each) if not member.startswith("__")} & set(dir(shipped))
    return bool(named - own or replaced - own - set(_FREE))


def with_leaves(mechanism: Mechanism) -> Iterator[Mechanism]:
    """Yield `mechanism`, the leaf that it is made of, the leaf of that leaf, and so on.

    >>> from mechanisms import Gaussian, TreeAggregation
    >>> noise = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove")
    >>> [part.name for part in with_leaves(TreeAggregation(horizon=4, leaf=noise))]
    ['tree_aggregation', 'gaussian']
    """
    part: object = mechanism
    while is_mechanism(part):
        yield part
        part = getattr(part, "leaf", None)


def rests_on_plug_ins(mechanism: Mechanism) -> bool:
    """Return whether `mechanism`, or a leaf at any depth inside it, is a plug-in."""
    return any(map(is_plugged_in, with_leaves(mechanism)))


def moves_alone(mechanism: Mechanism) -> bool:
    """Return whether a record counts as moving a release by its whole sensitivity beside no other record.

    So it is where noise is added to an answer, as to a sum. Of a choice, a table or a plug-in nothing is known.

    >>> from mechanisms import Exponential, Gaussian
    >>> moves_alone(Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove"))
    True
    >>> moves_alone(Exponential(epsilon=1.0, linf_sensitivity=1.0, neighbours="add_remove"))
    False
    """
    *_, noise = with_leaves(mechanism)
    return is_additive(noise) and not rests_on_plug_ins(mechanism)


@lru_cache
def _derived(name: str) -> bool:
    """Return whether the checker derives a mechanism's losses."""
    from dpaudit.verifier.shape import derives  # noqa: PLC0415  # it loads SciPy, which few uses of a mechanism need

    return derives(name)


def stated_losses(mechanism: Mechanism) -> dict[str, list[dict[str, Any]]]:
    """Return, as plain data, the loss that bounds one release (`upper`) and the one that some pair attains (`lower`).

    A certificate carries both for a plug-in mechanism, because no checker can derive them.

    >>> from mechanisms import Gaussian
    >>> stated_losses(Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove"))["upper"]
    [{'loss': 'gaussian', 'times': 1, 'mu': 0.5}]
    """
    upper = in_any_order(mechanism.loss(), mechanism.neighbours)
    return {"upper": plain_losses(upper), "lower": plain_losses(attained_loss(mechanism))}
