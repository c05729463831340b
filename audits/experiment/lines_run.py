"""The lines that a program executes in its own modules, on one run."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from audits.experiment.tracer import run_traced

Lines = dict[str, set[int]]
"""Line numbers by the full name of a file."""

_TOOL = "dpaudit coverage"


def lines_run(program: Callable[[], Any], own: Callable[[str], bool]) -> Lines:
    """Return the lines that `program()` executes inside functions of files for which `own(file)` is true.

    Statements at the level of a module are left out, as an earlier import may have executed them. An exception of the
    program ends the record and is not raised: it is an output of the audited code. From Python 3.12 on the interpreter
    reports each line once; earlier ones trace every line, and an outer tracer is restored.

    >>> sorted(len(lines) for lines in lines_run(lambda: 1, lambda file: False).values())
    []
    """
    seen: Lines = defaultdict(set)
    watch = _monitored if hasattr(sys, "monitoring") else _traced
    with suppress(Exception):  # what the audited code raises is an output of it
        watch(program, cache(own), seen)
    return dict(seen)


def own_files(home: str) -> Callable[[str], bool]:
    """Return whether a file belongs to the top package of the module called `home`, or is that module's file.

    Data sets, references and baselines beside an algorithm are no part of it.
    """
    module = sys.modules[home.partition(".")[0]]
    file = Path(getattr(module, "__file__", None) or sys.modules[home].__file__ or "")
    if not hasattr(module, "__path__"):
        return lambda name: Path(name) == file
    folder = file.parent

    def own(name: str) -> bool:
        path = Path(name)
        return path.is_relative_to(folder) and not {"problems", "references", "baselines"} & set(path.parts)

    return own


def spans(lines: Lines, root: Callable[[str], str] = str) -> tuple[str, ...]:
    """Return lines as "file:first-last", in order; neighbours by number are one span.

    >>> spans({"m.py": {3, 1, 2, 7}})
    ('m.py:1-3', 'm.py:7')
    """
    written: list[str] = []
    for file in sorted(lines):
        for first, last in _runs(sorted(lines[file])):
            written.append(f"{root(file)}:{first}" if first == last else f"{root(file)}:{first}-{last}")
    return tuple(written)


def _runs(numbers: list[int]) -> Iterable[tuple[int, int]]:
    """Yield the first and last of each stretch of consecutive numbers."""
    first: int | None = None
    for number, following in zip(numbers, [*numbers[1:], None], strict=True):
        first = number if first is None else first
        if following != number + 1:
            yield first, number
            first = None


def _traced(program: Callable[[], Any], own: Callable[[str], bool], seen: Lines) -> None:
    """Run the program under a tracer."""

    def looked(frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        if event == "line":
            seen[frame.f_code.co_filename].add(frame.f_lineno)
        return looked

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        del event, argument
        code = frame.f_code
        return looked if code.co_name != "<module>" and own(code.co_filename) else None

    run_traced(program, entered)


def _monitored(program: Callable[[], Any], own: Callable[[str], bool], seen: Lines) -> None:
    """Run the program with the interpreter's own line events; without a free place for a tool, under a tracer."""
    monitoring: Any = vars(sys)["monitoring"]  # of Python 3.12 and later
    tool = next((free_id for free_id in (3, 4, 1, 2) if monitoring.get_tool(free_id) is None), None)
    if tool is None:
        _traced(program, own, seen)
        return

    def met(code: CodeType, number: int) -> Any:
        if code.co_name != "<module>" and own(code.co_filename):
            seen[code.co_filename].add(number)
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, _TOOL)
    try:
        monitoring.register_callback(tool, monitoring.events.LINE, met)
        monitoring.restart_events()
        monitoring.set_events(tool, monitoring.events.LINE)
        program()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, monitoring.events.LINE, None)
        monitoring.free_tool_id(tool)
