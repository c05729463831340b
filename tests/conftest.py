"""What runs at night alone: `nightly.txt` names it, and says what holds the same fact on every change."""

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what is listed, before the marks are read."""
    listed = nightly(NIGHTLY.read_text(encoding="utf-8"))
    for item in items:
        if held_back(listed, item.nodeid):
            item.add_marker(pytest.mark.slow)
