"""Random honest certificates over all nodes and mechanisms, each certified and verified under a limit of time.

`python -m tests.checker.drawn_certificates 3000` draws so many and counts the outcomes; a second number is the first
seed. Each seed runs in a process of its own, so that one may be tried again alone.
"""

import math
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.engines import BY_EFFORT
from dpaudit.model.claim import NEIGHBOURS, Neighbours
from dpaudit.model.declaration import Filtered
from dpaudit.model.moves import proved_relations, relation_read
from dpaudit.rules import RULES
from dpaudit.verifier import verify
from mechanisms import NAMES

SECONDS, GIBIBYTES, DEEPEST = 12, 4, 3
EXAMPLES: tuple[dp.Mechanism, ...] = tuple(
    example for name in NAMES for example in import_module(f"mechanisms.{name}").EXAMPLES
)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """An outcome: "accepted", "unconfirmed", "rejected", "refused" by name, "crashed" or "over time", and its words."""

    seed: int
    outcome: str
    told: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a node is drawn: the relation there, how many nodes deep it may be, and the kinds of nodes above it."""

    relation: Neighbours
    depth: int = DEEPEST
    above: tuple[str, ...] = ()

    def below(self, kind: str, relation: Neighbours | None = None) -> "Place":
        """Return the place one node further down."""
        return Place(relation=relation or self.relation, depth=self.depth - 1, above=(*self.above, kind))


def drawn_tree(rng: np.random.Generator) -> tuple[dp.Declaration, Neighbours]:
    """Return a declaration and the relation that it is drawn for.

    Raises: DPAuditError, ValueError: a node that cannot be.
    """
    relation = NEIGHBOURS[int(rng.choice(len(NEIGHBOURS)))]
    return _node(rng, Place(relation=relation)), relation


def claim_near(tree: dp.Declaration, relation: Neighbours, rng: np.random.Generator) -> dp.Claim:
    """Return a claim near what a declaration delivers, on either side.

    Raises: DPAuditError: a declaration that is refused.
    """
    delta = 0.0 if rng.random() < 0.2 else float(10 ** rng.uniform(-12, -1))
    bracket = bracket_epsilon(fold(tree, relation), delta, BY_EFFORT["quick"])
    near = bracket.upper if rng.random() < 0.7 or not bracket.lower else bracket.lower
    near = near if 0 < near < 1e300 else 1.0
    epsilon = near * float(rng.choice([1.0, 1.0001, 0.9999, math.exp(rng.normal(0, 0.1)), math.exp(rng.normal(0, 1))]))
    return dp.Claim(epsilon=epsilon, delta=delta, neighbours=relation, unit="one person")


def _node(rng: np.random.Generator, place: Place) -> dp.Declaration:
    """Return a random node that fits a place, sometimes with a step of a printed argument."""
    kinds = [kind for kind, (fits, _) in KINDS.items() if fits(place)]
    leaf = place.depth <= 0 or rng.random() < 0.15
    node = _leaf(rng, place) if leaf else KINDS[str(rng.choice(kinds))][1](rng, place)
    if rng.random() > 0.07:
        return node
    rule = str(rng.choice([name for name, held in RULES.items() if isinstance(node, held.nodes)] or list(RULES)))
    delta = 0.0 if rng.random() < 0.3 else float(10 ** rng.uniform(-9, -2))
    slots = float(rng.integers(1, 50)) if rng.random() < 0.2 else None
    return replace(
        node, printed=dp.Printed(rule=rule, epsilon=float(10 ** rng.uniform(-2, 1)), delta=delta, slots=slots)
    )


def _leaf(rng: np.random.Generator, place: Place) -> dp.Declaration:
    """Return a release of any mechanism, or a stated part."""
    if rng.random() < 0.08:
        delta = 0.0 if "shuffle" in place.above or rng.random() < 0.5 else float(10 ** rng.uniform(-12, -2))
        return dp.Stated(epsilon=float(10 ** rng.uniform(-3, 0.7)), delta=delta, source="a vendor")
    fitting = _fitting(place.relation)
    mechanism = fitting[int(rng.integers(len(fitting)))]
    with suppress(ValueError):  # beyond the noise that it takes
        mechanism = mechanism.scaled(float(10 ** rng.uniform(-0.4, 1.5)))
    return dp.Release(label=f"release {rng.integers(3)}", mechanism=mechanism)


@lru_cache
def _fitting(relation: Neighbours) -> tuple[dp.Mechanism, ...]:
    """Return the shipped examples, for a relation, without those that do not exist there."""
    found: list[dp.Mechanism] = []
    for example in EXAMPLES:
        inner: Any = getattr(example, "leaf", None)
        changes: dict[str, Any] = {"leaf": replace(inner, neighbours=relation)} if inner else {"neighbours": relation}
        try:
            found.append(replace(example, **changes))  # type: ignore[type-var]  # all are dataclasses
        except (TypeError, ValueError):
            found += [example] if example.neighbours == relation else []
    return tuple(found)


def _times(rng: np.random.Generator, largest: float) -> int:
    """Return a count up to a power of ten, small ones as likely as large ones."""
    return int(10 ** rng.uniform(0, largest))


def _subsample(rng: np.random.Generator, place: Place) -> dp.Declaration:
    """Return a sample of a scheme that knows the relation, with whole sizes."""
    schemes = ["poisson", "without_replacement", "truncated_poisson", "with_replacement"]
    scheme: Any = str(rng.choice([name for name in schemes if place.relation in proved_relations(name)]))
    part = _node(rng, place.below("subsample", relation_read(scheme, 0, place.relation)))
    population = 2 + _times(rng, 5)
    batch = min(population - 1, _times(rng, math.log10(population)))
    rate = batch / population
    if scheme == "poisson":
        return dp.Subsample(part=part, rate=float(10 ** rng.uniform(-6, -0.01)))
    sizes = {"population": population}
    sizes |= {"batch_bound": batch + _times(rng, 1)} if scheme == "truncated_poisson" else {"batch_size": batch}
    return dp.Subsample(part=part, rate=rate, scheme=scheme, **sizes)  # type: ignore[arg-type]


def _allocate(rng: np.random.Generator, place: Place) -> dp.Declaration:
    """Return secret steps."""
    part = _node(rng, place.below("allocate", relation_read("allocate", 0, place.relation)))
    steps, epochs = _times(rng, 3), _times(rng, 1)
    per_epoch = min(steps, 1 if rng.random() < 0.6 else int(rng.integers(1, 5)))
    positions: Any = "fresh" if rng.random() < 0.5 else "repeated"
    return dp.Allocate(part=part, steps=steps, epochs=epochs, per_epoch=per_epoch, positions=positions)


def _cells(rng: np.random.Generator, place: Place) -> dp.Declaration:
    """Return a cell array."""
    touched = _node(rng, place.below("cells", "add_remove"))
    return dp.Cells(inside=_node(rng, place.below("cells")), touched=touched)


def _parallel(rng: np.random.Generator, place: Place) -> dp.Declaration:
    """Return parts by a public or a secret key."""
    part = _node(rng, place.below("parallel"))
    others = tuple(_node(rng, place.below("parallel")) for _ in range(int(rng.integers(1, 3))))
    parts = (part, *(part if rng.random() < 0.4 else other for other in others))
    secret = rng.random() < 0.3
    return dp.Parallel(parts=parts, key=f"key {rng.integers(2)}", visibility="secret" if secret else "public")


def _sequential(rng: np.random.Generator, place: Place) -> dp.Declaration:
    """Return two or three parts in sequence."""
    return dp.Sequential(parts=tuple(_node(rng, place.below("sequential")) for _ in range(int(rng.integers(2, 4)))))


def _filtered(rng: np.random.Generator, place: Place) -> dp.Declaration:
    """Return a budget of rho over two releases."""
    parts = tuple(_leaf(rng, place.below("filtered")) for _ in range(2))
    return Filtered(parts=parts, rho=float(10 ** rng.uniform(-3, 0.5)))


def _above_samples(place: Place) -> bool:
    """Return whether a budget of rho may stand here."""
    return {*place.above} <= {"sequential", "repeat", "post_process", "group", "billboard"}


def _anywhere(place: Place) -> bool:
    """Return whether a node of no special side-condition fits."""
    return True


def _of_users(place: Place) -> bool:
    """Return whether what depends on who a user is may stand here."""
    return not {"shuffle", "local"} & {*place.above}


def _one(kind: str, wrap: Callable[[dp.Declaration, np.random.Generator], dp.Declaration]) -> Any:
    """Return a drawer of a node around one part."""
    return lambda rng, place: wrap(_node(rng, place.below(kind)), rng)


KINDS: dict[str, tuple[Callable[[Place], bool], Callable[[np.random.Generator, Place], dp.Declaration]]] = {
    "sequential": (_anywhere, _sequential),
    "repeat": (_anywhere, _one("repeat", lambda part, rng: dp.Repeat(part=part, times=_times(rng, 3.5)))),
    "filtered": (_above_samples, _filtered),
    "post_process": (_anywhere, _one("post_process", lambda part, rng: dp.PostProcess(part=part, steps=("rounding",)))),
    "parallel": (_of_users, _parallel),
    "cells": (lambda place: _of_users(place) and place.relation != "zero_out", _cells),
    "group": (_of_users, _one("group", lambda part, rng: dp.Group(part=part, size=int(rng.integers(1, 6))))),
    "subsample": (_of_users, _subsample),
    "allocate": (_of_users, _allocate),
    "best_of": (
        lambda place: {*place.above} <= {"sequential", "repeat", "post_process"},
        _one("best_of", lambda part, rng: dp.BestOf(part=part, law="geometric", gamma=float(rng.uniform(0.01, 0.9)))),
    ),
    "shuffle": (
        lambda place: _of_users(place) and place.relation == "replace_one",
        _one("shuffle", lambda part, rng: dp.Shuffle(part=part, users=_times(rng, 4.5))),
    ),
    "billboard": (_of_users, _one("billboard", lambda part, rng: dp.Billboard(part=part))),
    "local": (lambda place: place.relation == "replace_one", _one("local", lambda part, rng: dp.Local(part=part))),
    "release": (_anywhere, _leaf),
    "stated": (_anywhere, _leaf),
}
"""Where each kind of node fits, and how it is drawn."""


def outcome_of(seed: int, start: Callable[[], None] = lambda: None) -> Drawn:
    """Return what becomes of a seed's certificate; `start` is called once the claim is drawn."""
    rng = np.random.default_rng([32, seed])
    try:
        tree, relation = drawn_tree(rng)
    except (dp.DPAuditError, ValueError) as error:
        return Drawn(seed=seed, outcome="refused", told=str(error))
    try:
        claim = claim_near(tree, relation, rng)
        start()
        begun = time.process_time()
        verified = verify(dp.certify(tree, claim).to_json())
    except dp.DPAuditError as error:
        return Drawn(seed=seed, outcome="refused", told=str(error))
    except Exception as error:  # each is a finding
        return Drawn(seed=seed, outcome="crashed", told=f"{type(error).__name__}: {error}")
    outcome = "rejected" if verified.complaints else "unconfirmed" if verified.unconfirmed else "accepted"
    told = "; ".join(verified.complaints + verified.unconfirmed)
    return Drawn(seed=seed, outcome=outcome, told=told, seconds=time.process_time() - begun)


