"""A program under a tracer; an outer tracer is restored."""

import os
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

_T = TypeVar("_T")

_OURS = tuple(f"{Path(__file__).parents[2] / name}{os.sep}" for name in ("audits", "dpaudit", "mechanisms"))
_INSTALLED = {"site-packages", "dist-packages"}


def run_traced(program: Callable[[], _T], entered: Callable[[FrameType, str, Any], Any]) -> _T:
    """Run `program()` with `entered` called at each new frame, as `sys.settrace` says, and return what it returns.

    >>> seen = []
    >>> run_traced(lambda: 1, lambda frame, event, argument: seen.append(event)), seen
    (1, ['call'])
    """
    before = sys.gettrace()
    sys.settrace(entered)
    try:
        return program()
    finally:
        sys.settrace(before)


@cache
def is_of_program(file: str) -> bool:
    """Return whether a file holds code of a program: none of ours, of an installed package or of Python itself.

    >>> is_of_program(os.__file__), is_of_program("<string>")
    (False, False)
    """
    outside = file.startswith((*_OURS, sysconfig.get_path("stdlib"))) or bool(_INSTALLED & set(Path(file).parts))
    return not outside and Path(file).is_file()
