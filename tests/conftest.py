"""A folder to write in, and what runs at night alone: `nightly.txt` names it, and what holds the same fact by day."""

import os
from collections.abc import Callable, Sequence
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


def nightly(text: str) -> dict[str, tuple[str, ...]]:
    """Return what a list names (a test, a member of a family or a whole family), each with the members of it that stay.

    A line is a node id, or "family except member | member"; the sentence above it says what holds the same fact on
    every change.

    Raises: ValueError: a line without a sentence, or a name that is listed twice.

    >>> nightly("# One member is enough.\\nt.py::a[1]\\nt.py::b except 2 | 3\\n")
    {'t.py::a[1]': (), 't.py::b': ('t.py::b[2]', 't.py::b[3]')}
    """
    listed: dict[str, tuple[str, ...]] = {}
    reason = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, members = line.partition(" except ")
        if line.startswith("#"):
            reason = line.removeprefix("#").strip()
        elif not reason or name in listed:
            raise ValueError(f"Expected one sentence above {line!r}, and that it is listed once.")
        else:
            listed[name] = tuple(f"{name}[{member}]" for member in members.split(" | ") if member)
    return listed


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
    """Draw 25 examples of a property on a change, and 100 where slow tests run as well."""
    settings.register_profile("change", max_examples=25)
    if config.getoption("markexpr") == "not slow":
        settings.load_profile("change")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what is listed, before the marks are read; a line that names nothing in a whole file is an error."""
    listed = nightly(NIGHTLY.read_text(encoding="utf-8"))
    for item in items:
        if held_back(listed, item.nodeid):
            item.add_marker(pytest.mark.slow)
    whole = not any("::" in argument for argument in config.args) and not config.getoption("lf", default=False)
    if whole and (gone := stale(listed, [item.nodeid for item in items])):
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
