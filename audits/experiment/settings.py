"""The settings of an audit beside its runs and its significance, and what every audit asks of these."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from audits.experiment.chunk_store import ChunkStore
from audits.experiment.execution import CHUNK_RUNS, Progress
from audits.experiment.function_case import Arithmetic
from dpaudit import AuditCase, Claim
from dpaudit.arguments import settled
from dpaudit.checks import (
    Count,
    Natural,
    NonNegativeOrInfinite,
    Positive,
    ProbabilityBelowOne,
    count,
    open_probability,
    settle,
)
from dpaudit.model.case import Score
from dpaudit.model.claim import require_finite
from dpaudit.model.mechanism import Array

Learner = Callable[[Any, Array, np.random.Generator], Score]
"""learner(view, labels, rng) -> a score; labels are true where the second neighbour ran."""


@settled
class Settings:
    """How an audit is made; audit functions take it as `how=`.

    *What is audited.* All rows with one value of the column `unit` of the data are one person's record. "exact"
    `arithmetic` takes for granted, as the certificate of a mechanism with a floating-point sampler does, that noise
    behaves like the real-valued noise of its proof; digits below noise on a coarse grid are a finding all the same.
    With "floating" all last bits are.
    *Attack.* `learner`, or the built-in one, makes a score of outputs from runs that are not counted. A control, which
    measures power, takes at most `control_runs` runs: by default as many as the audit up to 2,000, or a twentieth if
    that is more, and a fifth instead of as many where each run is a call; 0 makes none.
    *Test.* Epsilon is bounded at `delta`, by default the claim's, and 1e-5 for a claim in its own measure. `certified`
    is the epsilon that a certificate proves: a bound above it is a violation too.
    *Execution.* `jobs` processes run the chunks (-1: one a processor), or the dask cluster at the address `scheduler`.
    `progress` is called before the first chunk and after every chunk. A `store` keeps finished chunks, so that an
    interrupted audit continues. `run_seconds` limits each run of a user-supplied function, which then is called once a
    run; a run that takes longer has the outcome `RunTimeout`. The limit interrupts Python code on POSIX systems.
    Guarantee: results do not depend on `jobs`, `scheduler`, `progress` and `store`; they do on every other field, also
    on `chunk_runs`, the size of a chunk.
    Raises: ValueError: `chunk_runs` below 1, `jobs` equal to 0, `run_seconds` not positive, `control_runs` below 0,
        `delta` outside [0, 1), or an unknown `arithmetic`.

    >>> Settings(jobs=2).chunk_runs
    10000
    """

    unit: str | None = None
    arithmetic: Arithmetic = "exact"
    learner: Learner | None = None
    control_runs: Natural | None = None
    delta: ProbabilityBelowOne | None = None
    certified: NonNegativeOrInfinite = math.inf
    jobs: int = 1
    chunk_runs: Count = CHUNK_RUNS
    progress: Progress | None = None
    store: ChunkStore | None = None
    scheduler: str | None = None
    run_seconds: Positive | None = None

    def __post_init__(self) -> None:
        settle(self)
        if self.jobs == 0:
            raise ValueError("Expected jobs=0 to be at least 1, or -1 for one process a processor.")

    @property
    def facts(self) -> tuple[object, ...]:
        """The numbers that change results: a store keeps chunks apart by them."""
        return (self.chunk_runs, self.run_seconds, self.control_runs, self.delta, self.certified)

    def aside(self) -> Self:
        """Return the settings of runs beside those that the audit reports and stores."""
        return replace(self, progress=None, store=None)


PLAIN = Settings()
"""All runs in this process, without a store."""


def require_test(claim: Claim, runs: int, rng: object, significance: float, *, at_least: int = 1) -> None:
    """Refuse numbers out of range, and a claim or generator that no audit can have."""
    generator_of(rng)
    require_finite(claim, "an audit")
    count("runs", runs, at_least=at_least)
    open_probability("significance", significance)


def require_relation(case: AuditCase, claim: Claim) -> None:
    """Refuse a case that runs neighbours of another relation than the claim's."""
    if case.relation != claim.neighbours:
        raise ValueError(
            f"Expected neighbours of the claim's relation {claim.neighbours!r}; case {case.name!r} has "
            f"{case.relation!r}. State the claim for the relation that the case runs."
        )


def generator_of(rng: object) -> np.random.Generator:
    """Return `rng` if it is a generator. Raises: ValueError: a seed, a RandomState or anything else."""
    if isinstance(rng, np.random.Generator):
        return rng
    remedy = f"np.random.default_rng({rng})" if isinstance(rng, int) else "np.random.default_rng(seed)"
    raise ValueError(
        f"Expected rng to be a numpy Generator, got {type(rng).__name__}: {rng!r:.40}; write rng={remedy}."
    )
