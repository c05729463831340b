"""Small explicit systems whose truth is enumerated: every data set, every neighbouring pair, every adaptive adversary.

A system has records with a value, a public part and a public position; each release asks for a number, from a table of
what each value contributes, as a sum, a clipped sum or a maximum over records. The declaration is written from the
largest moves that any pair causes; the truth is taken from the pairs themselves, with rational numbers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np

from dpaudit import Claim, Group, Local, Mechanism, Parallel, Release, Repeat, Sequential
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import GaussianLoss
from mechanisms import Gaussian, Laplace, RandomisedResponse, TreeAggregation

RELATION: Neighbours = "replace_one"
KINDS = ("laplace", "gaussian", "response")
Steps = tuple[tuple[tuple[float, ...], ...], ...]
"""Step by step the alternatives, each the epsilons of its releases."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One release: what each value contributes, how records are joined, and how often it is asked."""

    label: str
    table: tuple[int, ...]
    form: str
    noise: int
    times: int = 1
    part: int | None = None  # of a node of parallel parts, by the record's public part
    choice: int | None = None  # of a node of alternatives, which the adversary picks

    def answers(self, system: "System", values: tuple[int, ...]) -> tuple[int, ...]:
        """Return the numbers that get noise: one, or one for every tree node or message."""
        held = [self.table[v] for i, v in enumerate(values) if self.part is None or system.parts[i] == self.part]
        if self.form == "local":
            return tuple(held)
        if self.form == "tree":
            return tuple(sum(held[max(0, n - (n & -n)) : n]) for n in range(1, len(values) + 1))
        if self.form == "max":
            return (max(held, default=0),)
        return (min(sum(held), 2) if self.form == "clipped" else sum(held),)

    def moves(self, system: "System", pair: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[Any, ...]:
        """Return how far each number moves between the two data sets."""
        return tuple(abs(a - b) for a, b in zip(*(self.answers(system, values) for values in pair), strict=True))


@dataclass(frozen=True, kw_only=True)
class System:
    """Records with public parts, the asks about them, and how many records one person owns."""

    kind: str
    parts: tuple[int, ...]
    values: int
    asks: tuple[Ask, ...]
    person: int = 1

    def pairs(self, owned: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield all pairs of data sets that differ in the records of one person who owns `owned` at most."""
        indices = range(len(self.parts))
        for values in product(range(self.values), repeat=len(self.parts)):
            for changed in combinations(indices, owned):
                for new in product(range(self.values), repeat=owned):
                    other = list(values)
                    for i, v in zip(changed, new, strict=True):
                        other[i] = v
                    if tuple(other) != values:
                        yield values, tuple(other)

    def sensitivity(self, ask: Ask) -> int:
        """Return the largest move of one number by one record."""
        return _sensitivity(self, ask)

    def cost(self, ask: Ask, moves: tuple[Any, ...]) -> Fraction | int:
        """Return the exact loss of moves, in the additive unit of the system's noise."""
        if self.kind == "gaussian":
            return sum(Fraction(move, ask.noise) ** 2 for move in moves) * ask.times
        return sum(Fraction(move, ask.noise) for move in moves) * ask.times

    def total(self, pair: tuple[tuple[int, ...], tuple[int, ...]]) -> Any:
        """Return what the adversary sees of a pair at worst: of alternatives the dearest one."""
        fixed = [self.cost(ask, ask.moves(self, pair)) for ask in self.asks if ask.choice is None]
        chosen = [self.cost(ask, ask.moves(self, pair)) for ask in self.asks if ask.choice is not None]
        return sum(fixed, Fraction(0)) + max(chosen, default=Fraction(0))

    def truth(self) -> tuple[Fraction | int, tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return the largest cost over all pairs, and a pair that has it."""
        return max((self.total(pair), pair) for pair in self.pairs(self.person))

    def adaptive_delta(self, epsilon: float) -> float:
        """Return the largest delta over pairs and adaptive adversaries, by all outputs of randomised responses."""
        patterns = {tuple(ask.moves(self, pair) for ask in self.asks) for pair in self.pairs(1)}
        return max(_best(self._asked(moves), 1.0, 1.0, math.exp(epsilon)) for moves in patterns)

    def _asked(self, moves: tuple[tuple[Any, ...], ...]) -> Steps:
        """Return step by step the alternatives, each the epsilons of its releases; 0 for one that is not moved."""
        costs = [(ask, (float(sum(move)) / ask.noise,) * ask.times) for ask, move in zip(self.asks, moves, strict=True)]
        fixed = tuple((epsilons,) for ask, epsilons in costs if ask.choice is None)
        chosen = tuple(epsilons for ask, epsilons in costs if ask.choice is not None)
        return (*fixed, chosen) if chosen else fixed

    def together(self, pair: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[str, ...]:
        """Return the labels that the pair moves by their whole sensitivities, all its records in one direction."""
        changed = [i for i, (a, b) in enumerate(zip(*pair, strict=True)) if a != b]
        return tuple(ask.label for ask in self.asks if self._whole(ask, pair, changed))

    def _whole(self, ask: Ask, pair: tuple[tuple[int, ...], tuple[int, ...]], changed: list[int]) -> bool:
        """Replay the pair, record by record: each moves its number by the whole, and the moves add up."""
        if len(changed) != self.person or (ask.part is not None and any(self.parts[i] != ask.part for i in changed)):
            return False
        whole, moves = self.sensitivity(ask), ask.moves(self, pair)
        if ask.form == "tree":  # a record counts where it lies in the most nodes, and one record is credited
            return int(sum(move >= whole for move in moves)) >= len(self.parts).bit_length()
        if ask.form == "local":
            return sorted(moves)[-self.person :] == [whole] * self.person
        return moves == (whole * self.person,)

    def declaration(self) -> Declaration:
        """Return the declaration of the system, written from the sensitivities alone."""
        fixed = [self.node(ask) for ask in self.asks if ask.part is None and ask.choice is None]
        held = {ask.part: [self.node(a) for a in self.asks if a.part == ask.part] for ask in self.asks}
        parted = tuple(Sequential(parts=tuple(nodes)) for part, nodes in held.items() if part is not None)
        chosen = [self.node(ask) for ask in self.asks if ask.choice is not None]
        if parted:
            fixed.append(Parallel(parts=parted, key="the public part of a record"))
        if chosen:
            fixed.append(Parallel(parts=tuple(chosen), key="what the adversary picks after earlier outputs"))
        tree = Sequential(parts=tuple(fixed))
        return Group(part=tree, size=self.person) if self.person > 1 else tree

    def node(self, ask: Ask) -> Declaration:
        """Return one release, as often as it is asked."""
        released = Release(label=ask.label, mechanism=self.mechanism(ask))
        leaf = Local(part=released) if ask.form == "local" else released
        return Repeat(part=leaf, times=ask.times) if ask.times > 1 else leaf

    def mechanism(self, ask: Ask) -> Mechanism:
        """Return the noise of one ask."""
        move = float(self.sensitivity(ask))
        noise: Laplace | Gaussian
        if self.kind == "laplace":
            noise = Laplace(scale=float(ask.noise), l1_sensitivity=move, neighbours=RELATION)
        elif self.kind == "gaussian":
            noise = Gaussian(stddev=float(ask.noise), l2_sensitivity=move, neighbours=RELATION)
        else:
            return RandomisedResponse(epsilon=1 / ask.noise)
        return TreeAggregation(horizon=len(self.parts), leaf=noise) if ask.form == "tree" else noise


@lru_cache(maxsize=64)
def _sensitivity(system: System, ask: Ask) -> int:
    """Return the largest move of one number by one record, over all data sets."""
    return max(max(ask.moves(system, pair), default=0) for pair in system.pairs(1))


def draw(rng: np.random.Generator) -> System:
    """Return a random system in which every ask is moved by some record."""
    while True:
        system = _drawn(rng)
        if all(system.sensitivity(ask) for ask in system.asks):
            return system


def _drawn(rng: np.random.Generator) -> System:
    """Return a random system: two to four records, two or three values, one to three asks."""
    kind, shape = str(rng.choice(KINDS)), str(rng.choice(["plain", "plain", "parts", "choices"]))
    records = int(rng.integers(2, 5))
    person = 2 if kind != "response" and rng.random() < 0.2 else 1
    values = 2 if records == 4 or kind == "response" else int(rng.integers(2, 4))
    shared = kind == "response" or shape != "plain"  # trees and messages hold all records
    forms = ["max"] if kind == "response" else ["sum", "clipped", "max"] + ([] if shared else ["tree", "local"])
    asks = tuple(
        Ask(
            label=f"ask {i}",
            table=tuple(int(v) for v in rng.integers(0, 2 if kind == "response" else 3, values)),
            form=str(rng.choice(forms)),
            noise=int(rng.integers(2, 9)),
            times=int(rng.choice([1, 1, 2])),
            part=i % 2 if shape == "parts" else None,
            choice=i if shape == "choices" else None,
        )
        for i in range(int(rng.integers(1, 4)))
    )
    parts = tuple(int(p) for p in rng.integers(0, 2, records))
    return System(kind=kind, parts=parts, values=values, asks=asks, person=person)


def conditions_of(system: System, pair: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[Condition, ...]:
    """Return what a replay of one named pair has checked: the releases that it moves together."""
    labels = system.together(pair)
    return (Condition(kind="attained", about=labels, status="checked"),) if labels else ()


def claim_of(system: System, cost: Any, factor: float) -> tuple[Any, ...]:
    """Return a claim at `factor` times what the truth needs, and whether it holds, exactly."""
    if system.kind == "gaussian":
        mu, delta = math.sqrt(cost), 1e-3
        epsilon = factor * _epsilon_of(mu, delta)
        holds = GaussianLoss(mu=mu).hockey_stick(epsilon) <= delta
        return Claim(epsilon=epsilon, delta=delta, neighbours=RELATION), holds
    if system.kind == "response" and factor < 1:  # at an epsilon below the pure one, by all outputs
        epsilon = float(cost) / 2
        delta = system.adaptive_delta(epsilon)
        return Claim(epsilon=epsilon, delta=delta * 2 * factor, neighbours=RELATION), factor >= 0.5
    epsilon = float(cost) * factor
    return Claim(epsilon=epsilon, neighbours=RELATION), Fraction(epsilon) >= cost


def _epsilon_of(mu: float, delta: float) -> float:
    """Return the epsilon of a Gaussian loss by bisection."""
    low, high = 0.0, 50 * mu + 50
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if GaussianLoss(mu=mu).hockey_stick(middle) > delta else (low, middle)
    return high


def _best(steps: Steps, p: float, q: float, ratio: float) -> float:
    """Return the largest sum of (P - ratio Q)+ over outputs, the adversary picking an alternative at every step."""
    if not steps:
        return max(0.0, p - ratio * q)
    return max(_released(option, steps[1:], p, q, ratio) for option in steps[0])


def _released(epsilons: tuple[float, ...], steps: Steps, p: float, q: float, ratio: float) -> float:
    """Return the same where the releases of one alternative come first."""
    if not epsilons:
        return _best(steps, p, q, ratio)
    likely, rare = 1 / (1 + math.exp(-epsilons[0])), 1 / (1 + math.exp(epsilons[0]))
    branches = ((likely, rare), (rare, likely))
    return sum(_released(epsilons[1:], steps, p * up, q * down, ratio) for up, down in branches)
