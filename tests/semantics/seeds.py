"""The mandatory seeds: small declarations, each of which has caught a rule with a wrong premise, or may catch one.

A leaf is `Stated` by the name of its table. Each seed is also read as the part of a group of two.
"""

from collections.abc import Callable
from itertools import product

from dpaudit.model import declaration as nodes
from dpaudit.semantics.seeds import SHARP, SIDED, SKEW, TABLES, TWO, WAYS, both, leaf, parallel, sample, truncated
from dpaudit.semantics.seeds import seeds as instances

_AT_THE_ENDS = [name for name in TABLES if name.startswith(("loss", "ratio", "delta"))]
_ONE_RECORD: dict[str, Callable[[nodes.Declaration], nodes.Declaration]] = {
    "group 1": lambda part: nodes.Group(part=part, size=1),
    "fixed 1 of 1": lambda part: sample(part, 1, 1),
}


_EXCHANGED = ("cells", "group 2", "local", "parallel", "poisson")
_DEEP = (
    *product(["fixed 2 of 3"], ("cells", "group 1", "group 2", "poisson", "fixed 1 of 2"), _EXCHANGED),
    *product(["fixed 2 of 3"], ["poisson"], ["local"], _EXCHANGED),
    *product(["truncated"], ["parallel"], _EXCHANGED),
    ("fixed 2 of 3", "group 1", "parallel", "local"),
    ("fixed 2 of 3", "group 1", "local", "parallel"),
    ("fixed 2 of 3", "poisson", "group 1", "parallel"),
    ("fixed 2 of 3", "fixed 1 of 2", "fixed 1 of 1"),
)
"""Nests in which another record takes a record's place."""


def nest(*ways: str) -> nodes.Declaration:
    """Return ways one inside the other, over the sharp table."""
    tree: nodes.Declaration = leaf("sharp")
    for way in reversed(ways):
        tree = (WAYS | _ONE_RECORD)[way](tree)
    return tree


def seeds() -> dict[str, nodes.Declaration]:
    """Return the mandatory seeds by their names, the tiny instances of all nodes among them."""
    return instances() | _families() | _samples() | _structures() | _selections()


def _samples() -> dict[str, nodes.Declaration]:
    """Return the seeds of samples, of secret places, and of sums beside the number of records."""
    poisson, allocate = WAYS["poisson"], WAYS["allocate 1 of 2"]
    sum_and_size = both(leaf("size"), TWO)
    return {
        "fixed 2 of 3 over fixed 1 of 2 over fixed 1 of 1": WAYS["fixed 2 of 3"](sample(sample(SHARP, 1, 1), 2, 1)),
        "billboard over nothing": nodes.Billboard(part=SHARP),
        "shuffle over local": nodes.Shuffle(part=nodes.Local(part=TWO), users=2),
        "truncated at 1 to 1": truncated(TWO, 1.0, 3, 1),
        "truncated above all": truncated(TWO, 0.5, 3, 3),
        "allocate 2 of 3": nodes.Allocate(part=TWO, steps=3, per_epoch=2),
        "allocate twice fresh": nodes.Allocate(part=TWO, steps=2, epochs=2),
        "allocate twice repeated": nodes.Allocate(part=TWO, steps=2, epochs=2, positions="repeated"),
        "size on poisson": poisson(leaf("size")),
        "size on allocate 1 of 2": allocate(leaf("size")),
        "size beside a sum on poisson": poisson(sum_and_size),
        "size beside a sum on allocate 1 of 2": allocate(sum_and_size),
        "size beside a sum": sum_and_size,
        "size beside a sum on poisson at 0.1": nodes.Subsample(part=sum_and_size, rate=0.1),
    }


def _structures() -> dict[str, nodes.Declaration]:
    """Return the seeds of parts in sequence and in parallel, and of keys that the view decides."""
    poisson, arms = WAYS["poisson"], parallel(TWO, SHARP)
    return {
        "unequal parts": arms,
        "part without a record": parallel(TWO, SHARP, SKEW),
        "secret unequal parts": nodes.Parallel(parts=(TWO, SHARP), key="an order", visibility="secret"),
        "key decided by the view": both(leaf("open"), arms),
        "unlike parts decided by the view": parallel(TWO, SIDED, leaf("mirrored")),
        "linked keys": both(arms, parallel(TWO, SHARP, key="a phase")),
        "keys that differ": both(parallel(SHARP, TWO, key="a phase"), arms),
        "one key twice": both(arms, arms),
        "choice repeated": nodes.Repeat(part=parallel(SKEW, SIDED), times=2),
        "choice on poisson": poisson(parallel(SKEW, SIDED)),
        "billboard": nodes.Billboard(part=parallel(TWO, SHARP)),
    }


