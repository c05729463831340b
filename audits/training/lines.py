"""The line of a user's loop at which two runs part: a named value begins to differ, or another line comes next."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import FrameType
from typing import Any

from dpaudit.training import Watch

_OURS = tuple(str(Path(__file__).parents[2] / name) for name in ("audits", "dpaudit"))
_OTHERS = ("site-packages", "<", sys.base_prefix, sys.prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What a traced run is asked for: the lines after so many steps, and the values of these names after each."""

    steps: int
    names: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Lines:
    """The lines that a run passed after the steps that were asked for, with the values after each."""

    watch: Watch
    sought: Sought
    passed: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list[tuple[str, tuple[Any, ...]]])
    at: str = ""
    callers: list[str] = field(default_factory=list[str])

    def note(self) -> None:
        """Take note that the line before this moment has ended."""
        if self.at and self.watch.steps == self.sought.steps:
            state = self.watch.state() if self.sought.names else {}
            self.passed.append((self.at, tuple(state.get(name) for name in self.sought.names)))


@contextmanager
def traced(lines: Lines, code: Callable[..., Any]) -> Generator[None, None, None]:
    """Note the lines of the user's files that the block passes; a tracer that was set before waits meanwhile."""
    before, own = sys.gettrace(), getattr(getattr(code, "__code__", None), "co_filename", "")

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        file = frame.f_code.co_filename
        if file != own and (file.startswith(_OURS) or any(part in file for part in _OTHERS)):
            return None
        if event == "call":
            lines.callers.append(lines.at)
        if event in ("line", "return"):
            lines.note()
            lines.at = f"{Path(file).name}:{frame.f_lineno}" if event == "line" else lines.callers.pop()
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
    for our_line, their_line in zip_longest(ours, theirs):
        if our_line is None or their_line is None or our_line[1] != their_line[1]:
            return str((their_line or our_line or ("",))[0])
    return ""


def line_of_end(first: Lines, second: Lines) -> str:
    """Return the line from which one run went on and the other did not."""
    last = ""
    for our_line, their_line in zip(first.passed, second.passed, strict=False):
        if our_line[0] != their_line[0]:
            break
        last = our_line[0]
    return last


def _changes(lines: Lines) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the lines after which a value was another one, with the values."""
    before = [("", None), *lines.passed]
    return [line for line, (_, values) in zip(lines.passed, before, strict=False) if line[1] != values]
