"""Readings of the outputs of a call: as returned for a given score, or as columns for the built-in learners."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.experiment.execution import CHUNK_RUNS, Observed
from audits.experiment.function_case import FunctionCase
from audits.experiment.own_values import NO_VALUES, OwnValues
from audits.experiment.settings import Settings
from audits.experiment.views import concatenate, length
from audits.outputs.calls import CallRaisedError, called, each_columns
from audits.outputs.conversion import columns_of, require_runs
from audits.outputs.fields import Fields
from dpaudit import AuditCase
from dpaudit.model.case import Run

_ONE_BY_ONE_CHUNK = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Runs a function and returns the view of its outputs: `columns` of numbers, or what a given score reads.

    Where each run is `alone`, it is a call of its own on a random stream of its own, at most `seconds` long; of a view
    of columns an exception is then an outcome. Columns named in `without` are left out; whether a run holds `own`
    values of one data set is a column more.
    """

    columns: bool
    alone: bool = False
    seconds: float | None = None
    without: frozenset[str] = frozenset()
    own: OwnValues = NO_VALUES

    @property
    def chunk_runs(self) -> int:
        """The most runs of one chunk."""
        if not self.alone:
            return CHUNK_RUNS * 10**6
        return _ONE_BY_ONE_CHUNK if self.columns else CHUNK_RUNS

    def __call__(self, run: Run, data: Any, rng: np.random.Generator, n_runs: int) -> Any:
        """Return the outputs of `n_runs` runs on one data set. Raises: ValueError: another number of outputs."""
        if self.columns:
            if self.alone:
                return self._read(each_columns(run, data, rng, n_runs, self.seconds))
            return self._read(columns_of(called(run, data, rng, n_runs), n_runs))
        if self.alone:
            return concatenate([_as_returned(run, data, stream, 1) for stream in rng.spawn(n_runs)])
        return _as_returned(run, data, rng, n_runs)

    def _read(self, fields: Fields) -> Fields:
        """Return the columns that are not left out, and those about own values."""
        if self.without:
            columns = {name: column for name, column in fields.items() if not self._left_out(name, column.shape[1])}
            fields = Fields(columns)
        return self.own.beside(fields)

    def _left_out(self, name: str, width: int) -> bool:
        """Return whether a column, or some entry of an array, is left out."""
        return name in self.without or (width > 1 and any(f"{name}[{at}]" in self.without for at in range(width)))

    def one_by_one(self, error: CallRaisedError) -> "Reading":
        """Return the reading after a call for many runs raised `error`; it passes where no score can read it."""
        if self.alone or not self.columns:
            raise error
        return replace(self, alone=True)

    def restored(self, chunk: Observed) -> Observed:
        """Return a stored chunk with its view in the type that this reading gives."""
        plain = self.columns and type(chunk.kept) is dict
        return replace(chunk, kept=Fields(chunk.kept)) if plain else chunk


def _as_returned(run: Run, data: Any, rng: np.random.Generator, n_runs: int) -> Any:
    """Return the outputs of one call as they are; refuse another number of them."""
    outputs = called(run, data, rng, n_runs)
    require_runs(length(outputs), n_runs)
    return outputs


def reading_of(case: AuditCase, how: Settings) -> Reading:
    """Return how the outputs of a case are read."""
    limited = case.score is None and how.run_seconds is not None
    return Reading(
        columns=case.score is None,
        alone=case.alone or limited,
        seconds=how.run_seconds if limited else None,
        without=case.fine if isinstance(case, FunctionCase) else frozenset(),
        own=case.own if isinstance(case, FunctionCase) else NO_VALUES,
    )
