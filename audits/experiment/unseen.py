"""Where a function shows its data beside what it returns: printed text, warnings, logs, state that outlives the call.

On one random stream each data set is run twice, in turn. Words that are the same for one data set both times and
differ between the two follow the data. Counters, caches and clocks do not.
"""

import io
import os
import re
import types
from collections.abc import Callable, Mapping, Sized
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from audits.experiment.channels import shown_beside
from audits.experiment.digests import digest_of
from audits.experiment.replays import Channels, following
from audits.outputs.calls import numbers_of, outcome
from dpaudit import DPAuditError
from dpaudit.model.case import Run
from dpaudit.model.mechanism import Array

_STREAMS, _STREAM = 2, 3_701
_MOST_TEXT, _MOST_ENTRIES, _MOST_FUNCTIONS = 1 << 16, 256, 32
_WRITTEN = re.compile(r"[-+]?\d+\.(\d+)(?:[eE][-+]?\d{1,3})?")
"""A written number with a fraction."""

_WHOLE = re.compile(r"(?<![\d.])[-+]?\d+(?!\d|\.\d)")
_CONFIRMING = 60
"""An exact whole number equals what is returned by chance: in 46 % of the runs under a claim of epsilon 1, in 96 %
under one of 4. It does so in all of so many runs with probability 1e-20 and .11."""


def unseen_outputs(
    run: Run, neighbours: tuple[Any, Any], seconds: float | None = None, *, calls: int = 0
) -> tuple[str, ...]:
    """Return the names of the channels beside the returned value that follow the data, on eight calls of one run.

    What is printed, logged or written in few runs only is looked for in `calls` further runs of each data set.
    Read are Python's standard output and error, warnings, log records, environment variables, and the globals, closures
    and attributes named by the function and by functions of its module that it names, files that are written, names of
    files, commands and connections. What differs by numbers alone that the run returns as well, perhaps rounded, is no
    channel; that is looked at in 60 further runs of each data set. Not seen are the rest of large objects and files,
    and state behind other modules and objects.

    >>> unseen_outputs(lambda data, rng, n_runs: os.environ.update(SHOWN=f"{data}") or rng.laplace(size=1), (0.0, 1.0))
    ('the environment',)
    """
    follow: dict[str, None] = {}
    for numbers, read in ((range(_STREAMS), _channels), (range(_STREAMS, _STREAMS + calls), _shown)):
        for number in numbers:
            channels = partial(_both, read, run, neighbours, number, seconds)
            follow |= dict.fromkeys(following(channels(), channels))
        follow = {name: None for name in follow if not _is_published(run, neighbours, seconds, name)}
        if follow:
            break
    return tuple(name for name in follow if not (name.startswith("new files") and _named(follow)))


def _both(
    read: Callable[..., Channels], run: Run, neighbours: tuple[Any, Any], number: int, seconds: float | None
) -> tuple[Channels, Channels]:
    """Return what `read` hears of one call on each data set."""
    first, second = (read(run, data, number, seconds) for data in neighbours)
    return first, second


def _is_published(run: Run, neighbours: tuple[Any, Any], seconds: float | None, name: str) -> bool:
    """Return whether a channel follows the data by numbers alone that its run returns; some run must show one."""
    marked = False
    for number in range(_STREAMS, _STREAMS + _CONFIRMING):
        heard = [_heard(run, data, number, seconds) for data in neighbours]
        first, second = (_without(channels.get(name), numbers) for channels, numbers in heard)
        if first != second:
            return False
        marked = marked or heard[0][0].get(name) != heard[1][0].get(name)
    return marked


def _named(names: Mapping[str, None]) -> bool:
    """Return whether a file is found by its name, which says more than its folder does."""
    return any(name.startswith("the file ") for name in names)


def _channels(run: Run, data: Any, number: int, seconds: float | None) -> dict[str, Any]:
    """Return what one call of one run leaves in each channel."""
    shown = _shown(run, data, number, seconds)
    return shown | {name: digest for name, digest in _state(run).items() if digest is not None}


