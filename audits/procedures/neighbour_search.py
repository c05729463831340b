"""Which neighbours to attack: a search over pairs, on runs of its own, for the pair that shows most.

Successive halving: every pair gets a few runs, the better half goes on with twice as many. A pair is rated by the bound
that its attack promises, never by one that is reported, so what the search costs is runs and not significance. Where a
`step` makes new pairs from a good one, the winner's descendants take part as well.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.decision.preparation import attempt
from audits.experiment.trials import Execution
from dpaudit import AuditCase, Claim
from dpaudit.checks import count
from dpaudit.model.case import Run, Score

Pair = tuple[Any, Any]
Step = Callable[[Pair, np.random.Generator], Pair]
"""step(pair, rng) -> another pair of neighbours, near a pair that is good."""

_FIRST_RUNS = 400
_SIGNIFICANCE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """The pair that promises most, its name, the bound it promises at the runs asked for, and what the search spent.

    `rated` lists (name, promise) of every pair in the order of their last rating, best first.
    """

    name: str
    pair: Pair
    promise: float
    spent: int
    rated: tuple[tuple[str, float], ...]


def search_neighbours(
    function: Run,
    pairs: Iterable[tuple[str, Pair]],
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    score: Score | None = None,
    step: Step | None = None,
    generations: int = 3,
) -> Found:
    """Return the pair of neighbours on which an attack on `function` should show most with `runs` runs.

    `pairs` are (name, pair), as `awkward_pairs` yields them, all neighbours of the claim's relation; `step` moves a
    pair to another one. Audit the pair found with a generator that has not been used here: then nothing that chose it
    counts. A pair on which the function fails is left out.
    Raises: ValueError: no pair on which the function runs.

    >>> def counts(data, rng, n_runs):
    ...     return data.sum() + rng.laplace(size=n_runs)
    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> pairs = [(f"0 or {size}", (np.array([0.0, 1.0]), np.array([size, 1.0]))) for size in (0.1, 5.0)]
    >>> search_neighbours(counts, pairs, claim, runs=500, rng=np.random.default_rng(0)).name
    '0 or 5.0'
    """
    count("runs", runs)
    rated: dict[str, float] = {}
    order: list[str] = []
    held: dict[str, Pair] = {}
    spent, size, dead = 0, _FIRST_RUNS, ""
    alive = dict(pairs)
    while alive:
        promises: dict[str, float] = {}
        for (name, pair), stream in zip(alive.items(), rng.spawn(len(alive)), strict=True):
            try:
                promises[name] = _promise(_case(function, pair, claim, score), size, runs, stream)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                dead = f"{name}: {error}"
            spent += size
        rated |= promises
        order = sorted(promises, key=promises.__getitem__, reverse=True)
        held = {name: alive[name] for name in order}
        if len(order) <= 1 and (step is None or generations == 0):
            break
        alive = {name: held[name] for name in order[: max(1, len(order) // 2)]}
        if step is not None and generations > 0 and order:
            for place, stream in enumerate(rng.spawn(max(2, len(alive)))):
                alive[f"{order[0]}, moved {generations}.{place}"] = step(held[order[0]], stream)
            generations -= 1
        size *= 2
    if not order:
        raise ValueError(
            f"Expected a pair of neighbours on which the function runs; none did ({dead or 'none given'})."
        )
    last = [name for name in sorted(rated, key=rated.__getitem__, reverse=True) if name not in order]
    best = order[0]
    return Found(
        name=best,
        pair=held[best],
        promise=rated[best],
        spent=spent,
        rated=tuple((name, rated[name]) for name in (*order, *last)),
    )


def _promise(case: AuditCase, size: int, runs: int, rng: np.random.Generator) -> float:
    """Return the bound that the attack on a pair promises on `runs` runs, having seen `size` runs."""
    learning = 0 if case.score is not None else size // 2
    return attempt(case, (learning, size - learning, runs), rng, _SIGNIFICANCE, None, Execution()).promise


def _case(function: Run, pair: Pair, claim: Claim, score: Score | None) -> AuditCase:
    """Return the experiment on one pair."""
    return AuditCase(
        name="search",
        view="output",
        description="",
        neighbours=pair,
        relation=claim.neighbours,
        run=function,
        score=score,
    )
