"""A search over pairs of neighbours for the pair on which an attack shows the largest bound.

Successive halving: every pair gets a few runs, the better half continues with twice as many. A pair is rated by the
bound that its attack promises, on runs that no reported bound counts, so the search costs runs and no significance.
An exception is an output of its run: pairs on which the function raises, and not in every run of both data sets, come
before all others.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from audits.decision.preparation import prepare
from audits.experiment.function_case import FunctionCase, function_case
from audits.experiment.settings import PLAIN
from audits.outputs.calls import CallRaisedError, Raised, called, outcome
from dpaudit import Claim, DPAuditError
from dpaudit.checks import count
from dpaudit.model.case import Run, Score

Pair = tuple[Any, Any]

_FIRST_RUNS, _FEWEST_RUNS, _TRIED = 500, 50, 8
QUICK, SLOW = 4, 8
"""Every pair first gets a part of the audit's runs, smaller for a function whose calls are long."""
_SIGNIFICANCE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BestPair:
    """The pair with the largest promise, its name, the bound it promises for `runs` runs, and the runs `spent`.

    `raised` names the pairs on which the function raised, and `left_out` those that could not be attacked, with the
    reason.
    """

    name: str
    pair: Pair
    promise: float
    spent: int
    raised: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def search_neighbours(
    function: Run,
    pairs: Iterable[tuple[str, Pair]],
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    score: Score | None = None,
    part: int = QUICK,
) -> BestPair:
    """Return the pair of neighbours on which an attack on `function` promises the largest bound with `runs` runs.

    `pairs` are (name, pair), such as those of `coverage_pairs`, all of the claim's relation. Each pair first gets
    `runs` divided by `part`, 50 to 500. Audit the returned pair with a generator that was not used here: then no run
    that chose the pair is counted. On a pair where the function raises, each run is a call of its own, and outcomes are
    attacked instead of a given score; a pair on which every run of both data sets raises comes last.
    Raises: ValueError: no pair, or none whose outputs can be attacked.

    >>> def counts(data, rng, n_runs):
    ...     return data.sum() + rng.laplace(size=n_runs)
    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> pairs = [(f"0 or {size}", (np.array([0.0, 1.0]), np.array([size, 1.0]))) for size in (0.1, 5.0)]
    >>> search_neighbours(counts, pairs, claim, runs=500, rng=np.random.default_rng(0)).name
    '0 or 5.0'
    """
    count("runs", runs)
    rated, left_out, spent = dict[str, _Rating](), list[str](), 0
    size, candidates = min(_FIRST_RUNS, max(_FEWEST_RUNS, runs // part)), dict(pairs)
    case_of = partial(function_case, function, claim=claim, score=score)
    while True:
        ratings, failed = _ratings(candidates, case_of, size, runs, rng)
        spent, rated, left_out = spent + size * len(candidates), rated | ratings, [*left_out, *failed]
        ranked = sorted(ratings, key=ratings.__getitem__, reverse=True)
        if not ranked:
            why = "; ".join(left_out) or "none given"
            raise ValueError(f"Expected a pair of neighbours on which the function can be attacked; none can ({why}).")
        better_half = ranked[: len(ranked) // 2]
        if len(better_half) <= 1:
            break
        candidates = {name: candidates[name] for name in better_half}
        size *= 2
    return BestPair(
        name=ranked[0],
        pair=candidates[ranked[0]],
        promise=rated[ranked[0]].promise,
        spent=spent,
        raised=tuple(name for name, rating in rated.items() if rating.raised),
        left_out=tuple(left_out),
    )


class _Rating(NamedTuple):
    """The rating of a pair, larger is better: whether exceptions may tell its data sets apart, then the promise."""

    first: bool
    promise: float
    raised: bool


def _ratings(
    pairs: Mapping[str, Pair], case_of: Callable[[Pair], FunctionCase], size: int, runs: int, rng: np.random.Generator
) -> tuple[dict[str, _Rating], list[str]]:
    """Return the ratings of pairs by name, and why others could not be attacked."""
    ratings, failed = dict[str, _Rating](), list[str]()
    for (name, pair), stream in zip(pairs.items(), rng.spawn(len(pairs)), strict=True):
        try:
            ratings[name] = _rating(case_of(pair), size, runs, stream)
        except (ArithmeticError, LookupError, TypeError, ValueError, DPAuditError) as error:
            failed.append(f"{name}: {' '.join(str(error).split())}")
    return ratings, failed


def _rating(case: FunctionCase, size: int, runs: int, rng: np.random.Generator) -> _Rating:
    """Return the bound that the attack on a pair promises for `runs` counted runs, prepared on `size` runs."""
    streams = rng.spawn(2)
    try:
        for data, stream in zip(case.neighbours, streams, strict=True):
            called(case.run, data, stream, _TRIED)
        return _Rating(first=False, promise=_promise(case, size, runs, rng), raised=False)
    except CallRaisedError:
        alone = replace(case, alone=True, score=None)
    outcomes = [
        outcome(case.run, data, stream, None)
        for data, stream in zip(case.neighbours, streams, strict=True)
        for _ in range(_TRIED)
    ]
    always = all(isinstance(ended, Raised) for ended in outcomes)
    return _Rating(first=not always, promise=0.0 if always else _promise(alone, size, runs, rng), raised=True)


def _promise(case: FunctionCase, size: int, runs: int, rng: np.random.Generator) -> float:
    """Return the bound that the attack on a case promises."""
    learning = 0 if case.score is not None else size // 2
    return prepare(case, (learning, size - learning, runs), rng, _SIGNIFICANCE, PLAIN).choice.promise
