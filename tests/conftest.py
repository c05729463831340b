"""A folder to write in, and what runs at night alone: `nightly.txt` names it, and what holds the same fact by day."""

import os
import random
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest
from hypothesis import settings

# The tests start a process for each core. Threads beyond that wait in turn: a replayed loop takes six times as long.
# It is set before the processes start and before any library reads it.
for limit in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(limit, "1")
# Who asked for tracebacks gets an exception where a command would end with an exit code.
os.environ.pop("DPAUDIT_TRACEBACK", None)

NIGHTLY = Path(__file__).with_name("nightly.txt")
DAY = "DPAUDIT_TESTS_DRAWN_BY"
"""The variable whose text decides what is drawn on a change, and whose turn it is: the date, unless it is set."""

DAYS = 4
"""The tests of a file that takes turns run on one of so many days in a row each."""


def nightly(text: str) -> dict[str, tuple[str, ...] | int | None]:
    """Return what a list names, each with the members that stay, with how many are drawn, or with None for turns.

    A line is a node id, "family except member | member", "family draws number", or "file takes turns"; the sentence
    above it says what holds the same fact on every change. Of a family that is drawn the first and the last member
    stay, and as many between them as the number says, others every day. Of a file that takes turns each test that is
    not listed itself runs every fourth day.

    Raises: ValueError: a line without a sentence, or a name that is listed twice.

    >>> nightly("# One is enough.\\nt.py::a[1]\\nt.py::b except 2 | 3\\nt.py::c draws 4\\nu.py takes turns\\n")
    {'t.py::a[1]': (), 't.py::b': ('t.py::b[2]', 't.py::b[3]'), 't.py::c': 4, 'u.py': None}
    """
    listed: dict[str, tuple[str, ...] | int | None] = {}
    reason = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, members = line.partition(" except ")
        family, draws, number = line.rpartition(" draws ")
        file, turns, _ = line.rpartition(" takes turns")
        if line.startswith("#"):
            reason = line.removeprefix("#").strip()
        elif not reason or {name, family, file} & listed.keys():
            raise ValueError(f"Expected one sentence above {line!r}, and that it is listed once.")
        elif draws and number.isdecimal():
            listed[family] = int(number)
        elif turns:
            listed[file] = None
        else:
            listed[name] = tuple(f"{name}[{member}]" for member in members.split(" | ") if member)
    return listed


def settled(
    listed: dict[str, tuple[str, ...] | int | None], collected: Sequence[str], day: str
) -> dict[str, tuple[str, ...]]:
    """Return the list with the members that stay on one day in place of numbers, and tests in place of turns.

    >>> settled({"t.py::a": 1}, [f"t.py::a[{n}]" for n in range(9)], "today")
    {'t.py::a': ('t.py::a[0]', 't.py::a[8]', 't.py::a[2]')}
    >>> settled({"t.py": None}, ["t.py::a", "t.py::b", "t.py::c", "u.py::a"], "2026-11-28")
    {'t.py::b': ()}
    """
    families: dict[str, list[str]] = {}
    for name in collected:
        if name not in listed:
            families.setdefault(name.partition("[")[0], []).append(name)
    staying: dict[str, tuple[str, ...]] = {}
    for name, members in listed.items():
        if isinstance(members, int):
            family = families.get(name, [])
            inner = family[1:-1]
            drawn = random.Random(f"{name} {day}").sample(inner, min(members, len(inner)))  # noqa: S311
            staying[name] = (*family[:1], *family[-1:], *drawn)
        elif members is not None:
            staying[name] = members
    for name, tests in families.items():
        if name not in listed and listed.get(name.partition("::")[0], ()) is None:
            staying |= {test: () for test in tests if not is_turn(test, day)}
    return staying


def is_turn(name: str, day: str) -> bool:
    """Return whether a test that takes turns runs on a day; a text that is no date is a day as well.

    >>> [day for day in range(10, 20) if is_turn("t.py::a", f"2026-11-{day}")]
    [12, 16]
    """
    number = zlib.crc32(day.encode())
    with suppress(ValueError):
        number = date.fromisoformat(day).toordinal()
    return (zlib.crc32(name.encode()) + number) % DAYS == 0


def held_back(listed: dict[str, tuple[str, ...]], name: str) -> bool:
    """Return whether a node id is listed, itself or with its family.

    >>> held_back({"t.py::a": ("t.py::a[2]",)}, "t.py::a[1]"), held_back({"t.py::a": ("t.py::a[2]",)}, "t.py::a[2]")
    (True, False)
    """
    family = name.partition("[")[0]
    return name in listed or (family in listed and name not in listed[family])


def stale(listed: dict[str, tuple[str, ...]], collected: Sequence[str]) -> list[str]:
    """Return what is named and not there, of the files that were collected.

    >>> stale({"t.py::a": ("t.py::a[1]",), "t.py::b": (), "u.py::c": ()}, ["t.py::a[2]", "t.py::b[1]"])
    ['t.py::a[1]']
    """
    names = {*collected, *(name.partition("[")[0] for name in collected)}
    files = {name.partition("::")[0] for name in names}
    named = [name for key, members in listed.items() for name in (key, *members)]
    return [name for name in named if name.partition("::")[0] in files and name not in names]


def pytest_configure(config: pytest.Config) -> None:
    """Draw 15 examples of a property on a change, and 100 where slow tests run as well; all processes have one day."""
    os.environ.setdefault(DAY, date.today().isoformat())  # noqa: DTZ011 - any day will do
    settings.register_profile("change", max_examples=15)
    if config.getoption("markexpr") == "not slow":
        settings.load_profile("change")


def pytest_report_header() -> str:
    """Say which members of large families run, so that another day's can run again."""
    return f"members of large families: {DAY}={os.environ[DAY]}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what is listed, before the marks are read; a line that names nothing in a whole file is an error."""
    names = [item.nodeid for item in items]
    listed = settled(nightly(NIGHTLY.read_text(encoding="utf-8")), names, os.environ[DAY])
    for item in items:
        if held_back(listed, item.nodeid):
            item.add_marker(pytest.mark.slow)
    whole = not any("::" in argument for argument in config.args) and not config.getoption("lf", default=False)
    if whole and (gone := stale(listed, names)):
        raise pytest.UsageError(f"Expected that every line of tests/nightly.txt names a test, got {gone[0]!r}.")


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return a function that writes a file in a folder of its own, where the test then runs, and returns its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def file(text: str, name: str = "config.toml") -> str:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
        return name

    return file
