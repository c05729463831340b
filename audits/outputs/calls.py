"""Calls of audited code: how a function is called, what a run returns that raises, and the time limit of a run."""

import inspect
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from types import GeneratorType
from typing import Any

import numpy as np

from audits.outputs.conversion import columns_of_one
from audits.outputs.fields import KIND, NUMBER, Fields, kind_of, of_records, stacked
from audits.outputs.raised import class_name, raised_entries, said_by
from dpaudit import DPAuditError
from dpaudit.model.case import Run

_MOST_YIELDED = 1 << 16

OUTCOME = f"{KIND} outcome"
"""The column that tells the exception of a run that raised; 0 for a run that returned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """The outcome of a run that raised an exception, exited or took too long: the name of the exception's class.

    `says` is the class with the text, for people. `shown` holds what else the exception shows, its text and its
    attributes, as numbers by name.
    """

    exception: str
    says: str = ""
    shown: dict[str, float] = field(default_factory=dict[str, float])


class CallRaisedError(Exception):
    """A call for several runs raised: which of them did is not known. `exception` is the name of the class."""

    def __init__(self, exception: str, message: str) -> None:
        super().__init__(exception, message)
        self.exception = exception
        self.message = message


class RunTimeout(Exception):  # noqa: N818 - the name is what a user reads as the outcome
    """A run took longer than the time limit of the audit."""


def called(run: Run, data: Any, rng: np.random.Generator, n_runs: int) -> Any:
    """Return what a call for `n_runs` runs returned.

    Raises: CallRaisedError: the call raised or exited. DPAuditError and KeyboardInterrupt pass through.
    """
    try:
        return run(data, rng, n_runs)
    except DPAuditError:
        raise
    except (Exception, SystemExit) as error:
        raise CallRaisedError(class_name(error), str(error)) from error


def outcome(run: Run, data: Any, rng: np.random.Generator, seconds: float | None) -> Any:
    """Return what a call for a single run returned, or `Raised` where it raised or took longer than `seconds`."""
    try:
        with time_limit(seconds):
            return called(run, data, rng, 1)
    except CallRaisedError as error:
        cause = error.__cause__ or error
        return Raised(exception=error.exception, says=said_by(cause), shown=raised_entries(cause))


def each_columns(run: Run, data: Any, rng: np.random.Generator, n_runs: int, seconds: float | None) -> Fields:
    """Return the columns of `n_runs` runs, each a call of its own on a random stream of its own."""
    results = (outcome(run, data, stream, seconds) for stream in rng.spawn(n_runs))
    return stacked([row_of(result) for result in results])


def row_of(result: Any) -> Fields:
    """Return the columns of one outcome."""
    if isinstance(result, Raised):
        return of_records([{OUTCOME: kind_of(result.exception)} | result.shown])
    fields = columns_of_one(result)
    fields[OUTCOME] = np.zeros((1, 1))
    return fields


def numbers_of(result: Any) -> Fields:
    """Return the columns of numbers of one outcome; none where it raised or cannot be read."""
    try:
        fields = Fields() if isinstance(result, Raised) else columns_of_one(result)
    except (DPAuditError, ValueError):
        return Fields()
    return Fields({name: column for name, column in fields.items() if name.startswith(NUMBER)})


@contextmanager
def time_limit(seconds: float | None) -> Generator[None, None, None]:
    """Raise `RunTimeout` inside the block after so many seconds; no limit where `seconds` is None.

    The limit interrupts Python code and calls that a signal interrupts, in the main thread of a process on POSIX.
    """
    if seconds is None:
        yield
        return
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        raise ValueError(f"Expected no time limit ({seconds} s) here: it needs the main thread of a POSIX system.")

    def late(signum: int, frame: object) -> None:
        del signum, frame
        raise RunTimeout(f"a run took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def as_run(function: Callable[..., Any]) -> tuple[Run, bool]:
    """Return `function` in the form function(data, rng, n_runs), and whether it was written for one run a call.

    A function of (data) or of (data, rng) alone is called once a run. Parameters with a default are settings and keep
    it, except one that is called `rng` or `n_runs`, and a second one that is None.
    Raises: ValueError: a function that cannot be called with up to three positional arguments.

    >>> def count(data, rng, bound=1.0):
    ...     return bound
    >>> as_run(count)[0](None, np.random.default_rng(0), 2)
    [1.0, 1.0]
    """
    subject: object = function
    if not callable(subject):
        shown = f"{type(subject).__name__}: {subject!r:.60}"
        raise TypeError(f"Expected a function of (data, rng, n_runs), of (data, rng) or of (data), got {shown}.")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function, False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    given, further = _given(positional), [p.name for p in positional[3:] if p.default is p.empty]
    if further:
        raise ValueError(
            f"Expected a function of (data, rng, n_runs), got {function!r:.80} that also needs {', '.join(further)}; "
            "give them defaults, or fix them by functools.partial."
        )
    if any(p.kind is p.VAR_POSITIONAL for p in parameters) or given >= 3:
        return function, False
    named = given == 1 and any(p.name == "rng" and p.kind is not p.POSITIONAL_ONLY for p in parameters)
    if not positional or any(p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name != "rng" for p in parameters):
        raise ValueError(
            f"Expected a function of (data, rng, n_runs), of (data, rng) or of (data), got {function!r:.80} with the "
            f"parameters {', '.join(p.name for p in parameters) or 'none'}."
        )
    return _OneRun(function=function, arguments=given, named=named), True


def _given(positional: list[inspect.Parameter]) -> int:
    """Return how many of data, rng and n_runs a function takes by their places, the first of them at least."""
    for number, (parameter, name) in enumerate(zip(positional[1:], ("rng", "n_runs"), strict=False), start=1):
        unset = parameter.default is None and name == "rng"
        if not (parameter.default is parameter.empty or parameter.name == name or unset):
            return number
    return len(positional[:3])


@dataclass(frozen=True, slots=True, kw_only=True)
class _OneRun:
    """A function of one run as a function of many: a list with one output a run.

    A generator is read to its end, and to 65,536 entries at most: then it counts as the list of what it yielded. `rng`
    is passed by its name where `named` says so.
    """

    function: Callable[..., Any]
    arguments: int
    named: bool = False

    def __call__(self, data: Any, rng: np.random.Generator, n_runs: int) -> list[Any]:
        """Return the outputs of `n_runs` calls."""
        if self.named:
            return [_ended(self.function(data, rng=stream)) for stream in rng.spawn(n_runs)]
        if self.arguments == 1:
            return [_ended(self.function(data)) for _ in range(n_runs)]
        return [_ended(self.function(data, stream)) for stream in rng.spawn(n_runs)]


def _ended(output: Any) -> Any:
    """Return an output, of a generator what it yields."""
    return list(islice(output, _MOST_YIELDED)) if isinstance(output, GeneratorType) else output
