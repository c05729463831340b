"""A hostile text costs the checker time and memory in proportion to its length."""

import re
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from dpaudit.verifier import reading, verify

REMEMBERING = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
"""A broken twin: it remembers a way back for every character, and begins again at each quote of an unended string."""


def seconds(read: Callable[[str], Any], text: str) -> float:
    """Return the processor time of one reading."""
    began = time.process_time()
    read(text)
    return time.process_time() - began


def peak(read: Callable[[str], Any], text: str) -> int:
    """Return the most bytes that one reading holds at once."""
    tracemalloc.start()
    try:
        read(text)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_string_without_end_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seconds(verify, '{"a": "' + '\\"' * 500_000) < 5
    monkeypatch.setattr(reading, "_TOKENS", REMEMBERING)
    once, twice = (seconds(verify, '{"a": "' + '\\"' * n) for n in (4_000, 8_000))
    assert twice > 3 * once > 0.1


@pytest.mark.parametrize("letters", ["x", "\\n", "x\\n"])
def test_the_depth_of_a_long_string_needs_no_memory(letters: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = '"' + letters * (10**6 // len(letters)) + '"'
    assert peak(reading._depth, text) < 4 * len(text)
    monkeypatch.setattr(reading, "_TOKENS", REMEMBERING)
    assert peak(reading._depth, text) > 8 * len(text)


def test_brackets_inside_of_strings_do_not_nest() -> None:
    assert reading._depth('[{"a": "[[[\\"[["}, []]') == 2
    assert reading._depth('["a\\\\", [1]]') == 2
    assert reading._depth('["[[[') == 1
