"""The line of code after which a published value first stands in some variable."""

from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from audits.experiment.tracer import is_of_program, run_traced
from dpaudit.model.mechanism import Array
from dpaudit.model.tape import line_of


def first_line(program: Callable[[], Any], value: Array, other: Array) -> str | None:
    """Return "file:line" of the first line of `program` that made a variable equal to `value`; None if none did.

    `other` is what stands there without the difference: where the second axis counts steps, the value of the first
    step that differs is looked for as well. The program runs once more, under a tracer.
    """
    wanted = _wanted(np.asarray(value), np.asarray(other))
    lines: dict[int, str] = {}
    lines_found: list[str] = []

    def looked(frame: FrameType, event: str, argument: Any) -> Any:
        if lines_found:
            return None
        if event in ("line", "return"):
            if id(frame) in lines and _holds(frame, wanted):
                lines_found.append(lines[id(frame)])
                return None
            lines[id(frame)] = line_of(frame)
        return looked

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        lines.pop(id(frame), None)
        return looked if not lines_found and is_of_program(frame.f_code.co_filename) else None

    run_traced(program, entered)
    return lines_found[0] if lines_found else None


def _wanted(value: Array, other: Array) -> tuple[Array, ...]:
    """Return the whole value, and that of the first step that differs."""
    if value.shape != other.shape or value.ndim < 2:
        return (value.ravel(),)
    apart = np.nonzero(value != other)
    step = int(apart[1].min()) if apart[1].size else 0
    return value.ravel(), value[:, step].ravel()


def _holds(frame: FrameType, wanted: tuple[Array, ...]) -> bool:
    """Return whether some local variable is one of the wanted values."""
    variables = [number_array for variable in frame.f_locals.values() for number_array in _inside(variable)]
    return any(
        variable.size == wanted_array.size and np.array_equal(variable.ravel(), wanted_array)
        for variable in variables
        for wanted_array in wanted
    )


def _inside(variable: Any) -> list[Array]:
    """Return the array in a variable, the last one of a list, or those in a dict of arrays or lists."""
    if isinstance(variable, np.ndarray):
        return [variable]
    if isinstance(variable, dict):
        return [array for value in variable.values() if not isinstance(value, dict) for array in _inside(value)]
    if isinstance(variable, list) and variable and isinstance(variable[-1], np.ndarray):
        return [variable[-1]]
    return []
