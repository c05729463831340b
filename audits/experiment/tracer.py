"""A program under a tracer; an outer tracer is restored."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def run_traced(program: Callable[[], Any], entered: Callable[[FrameType, str, Any], Any]) -> None:
    """Run `program()` with `entered` called at each new frame, as `sys.settrace` says.

    >>> seen = []
    >>> run_traced(lambda: 1, lambda frame, event, argument: seen.append(event))
    >>> seen
    ['call']
    """
    before = sys.gettrace()
    sys.settrace(entered)
    try:
        program()
    finally:
        sys.settrace(before)