def in_a_process(seed: int) -> Drawn:
    """Return the outcome of a seed in a process with limits on memory and, once the claim is drawn, on its time."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (GIBIBYTES << 30,) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (3 * SECONDS,) * 2)

        def start() -> None:
            os.write(writer, b"\n")
            end = math.ceil(time.process_time()) + SECONDS
            resource.setrlimit(resource.RLIMIT_CPU, (end, end))

        found = outcome_of(seed, start)
        os.write(writer, f"{found.outcome}\t{found.seconds}\t{found.told}".encode()[:3000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read().decode(errors="replace")
    os.waitpid(child, 0)
    outcome, seconds, text = (*told.removeprefix("\n").split("\t", 2), "", "", "")[:3]
    if outcome:
        return Drawn(seed=seed, outcome=outcome, told=text, seconds=float(seconds))
    return Drawn(seed=seed, outcome="over time" if told else "not drawn in time", seconds=SECONDS)


def outcomes(number: int, first: int = 0) -> Iterator[Drawn]:
    """Yield outcomes, from a seed on, until so many declarations were certified or took too long."""
    seed = first
    while number > 0:
        found = in_a_process(seed)
        number -= found.outcome not in ("refused", "not drawn in time")
        seed += 1
        yield found


def main(number: int, first: int = 0) -> None:
    """Print what is not accepted as it comes, then the counts."""
    counts: Counter[str] = Counter()
    for found in outcomes(number, first):
        counts[found.outcome] += 1
        if found.outcome not in ("accepted", "refused"):
            sys.stdout.write(f"seed {found.seed}: {found.outcome} {found.told}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{dict(counts)}\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
