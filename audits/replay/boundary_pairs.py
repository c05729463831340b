"""Neighbours at which a function begins to behave differently, found by bisection along chains of neighbours.

A chain leads from the data to few records, or to records that are all alike, by one record at a time. Where calls
without noise at two of its places differ in an exception, in lines, in draws or in the form of the output, some step
between them makes the difference: a threshold on a count or a total, an exact answer for few records, an early stop.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from audits.replay.coverage_pairs import Pair
from audits.replay.record_values import categories_of, numbers_of, same, shown
from audits.replay.records import Records, records_of
from dpaudit.model.claim import Neighbours

Traits = Callable[[Any], frozenset[tuple[int, Hashable]]]
"""traits(data) -> what one call without noise shows, each trait with its rank; those of rank 0 are looked at first."""

_PLACES, _COLUMNS, _MOST_CALLS, _MOST_PAIRS = 8, 3, 100, 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chain:
    """Data sets by their place from 0 to `steps`; those beside each other are neighbours. `says` names the pair."""

    steps: int
    at: Callable[[int], Any]
    says: Callable[[int], str]


@dataclass(slots=True, kw_only=True, eq=False)
class _Walk:
    """What calls at the places of one chain show, each called once."""

    chain: Chain
    traits: Traits
    known: dict[int, frozenset[tuple[int, Hashable]]] = field(default_factory=dict[int, Any])

    def at(self, place: int) -> frozenset[tuple[int, Hashable]]:
        """Return the traits at a place."""
        if place not in self.known:
            self.known[place] = self.traits(self.chain.at(place))
        return self.known[place]

    def boundary(self, low: int, high: int, trait: tuple[int, Hashable]) -> int:
        """Return a place between two, of which one shows the trait, after which that changes."""
        there = trait in self.at(low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if (trait in self.at(middle)) is there else (low, middle)
        return low


def boundary_pairs(data: Any, relation: Neighbours, unit: str | None, traits: Traits) -> tuple[Pair, ...]:
    """Return pairs of neighbours around `data` between which some trait of a call begins or ends.

    At most eight pairs, each for a trait of its own, after some 100 calls. None where a person is replaced by a copy of
    another one, as the copies would have one name.

    >>> def many(rows):
    ...     return frozenset({(0, len(rows) > 20)})
    >>> [pair.says for pair in boundary_pairs([0.5] * 40, "add_remove", None, many)]
    ['21 or 20 records, the last removed first']
    """
    records = records_of(data, unit)
    chains = _shrinking(records) if relation == "add_remove" else _replacing(records) if unit is None else ()
    found, known, calls = dict[str, Pair](), set[Hashable](), 0
    for chain in chains:
        walk = _Walk(chain=chain, traits=traits)
        for place in _boundaries(walk, known):
            says = chain.says(place)
            found.setdefault(says, Pair(says=says, neighbours=(chain.at(place), chain.at(place + 1))))
        calls += len(walk.known)
        if calls >= _MOST_CALLS or len(found) >= _MOST_PAIRS:
            break
    return tuple(found.values())[:_MOST_PAIRS]


def _boundaries(walk: _Walk, known: set[Hashable]) -> Iterator[int]:
    """Yield the places of a chain after which a trait changes that is not known yet; `known` is extended."""
    places = sorted({round(place) for place in np.linspace(0, walk.chain.steps, _PLACES + 1)})
    for low, high in pairwise(places):
        changed = sorted(walk.at(low) ^ walk.at(high), key=lambda trait: (trait[0], repr(trait)))[:2]
        for trait in changed:
            if trait not in known:
                known.add(trait)
                yield walk.boundary(low, high, trait)


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

    def at(place: int) -> Any:
        gone = {row for number in order[:place] for row in groups[number]}
        return records.taken([row for row in range(len(records.data)) if row not in gone])

    def says(place: int) -> str:
        return f"{len(groups) - place} or {len(groups) - place - 1} records, {words}"

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
            yield owner[row], f"like the one with {shown(values[row])}{name}"


def _alike(records: Records, donor: int, words: str) -> Chain:
    """Return the chain that removes one record after another from a data set of copies of `donor`."""
    size = len(records.data)

    def at(place: int) -> Any:
        return records.taken([*records.groups[donor]] * (size - place))

    return Chain(steps=size, at=at, says=lambda place: f"{size - place} or {size - place - 1} records {words}")


def _copying(records: Records, donor: int, words: str) -> Chain:
    """Return the chain that gives one record after another the rows of `donor`."""
    groups = records.groups

    def at(place: int) -> Any:
        rows = [row for number, own in enumerate(groups) for row in (groups[donor] if number < place else own)]
        return records.taken(rows)

    return Chain(steps=len(groups), at=at, says=lambda place: f"{place + 1} or {place} first records {words}")


def _columns(records: Records) -> Iterator[tuple[str, list[Any]]]:
    """Yield (its name as it stands in a sentence, values) of the first columns that are not the person's number."""
    chosen = [(name, values) for name, values in records.columns.items() if name != records.unit]
    yield from ((f" of {name!r}" if name else "", values) for name, values in chosen[:_COLUMNS])
