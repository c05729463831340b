"""The list of what runs at night alone: every line names a test, and leaves another one of its file for a change."""

import ast
from pathlib import Path

import pytest

from tests.conftest import DAYS, NIGHTLY, held_back, nightly, settled, stale

ROOT = Path(__file__).parents[2]
LISTED = nightly(NIGHTLY.read_text(encoding="utf-8"))


def names_of(path: Path) -> set[str]:
    """Return the names of the tests of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_line_names_a_test_and_its_file_has_one_for_a_change() -> None:
    """A renamed test would run on every change again, unseen; a file of none would lose its facts."""
    for file in {line.partition("::")[0] for line in LISTED}:
        there = names_of(ROOT / file)
        named = {line.partition("::")[2].partition("[")[0] for line in LISTED if line.startswith(f"{file}::")}
        assert named <= there, file
        assert there - {name for name in named if LISTED.get(f"{file}::{name}") == ()}, file


def test_a_line_without_a_sentence_is_refused() -> None:
    """Nothing leaves a change without the name of what stays."""
    with pytest.raises(ValueError, match="one sentence above"):
        nightly("a.py::b\n")
    for second in ("a.py::b", "a.py::b draws 2"):
        with pytest.raises(ValueError, match="listed once"):
            nightly(f"# r\na.py::b\n{second}\n")


def test_a_family_is_held_back_by_its_name_but_for_the_members_that_are_named() -> None:
    """A name without brackets stands for all its members but the excepted ones, and for no test that begins alike."""
    listed = settled(nightly("# r\na.py::b except 2 | 3\n"), [], "today")
    assert held_back(listed, "a.py::b[1]")
    assert not held_back(listed, "a.py::b[2]")
    assert not held_back(listed, "a.py::bc")
    assert stale(listed, ["a.py::b[1]", "a.py::b[2]"]) == ["a.py::b[3]"]


def test_of_a_large_family_both_ends_and_others_every_day_stay_and_all_within_a_month() -> None:
    """Every process draws the same on one day; a member that is listed by itself is never drawn."""
    listed = nightly("# r\na.py::b draws 3\na.py::b[4]\n")
    members = [f"a.py::b[{n}]" for n in range(20)]
    days = [set(settled(listed, members, f"day {day}")["a.py::b"]) for day in range(31)]
    assert all(len(day) == 5 and {members[0], members[-1]} < day for day in days)
    assert set.union(*days) == {*members} - {members[4]}
    assert settled(listed, members, "day 3")["a.py::b"] == settled(listed, members, "day 3")["a.py::b"]
    assert not stale(settled(listed, members, "day 3"), members)


def test_of_a_file_that_takes_turns_every_test_runs_on_one_of_four_days_in_a_row() -> None:
    """A line for a test of that file goes before its turn; a file of another name has none."""
    listed = nightly("# r\na.py takes turns\na.py::b[1]\na.py::c except 1\n")
    turning = [f"a.py::d[{n}]" for n in range(40)]
    others = ["a.py::b[1]", "a.py::c[1]", "a.py::c[2]", "ab.py::d"]
    for first in (21, 24, 27):
        days = [settled(listed, [*turning, *others], f"2026-11-{first + day}") for day in range(DAYS)]
        running = [[name for name in (*turning, *others) if not held_back(day, name)] for day in days]
        assert sorted(name for day in running for name in day if name in turning) == sorted(turning)
        assert all(day[-2:] == ["a.py::c[1]", "ab.py::d"] and len(day) < 30 for day in running)
