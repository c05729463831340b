"""Readings of the outputs of a call: as returned for a given score, or as columns for the built-in learners."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from audits.experiment.execution import CHUNK_RUNS, Execution, Observed
from audits.experiment.views import concatenate, length
from audits.outputs.calls import CallRaisedError, called, each_columns
from audits.outputs.conversion import columns_of
from audits.outputs.fields import Fields
from dpaudit import AuditCase
from dpaudit.model.case import Run

_ONE_BY_ONE_CHUNK = 250


class Reading(Protocol):
    """Runs a function and returns the view of its outputs; `chunk_runs` is the largest number of runs of one task."""

    @property
    def chunk_runs(self) -> int:
        """The most runs of one chunk."""
        ...

    def __call__(self, run: Run, data: Any, rng: np.random.Generator, n_runs: int) -> Any:
        """Return the outputs of `n_runs` runs on one data set."""
        ...

    def one_by_one(self, error: CallRaisedError) -> "Reading":
        """Return the reading after a call for many runs raised."""
        ...

    def restored(self, chunk: Observed) -> Observed:
        """Return a stored chunk with its view in the type that this reading gives."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AsReturned:
    """Outputs as they are returned, for a score or a learner of the caller's own."""

    chunk_runs: int = CHUNK_RUNS * 10**6

    def __call__(self, run: Run, data: Any, rng: np.random.Generator, n_runs: int) -> Any:
        """Return the outputs of `n_runs` runs on one data set; refuse another number of outputs."""
        outputs = called(run, data, rng, n_runs)
        if (returned := length(outputs)) != n_runs:
            raise ValueError(
                f"Expected outputs of n_runs={n_runs} runs, runs axis first; the function returned {returned}. "
                "It is called as function(data, rng, n_runs)."
            )
        return outputs

    def one_by_one(self, error: CallRaisedError) -> Reading:
        """Raise the error: a given score cannot read an exception."""
        raise error

    def restored(self, chunk: Observed) -> Observed:
        """Return the chunk."""
        return chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class EachAsReturned:
    """Outputs as they are returned, one run a call, for a score of the caller's own."""

    chunk_runs: int = CHUNK_RUNS

    def __call__(self, run: Run, data: Any, rng: np.random.Generator, n_runs: int) -> Any:
        """Return the outputs of `n_runs` runs on one data set, each of a call and a random stream of its own."""
        return concatenate([AsReturned()(run, data, stream, 1) for stream in rng.spawn(n_runs)])

    def one_by_one(self, error: CallRaisedError) -> Reading:
        """Raise the error: a given score cannot read an exception."""
        raise error

    def restored(self, chunk: Observed) -> Observed:
        """Return the chunk."""
        return chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class ByColumns:
    """Outputs as columns of numbers, many runs a call."""

    chunk_runs: int = CHUNK_RUNS * 10**6

    def __call__(self, run: Run, data: Any, rng: np.random.Generator, n_runs: int) -> Fields:
        """Return the columns of `n_runs` runs on one data set."""
        return columns_of(called(run, data, rng, n_runs), n_runs)

    def one_by_one(self, error: CallRaisedError) -> Reading:
        """Return the reading that calls once a run."""
        del error
        return OneByOne(seconds=None)

    def restored(self, chunk: Observed) -> Observed:
        """Return the chunk with its columns."""
        return _with_fields(chunk)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneByOne:
    """Outputs as columns of numbers, one run a call, each at most `seconds` long; an exception is an outcome."""

    seconds: float | None
    chunk_runs: int = _ONE_BY_ONE_CHUNK

    def __call__(self, run: Run, data: Any, rng: np.random.Generator, n_runs: int) -> Fields:
        """Return the columns of `n_runs` runs on one data set."""
        return each_columns(run, data, rng, n_runs, self.seconds)

    def one_by_one(self, error: CallRaisedError) -> Reading:
        """Raise the error: calls for one run do not raise it."""
        raise error

    def restored(self, chunk: Observed) -> Observed:
        """Return the chunk with its columns."""
        return _with_fields(chunk)


def reading_of(case: AuditCase, how: Execution) -> Reading:
    """Return how the outputs of a case are read."""
    if case.score is not None:
        return EachAsReturned() if case.alone else AsReturned()
    if how.run_seconds is not None or case.alone:
        return OneByOne(seconds=how.run_seconds)
    return ByColumns()


def _with_fields(chunk: Observed) -> Observed:
    """Return a chunk whose view, where it is a plain dict, is `Fields`."""
    return replace(chunk, kept=Fields(chunk.kept)) if type(chunk.kept) is dict else chunk
