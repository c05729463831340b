"""The scanner that finds the lines of keys, held against the real parsers."""

import json
import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpaudit.configuration.source_lines import key_lines, nearest_line

TRICKY = ["", "#", "a = 1", "[x]", '"', "'", "\\", "{", "}", ",", "x.y", "é", "\n", '"""']
KEYS = st.sampled_from(["a", "b", "c d", "e.f", "#", "[", "=", "é", '"', "\\"])
LEAVES = st.one_of(st.integers(-5, 5), st.booleans(), st.floats(0, 1), st.sampled_from(TRICKY))
DATA = st.dictionaries(
    KEYS,
    st.recursive(
        LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3))
    ),
    max_size=4,
)


def _paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every key and list item."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from _paths(value, (*path, key))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(DATA)
def test_every_key_of_json_is_found_on_its_own_line(data: Any) -> None:
    """One line a value, as the standard library writes it: each path is found, in the order of its lines."""
    lines = key_lines(json.dumps(data, indent=1, ensure_ascii=False))
    expected = list(_paths(data))
    assert set(lines) == set(expected)
    found = [lines[path] for path in expected]
    assert found == sorted(found)
    text = json.dumps(data, indent=1, ensure_ascii=False).splitlines()
    for path in expected:
        if isinstance(path[-1], str):
            assert text[lines[path] - 1].strip().startswith(json.dumps(path[-1], ensure_ascii=False) + ":")


def test_json_may_go_on_in_a_new_line_anywhere() -> None:
    """Before and after the colon of a key and the comma of a list; a value on its own line is found with its key."""
    text = '\n{"a"\n:\n{"b": [1\n,\n{"c":\n2}]},\n"d":\n"x: [y]"}'
    assert json.loads(text) == {"a": {"b": [1, {"c": 2}]}, "d": "x: [y]"}
    assert key_lines(text) == {
        ("a",): 2,
        ("a", "b"): 4,
        ("a", "b", 0): 4,
        ("a", "b", 1): 6,
        ("a", "b", 1, "c"): 6,
        ("d",): 8,
    }


def _toml(data: Any) -> tuple[str, dict[Any, Any]]:
    """Return `data` as TOML, and the line of every path: tables as headers, what is inside lists inline."""
    rows, lines = [], {}

    def table(held: dict[Any, Any], path: tuple[Any, ...]) -> None:
        for key, value in held.items():
            if not isinstance(value, dict):
                rows.append(f"{json.dumps(key, ensure_ascii=False)} = {_inline(value)}  # {key}")
                note(value, (*path, key))
        for key, value in held.items():
            if isinstance(value, dict):
                rows.append("[" + " . ".join(json.dumps(word, ensure_ascii=False) for word in (*path, key)) + "]")
                lines[(*path, key)] = len(rows)
                table(value, (*path, key))

    def note(value: Any, path: tuple[Any, ...]) -> None:
        lines[path] = len(rows)
        for below in _paths(value, path):
            lines[below] = len(rows)

    table(data, ())
    return "\n".join(rows), lines


def _inline(value: Any) -> str:
    """Return a value on one line of TOML."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key, ensure_ascii=False)} = {_inline(held)}" for key, held in value.items())
        return "{ " + ", ".join(pairs) + " }"
    return (
        "[" + ", ".join(map(_inline, value)) + "]" if isinstance(value, list) else json.dumps(value, ensure_ascii=False)
    )


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(DATA)
def test_every_key_of_toml_is_found_on_the_line_it_was_written_on(data: Any) -> None:
    """Headers, dotted and quoted keys, comments, inline tables in lists: the same paths, on the right lines."""
    text, expected = _toml(data)
    assert tomllib.loads(text) == data
    assert key_lines(text) == expected


def test_lists_of_tables_are_counted() -> None:
    """`[[part]]` opens the next table of a list, and `[part.inner]` belongs to the last one."""
    text = "[[part]]\na = 1\n[part.inner]\nb = 2\n\n[[part]]\na = 3\n[[part.deep]]\nc = 4\n[other]\nx.y = 1\n"
    lines = key_lines(text)
    assert lines["part", 0, "a"] == 2
    assert lines["part", 0, "inner", "b"] == 4
    assert lines["part", 1] == 6
    assert lines["part", 1, "a"] == 7
    assert lines["part", 1, "deep", 0, "c"] == 9
    assert lines["other", "x", "y"] == 11


def test_text_over_several_lines_holds_no_keys() -> None:
    """What looks like a key inside a long string is not one, and the lines after it are counted right."""
    lines = key_lines('a = """\nb = 1\n[c]\n"""\nd = [\n  1,\n  { e = 2 },\n]\nf = 07:32:00\ng = 1\n')
    assert lines == {("a",): 1, ("d",): 5, ("d", 0): 6, ("d", 1): 7, ("d", 1, "e"): 7, ("f",): 9, ("g",): 10}


def test_a_place_without_a_line_takes_that_of_what_surrounds_it() -> None:
    """A missing key is told on the line of its table."""
    assert nearest_line({("claim",): 4}, ("claim", "epsilon")) == 4
    assert nearest_line({}, ("claim",)) == 1
