"""The line of a user's loop at which two runs part: a named value begins to differ, or another line comes next."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from types import FrameType
from typing import Any

from audits.experiment.tracer import is_of_program, run_traced
from dpaudit.training import Watch


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

    def run(self, program: Callable[[], Any], file: str) -> Any:
        """Return what a program returns, and note the lines that it passes in `file` and in other files of its own."""

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            del argument
            name = frame.f_code.co_filename
            if name != file and not is_of_program(name):
                return None
            if event == "call":
                self.callers.append(self.at)
            if event in ("line", "return"):
                self._note()
                self.at = f"{Path(name).name}:{frame.f_lineno}" if event == "line" else self.callers.pop()
            return trace

        try:
            return run_traced(program, trace)
        finally:
            self._note()

    def _note(self) -> None:
        """Take note that the line before this moment has ended."""
        if self.at and self.watch.steps == self.sought.steps:
            state = self.watch.state() if self.sought.names else {}
            self.passed.append((self.at, tuple(state.get(name) for name in self.sought.names)))


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
