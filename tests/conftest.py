"""What runs at night alone: `nightly.txt` names it, and says what holds the same fact on every change."""

from collections.abc import Sequence
from pathlib import Path

import pytest

NIGHTLY = Path(__file__).with_name("nightly.txt")


def nightly(text: str) -> dict[str, str]:
    """Return each node id of a list with the sentence above it: what holds the same fact on every change.

    Raises: ValueError: a node id without a sentence, or one that is listed twice.

    >>> nightly("# One member is enough.\\ntests/test_a.py::test_b[c]\\n")
    {'tests/test_a.py::test_b[c]': 'One member is enough.'}
    """
    reasons: dict[str, str] = {}
    reason = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("#"):
            reason = line.removeprefix("#").strip()
        elif not reason or line in reasons:
            raise ValueError(f"Expected one sentence above {line!r}, and that it is listed once.")
        else:
            reasons[line] = reason
    return reasons


def held_back(listed: dict[str, str], name: str) -> bool:
    """Return whether a node id is listed, itself or as a whole family.

    >>> held_back({"t.py::a": "r"}, "t.py::a[1]"), held_back({"t.py::a[2]": "r"}, "t.py::a[1]")
    (True, False)
    """
    return name in listed or name.partition("[")[0] in listed


def stale(listed: Sequence[str], collected: Sequence[str]) -> list[str]:
    """Return what is listed and not there, of the files that were collected.

    >>> stale(["t.py::a[1]", "t.py::b", "u.py::c"], ["t.py::a[2]", "t.py::b[1]"])
    ['t.py::a[1]']
    """
    names = {*collected, *(name.partition("[")[0] for name in collected)}
    files = {name.partition("::")[0] for name in names}
    return [name for name in listed if name.partition("::")[0] in files and name not in names]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what is listed, before the marks are read; a line that names nothing in a whole file is an error."""
    listed = nightly(NIGHTLY.read_text(encoding="utf-8"))
    for item in items:
        if held_back(listed, item.nodeid):
            item.add_marker(pytest.mark.slow)
    whole = not any("::" in argument for argument in config.args) and not config.getoption("lf", default=False)
    if whole and (gone := stale([*listed], [item.nodeid for item in items])):
        raise pytest.UsageError(f"Expected that every line of tests/nightly.txt names a test, got {gone[0]!r}.")
