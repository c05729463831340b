"""Small samples, secret steps and shuffles whose truth is enumerated: every data set, every neighbour, every output.

A step draws from one of two laws, the second one if any record that it sees is 1. Records are bits; neighbours add or
remove one, set one to zero or replace one. Laws of outputs are sums over all samples or places, in plain products.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

import dpaudit as dp
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Positions, Scheme
from dpaudit.model.moves import relation_below
from mechanisms import Finite, RandomisedResponse

Law = dict[tuple[int, ...], float]
Bits = tuple[int, ...]
SIZES: dict[Scheme, tuple[str, ...]] = {
    "poisson": (),
    "without_replacement": ("population", "batch_size"),
    "truncated_poisson": ("population", "batch_bound"),
    "with_replacement": ("population", "batch_size"),
}


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A system: its kind, relation, largest number of records, the two laws as counts, and sizes."""

    kind: str
    neighbours: Neighbours
    records: int
    first: tuple[int, ...]
    second: tuple[int, ...]
    scheme: Scheme = "poisson"
    size: int = 1
    rate: float = 0.5
    steps: int = 1
    epochs: int = 1
    per_epoch: int = 1
    positions: Positions = "fresh"
    times: int = 1

    def declaration(self) -> dp.Declaration:
        """Return the declaration, written without a look at the records."""
        if self.kind == "shuffle":
            odds = self.first[0] / self.first[1]
            whole = self._node(dp.Release(label="any", mechanism=RandomisedResponse(epsilon=math.log(odds))))
        else:
            inside = relation_below(self._sampled(dp.Stated(epsilon=1.0, source="a place")), 0, self.neighbours)
            laws = tuple(map(float, self.first)), tuple(map(float, self.second))
            whole = self._node(
                dp.Release(label="any", mechanism=Finite(first=laws[0], second=laws[1], neighbours=inside))
            )
        return dp.Repeat(part=whole, times=self.times) if self.times > 1 else whole

    def _node(self, part: dp.Release | dp.Stated) -> dp.Subsample | dp.Allocate | dp.Shuffle:
        """Return the node over a part."""
        return dp.Shuffle(part=part, users=self.records) if self.kind == "shuffle" else self._sampled(part)

    def _sampled(self, part: dp.Release | dp.Stated) -> dp.Subsample | dp.Allocate:
        """Return a sample or secret steps over a part."""
        if self.kind == "allocate":
            return dp.Allocate(
                part=part,
                steps=self.steps,
                epochs=self.epochs,
                per_epoch=self.per_epoch,
                positions=self.positions,
            )
        known = {"population": self.records, "batch_bound": self.size, "batch_size": self.size}
        sizes = {name: known[name] for name in SIZES[self.scheme]}
        return dp.Subsample(
            part=part,
            rate=self.rate,
            scheme=self.scheme,
            population=sizes.get("population"),
            batch_size=sizes.get("batch_size"),
            batch_bound=sizes.get("batch_bound"),
        )

    def delta(self, epsilon: float) -> float:
        """Return the largest delta over all pairs of neighbours, in both orders."""
        return max(hockey_stick(a, b, epsilon) for p, q in self._laws() for a, b in ((p, q), (q, p)))

    def _laws(self) -> list[tuple[Law, Law]]:
        """Return the laws of all outputs, for every pair of neighbours."""
        return [(self._whole(a), self._whole(b)) for a, b in pairs(self.neighbours, self.records)]

    def _whole(self, bits: Bits) -> Law:
        """Return the law of all rounds."""
        return power(self._round(bits), self.times)

    def _round(self, bits: Bits) -> Law:
        """Return the law of one round on a data set."""
        if self.kind == "shuffle":
            return self._counts(bits)
        if self.kind == "allocate":
            return self._at_places(bits)
        law: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for chosen, chance in self._samples(len(bits)):
            for outputs, mass in self._said((max((bits[i] for i in chosen), default=0),)).items():
                law[outputs] += chance * mass
        return dict(law)

    def _said(self, answers: Bits) -> Law:
        """Return the law of the outputs for several answers."""
        laws = [[count / sum(law) for count in law] for law in (self.first, self.second)]
        return {
            outputs: math.prod(laws[held][said] for said, held in zip(outputs, answers, strict=True))
            for outputs in product(range(len(self.first)), repeat=len(answers))
        }

    def _samples(self, records: int) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield every sample and its probability."""
        everybody = range(records)
        if self.scheme == "without_replacement":
            whole = math.comb(records, self.size)
            yield from ((chosen, 1 / whole) for chosen in combinations(everybody, self.size))
        elif self.scheme == "with_replacement":
            yield from ((chosen, records**-self.size) for chosen in product(everybody, repeat=self.size))
        else:
            for held in product((False, True), repeat=records):
                chosen = tuple(i for i in everybody if held[i])
                chance = self.rate ** len(chosen) * (1 - self.rate) ** (records - len(chosen))
                kept = min(len(chosen), self.size if self.scheme == "truncated_poisson" else records)
                for cut in combinations(chosen, kept):
                    yield cut, chance / math.comb(len(chosen), kept)

    def _at_places(self, bits: Bits) -> Law:
        """Return the law of all epochs, every record at secret places of its own."""
        places = list(combinations(range(self.steps), self.per_epoch))
        law: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for found in product(places, repeat=len(bits)):
            seen = [[bit for bit, at in zip(bits, found, strict=True) if step in at] for step in range(self.steps)]
            answers = tuple(max(held, default=0) for held in seen)
            again = answers * (self.epochs if self.positions == "repeated" else 1)
            for outputs, mass in self._said(again).items():
                law[outputs] += mass * len(places) ** -len(bits)
        return power(dict(law), self.epochs if self.positions == "fresh" else 1)

    def _counts(self, bits: Bits) -> Law:
        """Return the law of the number of ones among shuffled reports."""
        law: defaultdict[tuple[int, ...], float] = defaultdict(float)
        for outputs, mass in self._said(bits).items():
            law[(sum(outputs),)] += mass
        return dict(law)


def pairs(neighbours: Neighbours, records: int) -> Iterator[tuple[Bits, Bits]]:
    """Yield all neighbouring data sets of up to so many records; the first record differs."""
    for others in product((0, 1), repeat=records - 1):
        if neighbours == "add_remove":
            yield from (((bit, *others), others) for bit in (0, 1))
        else:
            yield (1, *others), (0, *others)


def power(law: Law, times: int) -> Law:
    """Return the law of independent copies."""
    whole: Law = {(): 1.0}
    for _ in range(times):
        whole = {(*a, *b): p * q for (a, p), (b, q) in product(whole.items(), law.items())}
    return whole


def hockey_stick(p: Law, q: Law, epsilon: float) -> float:
    """Return the sum of (P - e^epsilon Q)_+."""
    return math.fsum(max(0.0, mass - math.exp(epsilon) * q.get(outputs, 0.0)) for outputs, mass in p.items())


def draw(rng: np.random.Generator) -> Drawn:
    """Return a random system."""
    kind = str(rng.choice(["subsample", "subsample", "allocate", "shuffle"]))
    if kind == "shuffle":
        odds, records, times = int(rng.integers(2, 15)), int(rng.integers(1, 7)), int(rng.integers(1, 3))
        laws = (odds, 1), (1, odds)
        return Drawn(kind=kind, neighbours="replace_one", records=records, times=times, first=laws[0], second=laws[1])
    outcomes = int(rng.integers(2, 4))
    least = 1 if rng.random() < 0.8 else 0
    head, *rest = (int(n) for n in rng.integers(least, 9, outcomes))
    first = (head + 1, *rest)
    second = first[::-1] if rng.random() < 0.6 else (*(int(n) for n in rng.integers(1, 9, outcomes)),)
    if kind == "subsample":
        return _sample(rng, first, second)
    steps = int(rng.integers(1, 4))
    return Drawn(
        kind=kind,
        neighbours=_one(rng, ("add_remove", "zero_out", "replace_one")),
        records=int(rng.integers(1, 4 if outcomes < 3 else 3)),
        first=first,
        second=second,
        steps=steps,
        epochs=int(rng.integers(1, 3)),
        per_epoch=int(rng.integers(1, steps + 1)),
        positions="fresh" if rng.random() < 0.5 else "repeated",
    )


def _sample(rng: np.random.Generator, first: tuple[int, ...], second: tuple[int, ...]) -> Drawn:
    """Return a random sample, of a scheme and a relation that are covered."""
    records, times = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    scheme: Scheme = (*SIZES,)[int(rng.integers(0, 4))]
    known: dict[Scheme, tuple[Neighbours, ...]] = {
        "poisson": ("add_remove", "zero_out", "replace_one"),
        "without_replacement": ("replace_one", "add_remove"),
        "truncated_poisson": ("add_remove",),
        "with_replacement": ("replace_one",),
    }
    size = int(rng.integers(1, records))
    rate = {"without_replacement": size / records, "with_replacement": size / records}
    return Drawn(
        kind="subsample",
        neighbours=_one(rng, known[scheme]),
        records=records,
        first=first,
        second=second,
        scheme=scheme,
        size=size,
        rate=rate.get(scheme, float(np.round(rng.uniform(0.05, 0.9), 3))),
        times=times,
    )


def _one(rng: np.random.Generator, names: tuple[Neighbours, ...]) -> Neighbours:
    """Return one of several relations."""
    return names[int(rng.integers(0, len(names)))]
