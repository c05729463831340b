"""The line of a user's loop at which two runs part: a named value begins to differ, or another line comes next."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import FrameType
from typing import Any

from dpaudit import Watch

_OURS = tuple(str(Path(__file__).parents[2] / name) for name in ("audits", "dpaudit"))
_OTHERS = ("site-packages", "<", sys.base_prefix, sys.prefix)


@dataclass(slots=True, eq=False)
class Lines:
    """The lines that a run passed, each with the steps before it and the values of some names after it."""

    watch: Watch
    names: tuple[str, ...]
    passed: list[tuple[str, int, tuple[Any, ...]]] = field(default_factory=list[tuple[str, int, tuple[Any, ...]]])
    at: str = ""

    def note(self) -> None:
        """Take note that the line before this moment has ended."""
        if self.at:
            state = self.watch.state() if self.names else {}
            self.passed.append((self.at, self.watch.steps, tuple(state.get(name) for name in self.names)))


@contextmanager
def traced(lines: Lines, code: Callable[..., Any]) -> Generator[None, None, None]:
    """Note the lines of the user's files that the block passes; a tracer that was set before waits meanwhile."""
    before, own = sys.gettrace(), getattr(getattr(code, "__code__", None), "co_filename", "")

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        file = frame.f_code.co_filename
        if file != own and (file.startswith(_OURS) or any(part in file for part in _OTHERS)):
            return None
        if event in ("line", "return"):
            lines.note()
            lines.at = f"{Path(file).name}:{frame.f_lineno}" if event == "line" else ""
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
        lines.note()


def line_of_value(first: Lines, second: Lines) -> str:
    """Return the line after which the values of the names differ first, or nothing."""
    ours, theirs = (_changes(lines) for lines in (first, second))
    for one, other in zip_longest(ours, theirs):
        if one is None or other is None or one[1] != other[1]:
            return str((other or one or ("",))[0])
    return ""


def line_of_end(first: Lines, second: Lines, steps: int) -> str:
    """Return the line from which one run went on and the other did not, after so many steps."""
    ours, theirs = ([at for at, taken, _ in lines.passed if taken == steps] for lines in (first, second))
    last = ""
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            break
        last = one
    return last


def _changes(lines: Lines) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the lines after which a value was another one, with the values."""
    found: list[tuple[str, tuple[Any, ...]]] = []
    for at, _, values in lines.passed:
        if not found or found[-1][1] != values:
            found.append((at, values))
    return found