def _shown(run: Run, data: Any, number: int, seconds: float | None) -> dict[str, Any]:
    """Return what one call of one run prints, logs and writes."""
    return _heard(run, data, number, seconds)[0]


def _heard(run: Run, data: Any, number: int, seconds: float | None) -> tuple[dict[str, Any], Array]:
    """Return what one call of one run prints, logs and writes, and the numbers that it returns."""
    with shown_beside() as shown:
        returned = outcome(run, data, np.random.default_rng([_STREAM, number]), seconds)
        _flush(run)
    return shown.channels, _numbers_in(returned) if shown.channels else np.zeros(0)


def _numbers_in(returned: Any) -> Array:
    """Return the numbers that a run returned, in ascending order; none where they cannot be read."""
    numbers = [column.ravel()[:_MOST_ENTRIES] for column in numbers_of(returned).values()]
    ordered: Array = np.sort(np.concatenate([np.zeros(0), *numbers]))
    return ordered[np.isfinite(ordered)]


def _without(shown: Any, numbers: Array) -> Any:
    """Return what a channel shows, with a mark for each written number that is one of `numbers`.

    A number with a fraction is one of them up to its last digit, a whole number if it is equal.
    """
    if isinstance(shown, list | tuple):
        return [_without(text, numbers) for text in shown]
    if isinstance(shown, bytes):
        return _without(shown.decode("latin-1"), numbers)
    if not isinstance(shown, str):
        return shown
    marked = _WRITTEN.sub(lambda written: _marked(written, numbers), shown)
    return _WHOLE.sub(lambda written: "\0" if float(written.group()) in numbers else written.group(), marked)


def _marked(written: re.Match[str], numbers: Array) -> str:
    """Return a mark for a written number with a fraction that is one of `numbers`, and the number itself otherwise."""
    value, digits = float(written.group()), len(written.group(1))
    index = int(np.searchsorted(numbers, value))
    near = numbers[max(index - 1, 0) : index + 1]
    return "\0" if (np.abs(near - value) <= 0.51 * 10.0**-digits + 1e-9 * abs(value)).any() else written.group()


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
    named: dict[str, Any] = {}
    if isinstance(plain, types.FunctionType):
        _named_by(plain, named, {}, plain.__module__)
    owner: Any = getattr(function, "__self__", None if isinstance(plain, types.FunctionType) else function)
    attributes: Mapping[str, Any] = getattr(owner, "__dict__", {})
    return named | {f"the attribute {name!r}": value for name, value in attributes.items()}


def _named_by(function: types.FunctionType, named: dict[str, Any], seen: dict[int, None], module: str | None) -> None:
    """Add the globals, closures and attributes that a function and the functions that it names name."""
    if id(function) in seen or function.__module__ != module or len(seen) >= _MOST_FUNCTIONS:
        return
    seen[id(function)] = None
    code, world = function.__code__, function.__globals__
    own = {f"the global {name!r}": world[name] for name in code.co_names if name in world}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # a variable that is not yet set
            own[f"the variable {name!r}"] = cell.cell_contents
    own |= {f"the attribute {name!r} of {function.__name__!r}": value for name, value in vars(function).items()}
    for name, value in own.items():
        if isinstance(value, types.FunctionType):
            _named_by(value, named, seen, module)
        else:
            named[name] = value


def _digest(value: Any) -> str | None:
    """Return a digest of a value of which state can consist, None for any other or a large one."""
    if isinstance(value, types.ModuleType | type) or callable(value):
        return None
    if isinstance(value, np.ndarray) and value.nbytes <= _MOST_TEXT and not value.dtype.hasobject:
        return digest_of(value)
    if isinstance(value, Sized) and len(value) > _MOST_ENTRIES:
        return None
    try:
        return digest_of(value)
    except (DPAuditError, ValueError, TypeError):
        return None
