"""What one pair of neighbouring data sets attains: lower bounds, each with its witness.

A sensitivity is stated for one query, and some pair attains it. Several queries may need several pairs, so that losses
add up only where one pair moves all of them: copies of one query, or releases that a checked condition names together.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TypeAlias, assert_never

from dpaudit.accounting.dominance import worst
from dpaudit.accounting.subsampling import sampled_attained
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import (
    Billboard,
    Cells,
    Declaration,
    Group,
    Local,
    Parallel,
    PostProcess,
    Release,
    Repeat,
    Sequential,
    Stated,
    Subsample,
)
from dpaudit.model.losses import Composition, GaussianLoss, LaplaceLoss, SampledGaussianLoss, SimpleLoss
from dpaudit.model.mechanism import DominatedMechanism, Mechanism
from dpaudit.model.witness import Attainment, Entry, Witness

_MOST = 64
"""How many plans of one pair are kept; a lower bound may leave any of them out."""

Query: TypeAlias = tuple[object, ...]
"""What one pair moves as a whole: a label with the query's own parameters, or all labels of a set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attained:
    """The losses that one pair attains, and the witness that says which pair."""

    composition: Composition
    witness: Witness


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """The losses of one query on one plan of participation."""

    composition: Composition
    entries: tuple[Entry, ...] = ()

    def __add__(self, other: "_Plan") -> "_Plan":
        return _Plan(composition=self.composition + other.composition, entries=self.entries + other.entries)


