"""The lines that a program executes in its own modules, on one run."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from audits.experiment.tracer import run_traced

Lines = dict[str, set[int]]
"""Line numbers by the full name of a file."""


def lines_run(program: Callable[[], Any], own: Callable[[str], bool], *, whole: bool = False) -> Lines:
    """Return the lines that `program()` executes inside functions of files for which `own(file)` is true.

    With `whole`, all lines of these functions are returned, also those that `program()` passes by.
    Statements at the level of a module are left out, as an earlier import may have executed them. An exception of the
    program ends the record and is not raised: it is an output of the audited code. An outer tracer is restored.

    >>> sorted(len(lines) for lines in lines_run(lambda: 1, lambda file: False).values())
    []
    """
    seen: Lines = defaultdict(set)
    wanted = cache(own)

    def looked(frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        if event == "line":
            seen[frame.f_code.co_filename].add(frame.f_lineno)
        return looked

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        del event, argument
        code = frame.f_code
        if code.co_name == "<module>" or not wanted(code.co_filename):
            return None
        if whole:
            begins = code.co_firstlineno
            seen[code.co_filename] |= {line for *_, line in code.co_lines() if line is not None and line > begins}
        return looked

    with suppress(Exception):  # what the audited code raises is an output of it
        run_traced(program, entered)
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
