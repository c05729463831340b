"""Neighbours at which a function begins to behave differently, found by bisection along chains of neighbours.

A chain leads from the data to few records, or to records that are all alike, by one record at a time. Where calls
without noise at two of its places differ in an exception, in lines, in draws or in the form of the output, some step
between them makes the difference: a threshold on a count or a total, an exact answer for few records, an early stop.
Where a number moves further between two places than elsewhere, some step makes it jump: a choice, an overflow, a scale.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from audits.replay.coverage_pairs import Pair
from audits.replay.record_values import categories_of, numbers_of, same, shown
from audits.replay.records import Records, records_of
from dpaudit.model.claim import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one call without noise shows: traits, each with its rank, those of rank 0 first; and numbers by name."""

    traits: frozenset[tuple[int, Hashable]] = frozenset()
    numbers: Mapping[str, float] = field(default_factory=dict[str, float])


Seeing = Callable[[Any], Sight]
"""seeing(data) -> what one call without noise shows"""

_PLACES, _COLUMNS, _MOST_CALLS, _MOST_PAIRS = 8, 3, 120, 16
_JUMPS, _JUMP = 2, 1e-6
"""Of each chain so many numbers are followed that jump most, by more than this share of their size."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chain:
    """Data sets by their place from 0 to `steps`; those beside each other are neighbours.

    `says` names the pair. Where records become all alike, `beside(step)` yields pairs of the data set at a place and
    neighbours that hold a record of another kind.
    """

    steps: int
    at: Callable[[int], Any]
    says: Callable[[int], str]
    beside: Callable[[int], Iterator[Pair]] | None = None

    def pairs(self, step: int) -> Iterator[Pair]:
        """Yield the step after a place, and records of other kinds at both of its ends."""
        ends = self.at(step), self.at(step + 1)
        yield Pair(says=self.says(step), neighbours=ends, edge="mixed" if self.beside is None else "equal")
        if self.beside is not None:
            yield from (*self.beside(step), *self.beside(step + 1))


@dataclass(slots=True, kw_only=True, eq=False)
class _Walk:
    """What calls at the places of one chain show, each called once."""

    chain: Chain
    seeing: Seeing
    sights: dict[int, Sight] = field(default_factory=dict[int, Sight])

    def at(self, step: int) -> Sight:
        """Return what a call at a place shows."""
        if step not in self.sights:
            self.sights[step] = self.seeing(self.chain.at(step))
        return self.sights[step]

    def boundary(self, low: int, high: int, trait: tuple[int, Hashable]) -> int:
        """Return a place between two, of which one shows the trait, after which that changes."""
        there = trait in self.at(low).traits
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if (trait in self.at(middle).traits) is there else (low, middle)
        return low

    def speed(self, name: str, low: int, high: int) -> float:
        """Return how far a number moves with each step between two places; 0 where it is not known."""
        first, last = (self.at(step).numbers.get(name, np.nan) for step in (low, high))
        moved = (last - first) / (high - low)
        return moved if np.isfinite(moved) else 0.0

    def jumps(self, places: Sequence[int]) -> list[tuple[str, float, int, int]]:
        """Return (number, usual speed, place, place) for the numbers that move far more between two places."""
        rated: list[tuple[float, tuple[str, float, int, int]]] = []
        for name, value in self.at(places[0]).numbers.items():
            speeds = np.array([self.speed(name, *ends) for ends in pairwise(places)])
            usual = float(np.median(speeds))
            apart = np.abs(speeds - usual)
            at = int(apart.argmax())
            if apart[at] * self.chain.steps > _JUMP * (abs(value) + abs(usual)):
                rated.append((apart[at] / (abs(usual) + apart.mean()), (name, usual, places[at], places[at + 1])))
        return [jump for _, jump in sorted(rated, key=lambda candidate: -candidate[0])[:_JUMPS]]

    def jump(self, name: str, usual: float, low: int, high: int) -> int:
        """Return a place between two after which a number moves otherwise than it usually does."""
        while high - low > 1:
            middle = (low + high) // 2
            parts = ((low, middle), (middle, high))
            low, high = max(parts, key=lambda part: abs(self.speed(name, *part) - usual) * (part[1] - part[0]))
        return low


def boundary_pairs(
    data: Any, relation: Neighbours, unit: str | None, seeing: Seeing, unread: frozenset[str] = frozenset()
) -> tuple[Pair, ...]:
    """Return pairs of neighbours around `data` between which some trait of a call begins or ends, or a number jumps.

    At most 16 pairs, after some 120 calls: steps of chains, and records of other kinds beside the data sets of a step.
    None where a person is replaced by a copy of another one, as the copies would have one name.

    >>> def many(rows):
    ...     return Sight(traits=frozenset({(0, len(rows) > 20)}))
    >>> [pair.says for pair in boundary_pairs([0.5] * 40, "add_remove", None, many)]
    ['21 or 20 records, the last removed first', '21 or 20 records with 0.5']
    """
    records = records_of(data, unit, unread)
    chains = _shrinking(records) if relation == "add_remove" else _replacing(records) if unit is None else ()
    pairs, calls = dict[str, Pair](), 0
    of_mixed, of_alike = set[Hashable](), set[Hashable]()
    for chain in chains:
        walk = _Walk(chain=chain, seeing=seeing)
        for step in dict.fromkeys(_boundaries(walk, of_mixed if chain.beside is None else of_alike)):
            pairs |= {pair.says: pair for pair in chain.pairs(step) if pair.says not in pairs}
        calls += len(walk.sights)
        if calls >= _MOST_CALLS or len(pairs) >= _MOST_PAIRS:
            break
    return tuple(pairs.values())[:_MOST_PAIRS]


def _boundaries(walk: _Walk, traits_seen: set[Hashable]) -> Iterator[int]:
    """Yield the places of a chain after which a trait changes that is not known yet, or a number jumps.

    `traits_seen` is extended.
    """
    places = sorted({round(step) for step in np.linspace(0, walk.chain.steps, _PLACES + 1)})
    for low, high in pairwise(places):
        changed = walk.at(low).traits ^ walk.at(high).traits
        for trait in sorted(changed, key=lambda trait: (trait[0], repr(trait)))[:2]:
            if trait not in traits_seen:
                traits_seen.add(trait)
                yield walk.boundary(low, high, trait)
    if len(places) > 2:
        yield from (walk.jump(*jump) for jump in walk.jumps(places))


def _shrinking(records: Records) -> Iterator[Chain]:
    """Yield chains that remove one record after another, also of data sets of equal records."""
    groups = records.groups
    numbers = range(len(groups))
    yield _removing(records, numbers[::-1], "the last removed first")
    if records.unit is None:
        yield from (_alike(records, number, words) for number, words in _extremes(records))
    for name, values in _columns(records):
        measured = numbers_of(values)
        if measured is not None and len(set(values)) > 2:
            sizes = [float(np.nan_to_num(np.max(measured[list(rows)]))) for rows in groups]
            order = sorted(numbers, key=lambda number: sizes[number])
            yield _removing(records, order[::-1], f"the largest{name} removed first")
            yield _removing(records, order, f"the smallest{name} removed first")
    for name, values in _columns(records):
        for value in list(categories_of(values))[: -_COLUMNS - 1 : -1]:
            order = [number for number in numbers if any(same(values[row], value) for row in groups[number])]
            yield _removing(records, order, f"those with {shown(value)}{name} removed first")


def _removing(records: Records, order: Sequence[int], words: str) -> Chain:
    """Return the chain that removes records in an order."""
    groups = records.groups

    def at(step: int) -> Any:
        gone = {row for number in order[:step] for row in groups[number]}
        return records.taken([row for row in range(len(records.data)) if row not in gone])

    def says(step: int) -> str:
        return f"{len(groups) - step} or {len(groups) - step - 1} records, {words}"

    return Chain(steps=len(order), at=at, says=says)


def _replacing(records: Records) -> Iterator[Chain]:
    """Yield chains that replace one record after another by one that is extreme in a column or common in it."""
    yield from (_copying(records, number, words) for number, words in _extremes(records))


def _extremes(records: Records) -> Iterator[tuple[int, str]]:
    """Yield records that are extreme in a column or common in it, with words that name them."""
    owner = {row: number for number, rows in enumerate(records.groups) for row in rows}
    for name, values in _columns(records):
        measured = numbers_of(values)
        names = list(categories_of(values))
        ends = [values.index(category) for category in names[-1:] + names[:1]]
        if measured is not None and np.isfinite(measured).any():
            ends = [int(np.nanargmax(measured)), int(np.nanargmin(measured))]
        for row in dict.fromkeys(ends):
            yield owner[row], f"with {shown(values[row])}{name}"


def _alike(records: Records, donor: int, words: str) -> Chain:
    """Return the chain that removes one record after another from a data set of copies of `donor`."""
    size = len(records.data)

    def at(step: int) -> Any:
        return records.taken([*records.groups[donor]] * (size - step))

    def beside(step: int) -> Iterator[Pair]:
        copies = [*records.groups[donor]] * (size - step)
        for number, other in _kinds(records, donor):
            says = f"{_records(size - step)} {words}, and one {other} or none"
            more = records.taken([*copies, *records.groups[number]])
            yield Pair(says=says, neighbours=(more, at(step)), edge="another kind")

    def says(step: int) -> str:
        return f"{size - step} or {size - step - 1} records {words}"

    return Chain(steps=size, at=at, says=says, beside=beside)


def _copying(records: Records, donor: int, words: str) -> Chain:
    """Return the chain that gives one record after another the rows of `donor`."""
    groups = records.groups

    def rows(step: int) -> list[int]:
        return [row for number, own in enumerate(groups) for row in (groups[donor] if number < step else own)]

    def at(step: int) -> Any:
        return records.taken(rows(step))

    def beside(step: int) -> Iterator[Pair]:
        for number, other in _kinds(records, donor) if step else ():
            says = f"{step} first records {words}, or one of them {other}"
            changed = records.taken([*rows(step)[1:], *groups[number]])
            yield Pair(
                says=says, neighbours=(records.taken([*rows(step)[1:], *groups[donor]]), changed), edge="another kind"
            )

    return Chain(
        steps=len(groups),
        at=at,
        says=lambda step: f"{step + 1} or {step} first records {words}",
        beside=beside,
    )


def _records(number: int) -> str:
    """Return so many records, in words.

    >>> _records(1), _records(3)
    ('1 record', '3 records')
    """
    return f"{number} record{'' if number == 1 else 's'}"


def _kinds(records: Records, donor: int) -> Iterator[tuple[int, str]]:
    """Yield records that are extreme, common or in the middle of a column, other than `donor`, with words."""
    owner = {row: number for number, rows in enumerate(records.groups) for row in rows}
    words_of = dict(_extremes(records))
    for name, values in _columns(records):
        measured = numbers_of(values)
        if measured is not None and np.isfinite(measured).any():
            row = int(np.argsort(measured, kind="stable")[np.isfinite(measured).sum() // 2])
            words_of.setdefault(owner[row], f"with {shown(values[row])}{name}")
    columns = [values for name, values in records.columns.items() if name != records.unit]

    def content(number: int) -> str:
        return repr([values[row] for row in records.groups[number] for values in columns])

    yield from ((number, words) for number, words in words_of.items() if content(number) != content(donor))


def _columns(records: Records) -> Iterator[tuple[str, list[Any]]]:
    """Yield (its name as it stands in a sentence, values) of the first columns that are not the person's number."""
    chosen = [(name, values) for name, values in records.columns.items() if name != records.unit]
    yield from ((f" in {name!r}" if name else "", values) for name, values in chosen[:_COLUMNS])