def _selections() -> dict[str, nodes.Declaration]:
    """Return the seeds of a best of many runs, of filters, and of two cells."""
    poisson = WAYS["poisson"]
    return {
        "best of 2 over poisson": nodes.BestOf(part=poisson(TWO), law="fixed", runs=2, scores="any"),
        "best of many over poisson": nodes.BestOf(part=poisson(SKEW), law="geometric", gamma=0.3, scores="any"),
        "best of 3 twice": nodes.Repeat(part=nodes.BestOf(part=TWO, law="fixed", runs=3, scores="any"), times=2),
        "filter over two queries": nodes.Filtered(parts=(TWO, SHARP), rho=2.4),
        "filter over steps of two releases": nodes.Filtered(parts=(both(TWO, SKEW), TWO), rho=2.5),
        "filter twice": nodes.Repeat(part=nodes.Filtered(parts=(TWO,), rho=0.6), times=2),
        "filter that pays for nothing": nodes.Filtered(parts=(SHARP,), rho=1.0),
        "group 2 over filter": nodes.Group(part=nodes.Filtered(parts=(TWO,), rho=1.2), size=2),
        "filter of epsilon over two queries": nodes.Filtered(parts=(TWO, SHARP), epsilon=4.5),
        "filter of epsilon of each record": nodes.Filtered(parts=(TWO,), epsilon=2.2, per="record"),
        "filter of each record": nodes.Filtered(parts=(TWO,), rho=1.2, per="record"),
        "filter of each record over two queries": nodes.Filtered(parts=(TWO, SHARP), rho=2.4, per="record"),
        "group 2 over filter of each record": nodes.Group(
            part=nodes.Filtered(parts=(TWO,), rho=0.6, per="record"), size=2
        ),
        "billboard over filter": nodes.Billboard(part=nodes.Filtered(parts=(SHARP,), rho=2.0)),
        "cells twice": both(WAYS["cells"](TWO), WAYS["cells"](SIDED)),
    }


def _families() -> dict[str, nodes.Declaration]:
    """Return the seeds that differ in one node, one table, one size or one rate."""
    seeds: dict[str, nodes.Declaration] = {f"table {name}": leaf(name) for name in TABLES}
    for name, way in WAYS.items():
        seeds |= {f"{name} over {inner}": way(leaf(inner)) for inner in ("sharp", "skew", "sided", "geometric")}
        seeds[f"{name} over two queries"] = way(both(TWO, SKEW))
        seeds |= {f"{name} over {inner}": way(other(SHARP)) for inner, other in WAYS.items()}
    seeds |= {f"fixed {n} of {n}": sample(SHARP, n, n) for n in (1, 2, 3)}
    seeds |= {f"with replacement {n} of {n}": sample(TWO, n, n, "with_replacement") for n in (1, 2, 3)}
    seeds |= {f"billboard over {inner}": nodes.Billboard(part=way(SHARP)) for inner, way in WAYS.items()}
    seeds |= {f"shuffle {users}": nodes.Shuffle(part=TWO, users=users) for users in (1, 2, 3)}
    seeds |= {f"shuffle {users} over skew": nodes.Shuffle(part=SKEW, users=users) for users in (2, 3)}
    seeds |= {f"shuffle 2 over {name}": nodes.Shuffle(part=leaf(name), users=2) for name in ("three", "response")}
    for name in ("sharp", "skew", "sided", "geometric"):
        seeds[f"best of 2 over {name}"] = nodes.BestOf(part=leaf(name), law="fixed", runs=2, scores="any")
        seeds[f"best of many over {name}"] = nodes.BestOf(part=leaf(name), law="geometric", gamma=0.3, scores="any")
    seeds |= {
        f"filter over {name}": nodes.Filtered(parts=(leaf(name),), rho=4.0) for name in ("sharp", "skew", "geometric")
    }
    for rate in (0.0, 1e-60, 1e-17, 1e-9, 0.1, 1.0):
        seeds[f"poisson at {rate:g} over skew"] = nodes.Subsample(part=SKEW, rate=rate)
        seeds[f"truncated at {rate:g}"] = truncated(SKEW, rate, 3, 2)
    for rate, name in product((1e-9, 0.999), _AT_THE_ENDS):
        seeds[f"poisson at {rate:g} over {name}"] = nodes.Subsample(part=leaf(name), rate=rate)
    return seeds | {" over ".join(ways): nest(*ways) for ways in _DEEP}