_Found: TypeAlias = dict[Query, tuple[_Plan, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walk:
    """Which releases one pair moves, and where the walk over the tree is.

    `labels` are moved together (all where it is empty); None asks for each query by itself. `records` is how many
    records of one person move together, which is known of labels only.
    """

    labels: tuple[str, ...] | None
    neighbours: Neighbours
    path: str = "root"
    records: int = 1

    def below(self, part: int = 0, *, records: int | None = None) -> "_Walk":
        """Return the walk one node further down."""
        return replace(self, path=f"{self.path}.{part}", records=self.records if records is None else records)

    def query(self, release: Release) -> Query | None:
        """Return what moves as a whole with `release`; None where it is not moved."""
        if self.labels is None:
            return (release.label, *query_of(release.mechanism))
        return (self.labels,) if not self.labels or release.label in self.labels else None


def attained_by_one_pair(
    node: Declaration, neighbours: Neighbours, conditions: tuple[Condition, ...] = ()
) -> tuple[Attained, ...]:
    """Return what single pairs of neighbours attain: one query each, and what a checked condition names together.

    Guarantee: each composition is the loss of one pair, if each sensitivity is attained by some pair and each checked
    condition of kind "attained" holds. Compositions that another one dominates are left out, and of many plans the
    last ones.
    Edge cases: nothing where no pair is known to move any release.

    >>> from dpaudit import Sequential
    >>> from mechanisms import Gaussian
    >>> noise = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one")
    >>> both = Sequential(parts=(Release(label="sums", mechanism=noise), Release(label="counts", mechanism=noise)))
    >>> [found.composition.events for found in attained_by_one_pair(both, "replace_one")]
    [1]
    >>> named = Condition(kind="attained", about=("sums", "counts"), status="checked")
    >>> [found.composition.events for found in attained_by_one_pair(both, "replace_one", (named,))]
    [2]
    """
    together = dict.fromkeys(held.about for held in conditions if held.kind == "attained" and held.status == "checked")
    found = list(_witnessed(_plans(node, _Walk(labels=None, neighbours=neighbours)), "by_definition"))
    for labels in together:
        found += attained_together(node, neighbours, labels, "checked")
    return _undominated(found)


def attained_together(
    node: Declaration, neighbours: Neighbours, labels: tuple[str, ...], attained: Attainment
) -> tuple[Attained, ...]:
    """Return what a pair attains that moves all releases of `labels` at once, or all there are where it is empty.

    Of a person with several records every record moves them by as much, all in one direction.
    """
    return _undominated(list(_witnessed(_plans(node, _Walk(labels=labels, neighbours=neighbours)), attained)))


def query_of(mechanism: object) -> Query:
    """Return what a mechanism adds its noise to: its kind, and the parameters that scaling the noise leaves alone.

    >>> from mechanisms import Laplace
    >>> less, more = (Laplace(scale=b, l1_sensitivity=1.0, neighbours="replace_one") for b in (1.0, 3.0))
    >>> query_of(less) == query_of(more)
    True
    """
    if not isinstance(mechanism, Mechanism):
        return (mechanism,)
    for factor in (2.0, 0.5):  # noise near the end of the range can be scaled one way only
        with suppress(ValueError, OverflowError):
            return _common(mechanism, mechanism.scaled(factor))
    return (mechanism,)


def _common(one: object, other: object) -> Query:
    """Return the name of a mechanism and those of its parameters that another of its kind shares."""
    if not is_dataclass(one):
        return (one,)
    pairs = [(entry.name, getattr(one, entry.name), getattr(other, entry.name)) for entry in fields(one)]
    shared = ((name, _common(a, b) if isinstance(a, Mechanism) else a) for name, a, b in pairs if _alike(a, b))
    return (type(one).__name__, *shared)


def _alike(one: object, other: object) -> bool:
    """Return whether two parameters are equal, or mechanisms inside a mechanism."""
    return isinstance(one, Mechanism) or one == other


def _witnessed(found: _Found, attained: Attainment) -> Iterator[Attained]:
    """Yield each plan that moves something, with its witness."""
    for query, plans in found.items():
        labels = query[0] if isinstance(query[0], tuple) else (query[0],)
        for plan in plans:
            if plan.composition.parts:
                witness = Witness(labels=labels, plan=plan.entries, attained=attained)
                yield Attained(composition=plan.composition, witness=witness)


def _plans(node: Declaration, walk: _Walk) -> _Found:
    """Return the plans on which one pair moves each query, by the query."""
    match node:
        case Release(mechanism=mechanism):
            query = walk.query(node)
            return {} if query is None else {query: (_Plan(composition=_moved(mechanism, walk.records)),)}
        case Stated():
            return {}
        case Sequential(parts=parts):
            return _in_sequence(_plans(part, walk.below(i)) for i, part in enumerate(parts))
        case Repeat(part=part, times=times):
            return _each(_plans(part, walk.below()), lambda composition: composition * times)
        case Parallel(parts=parts, visibility=visibility):
            entered = parts if visibility == "public" else ()
            return _either(_entered(_plans(part, walk.below(i)), walk.path, i) for i, part in enumerate(entered))
        case Cells(inside=inside, touched=touched):
            return _cells(inside, touched, walk)
        case Group(part=part, size=size):
            return _plans(part, walk.below(records=1 if walk.labels is None else walk.records * size))
        case Local(part=part):
            found = _plans(part, walk.below(records=1))
            return _each(found, lambda composition: composition * walk.records)
        case Subsample(part=part, rate=rate, scheme=scheme):
            found = _plans(part, walk.below(records=1))
            return _each(found, lambda composition: sampled_attained(composition, rate, scheme))
        case PostProcess(part=part) | Billboard(part=part):
            return _plans(part, walk.below())
        case _:
            assert_never(node)


def _moved(mechanism: Mechanism, records: int) -> Composition:
    """Return what one release attains; a single shift adds up over records, any other loss counts one record.

    The records of a person may enter different nodes of a tree, so that a composed loss does not grow as a whole.
    """
    loss = mechanism.attained_loss() if isinstance(mechanism, DominatedMechanism) else mechanism.loss()
    if isinstance(loss, GaussianLoss | LaplaceLoss):
        return Composition.of(loss.group(records))
    return Composition.of(loss)


def _each(found: _Found, change: Callable[[Composition], Composition]) -> _Found:
    """Return `found` with every composition changed."""
    return {
        query: tuple(replace(plan, composition=change(plan.composition)) for plan in plans)
        for query, plans in found.items()
    }


def _in_sequence(parts: Iterable[_Found]) -> _Found:
    """Return every sum of one plan from each part that moves the query."""
    total: _Found = {}
    for found in parts:
        for query, plans in found.items():
            before = total.get(query)
            total[query] = plans if before is None else _pruned([a + b for a in before for b in plans])
    return total


def _either(parts: Iterable[_Found]) -> _Found:
    """Return the plans of all parts, of which the record enters one."""
    gathered: dict[Query, list[_Plan]] = {}
    for found in parts:
        for query, plans in found.items():
            gathered.setdefault(query, []).extend(plans)
    return {query: _pruned(plans) for query, plans in gathered.items()}


def _entered(found: _Found, path: str, part: int) -> _Found:
    """Return `found` with the entry that leads to it."""
    entry = Entry(path=path, part=part)
    return {query: tuple(replace(p, entries=(entry, *p.entries)) for p in plans) for query, plans in found.items()}


def _cells(inside: Declaration, touched: Declaration, walk: _Walk) -> _Found:
    """Return the plans of a cell array: the same cell, or one cell emptied and another one filled."""
    below = replace(walk.below(1, records=1), neighbours="add_remove")
    alone = _entered(_plans(touched, below), walk.path, 1)
    if walk.neighbours == "add_remove":
        return alone
    same = _entered(_plans(inside, walk.below(0, records=1)), walk.path, 0)
    return _either((same, _each(alone, lambda composition: composition + composition.reversed())))


def _pruned(plans: list[_Plan]) -> tuple[_Plan, ...]:
    """Return plans that no other one dominates, the first of equal ones."""
    first = {plan.composition: plan for plan in reversed(plans)}
    return tuple(first[composition] for composition in _heaviest(first))


def _undominated(found: list[Attained]) -> tuple[Attained, ...]:
    """Return what no other one dominates, the first of equal ones."""
    first = {one.composition: one for one in reversed(found)}
    return tuple(first[composition] for composition in _heaviest(first))


def _heaviest(compositions: Iterable[Composition]) -> tuple[Composition, ...]:
    """Return compositions that no other one dominates, up to the number that is kept, the heaviest first."""
    ordered = sorted(compositions, key=lambda composition: (_weight(composition), repr(composition)), reverse=True)
    return worst(tuple(ordered[:_MOST]))


def _weight(composition: Composition) -> tuple[float, float]:
    """Return a rough size by which compositions are sorted: mass at infinity, then squared losses."""
    mass = sum(loss.infinite_mass * times for loss, times in composition.parts)
    return mass, sum(_size(loss) ** 2 * times for loss, times in composition.parts)


def _size(loss: SimpleLoss) -> float:
    """Return how far a loss reaches, roughly."""
    match loss:
        case GaussianLoss(mu=mu):
            return mu
        case SampledGaussianLoss(mu=mu, rate=rate):
            return mu * rate
        case _:
            return loss.supremum
