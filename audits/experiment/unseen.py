"""Where a function shows its data beside what it returns: printed text, warnings, logs, state that outlives the call.

On one random stream each data set is run twice, in turn. What is the same for one data set both times and differs
between the two follows the data. Counters, caches and clocks do not.
"""

import io
import logging
import os
import sys
import types
import warnings
from collections.abc import Generator, Mapping, Sized
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

import numpy as np

from audits.experiment.written import written_files
from audits.outputs.calls import outcome
from audits.outputs.values import record
from dpaudit import DPAuditError
from dpaudit.model.case import Run

_STREAMS, _STREAM = 2, 3_701
_MOST_TEXT, _MOST_ENTRIES, _MOST_FUNCTIONS = 1 << 16, 256, 32


def unseen_outputs(run: Run, neighbours: tuple[Any, Any], seconds: float | None = None) -> tuple[str, ...]:
    """Return the names of the channels beside the returned value that follow the data, on eight calls of one run.

    Read are Python's standard output and error, warnings, log records, environment variables, and the globals, closures
    and attributes named by the function and by functions of its module that it names, files that are written, names of
    files, commands and connections. Not seen are the rest of large objects and files, and state behind other modules
    and objects.

    >>> unseen_outputs(lambda data, rng, n_runs: logging.getLogger("run").warning("%s", data), (0.0, 1.0))
    ('log records',)
    """
    found: dict[str, None] = {}
    for number in range(_STREAMS):
        seen = [_channels(run, neighbours[side], number, seconds) for side in (0, 1, 0, 1)]
        for name in dict.fromkeys(name for one in seen for name in one):
            first, second, again, last = (one.get(name) for one in seen)
            if first == again and second == last and first != second:
                found[name] = None
    return tuple(name for name in found if not (name.startswith("new files") and _named(found)))


def _named(found: Mapping[str, None]) -> bool:
    """Return whether a file is found by its name, which says more than its folder does."""
    return any(name.startswith("the file ") for name in found)


def _channels(run: Run, data: Any, number: int, seconds: float | None) -> dict[str, Any]:
    """Return what one call of one run leaves in each channel."""
    printed, warned, logged = _Copy(sys.stdout), list[str](), _Records()
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(printed))
        stack.enter_context(redirect_stderr(_Copy(sys.stderr, printed)))
        stack.enter_context(_warnings(warned))
        stack.enter_context(_logging(logged))
        written = stack.enter_context(written_files())
        outcome(run, data, np.random.default_rng([_STREAM, number]), seconds)
        _flush(run)
    state = {name: digest for name, digest in _state(run).items() if digest is not None}
    return {
        "printed text": printed.getvalue(),
        "warnings": warned,
        "log records": logged.texts,
        **state,
        **written.channels,
    }


class _Copy(io.StringIO):
    """A stream that keeps what is written, and passes it on."""

    def __init__(self, target: Any, kept: "_Copy | None" = None) -> None:
        super().__init__()
        self._target = target
        self._kept = kept

    def write(self, text: str, /) -> int:
        """Keep and pass on a text; of very long texts the beginning is kept."""
        if self._target is not None:
            self._target.write(text)
        if self._kept is not None:
            return io.StringIO.write(self._kept, text)
        return super().write(text) if self.tell() < _MOST_TEXT else len(text)


class _Records(logging.Handler):
    """A handler that keeps the text of each record."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record."""
        self.texts.append(f"{record.name} {record.levelname} {record.getMessage()}")


@contextmanager
def _logging(handler: logging.Handler) -> Generator[None, None, None]:
    """Add a handler to the root logger inside the block."""
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


@contextmanager
def _warnings(kept: list[str]) -> Generator[None, None, None]:
    """Keep the texts of all warnings inside the block; none becomes an exception there."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    kept += [f"{one.category.__name__}: {one.message}" for one in caught]


def _state(run: Run) -> dict[str, str | None]:
    """Return digests of what outlives a call: the environment, and what the function names outside itself."""
    digests: dict[str, str | None] = {"the environment": repr(sorted(os.environ.items()))}
    return digests | {name: _digest(value) for name, value in _held(run).items()}


def _flush(run: Run) -> None:
    """Write out what files that the function names still buffer."""
    for value in _held(run).values():
        if isinstance(value, io.IOBase):
            with suppress(OSError, ValueError):
                value.flush()


def _held(run: Run) -> dict[str, Any]:
    """Return what the function names outside itself, by name."""
    function: Any = getattr(run, "function", run)
    plain = getattr(function, "__func__", function)
    held: dict[str, Any] = {}
    if isinstance(plain, types.FunctionType):
        _named_by(plain, held, {}, plain.__module__)
    owner: Any = getattr(function, "__self__", None if isinstance(plain, types.FunctionType) else function)
    attributes: Mapping[str, Any] = getattr(owner, "__dict__", {})
    return held | {f"the attribute {name!r}": value for name, value in attributes.items()}


def _named_by(function: types.FunctionType, kept: dict[str, Any], known: dict[int, None], module: str | None) -> None:
    """Add the globals, closures and attributes that a function and the functions that it names name."""
    if id(function) in known or function.__module__ != module or len(known) >= _MOST_FUNCTIONS:
        return
    known[id(function)] = None
    code, world = function.__code__, function.__globals__
    held = {f"the global {name!r}": world[name] for name in code.co_names if name in world}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # a variable that is not yet set
            held[f"the variable {name!r}"] = cell.cell_contents
    held |= {f"the attribute {name!r} of {function.__name__!r}": value for name, value in vars(function).items()}
    for name, value in held.items():
        if isinstance(value, types.FunctionType):
            _named_by(value, kept, known, module)
        else:
            kept[name] = value


def _digest(value: Any) -> str | None:
    """Return a digest of a value of which state can consist, None for any other or a large one."""
    if isinstance(value, types.ModuleType | type) or callable(value):
        return None
    if isinstance(value, np.ndarray) and value.nbytes <= _MOST_TEXT and not value.dtype.hasobject:
        return value.tobytes().hex()
    if isinstance(value, Sized) and len(value) > _MOST_ENTRIES:
        return None
    try:
        return repr(sorted(record(value).items()))
    except (DPAuditError, ValueError, TypeError):
        return None
