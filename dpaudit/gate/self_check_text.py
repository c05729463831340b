"""The checks of an installation on a terminal and as Markdown."""

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.gate.self_check import InstallationCheck, Status
from dpaudit.render.layout import columns, headline
from dpaudit.wording.markdown import table

_MARKS: dict[Status, tuple[str, str]] = {
    "ok": ("✓ ok", "green"),
    "absent": ("○ absent", "yellow"),
    "failed": ("✗ failed", "bold red"),
}


def self_check_text(checks: tuple[InstallationCheck, ...]) -> RenderableType:
    """Return the state of an installation for a terminal of any width."""
    failed = sum(check.status == "failed" for check in checks)
    head = (
        headline("FAULTY", "red", f"{failed} failed; do not trust results of this installation.")
        if failed
        else headline("SOUND", "green", "The installation is complete and its numbers are right.")
    )
    rows = [(Text(*_MARKS[check.status]), check.what, check.says) for check in checks]
    return Group(head, Text(), columns(rows, "", "", "dim"))


def self_check_markdown(checks: tuple[InstallationCheck, ...]) -> str:
    """Return the state of an installation as Markdown."""
    return table(("", "what", "says"), [(_MARKS[check.status][0], check.what, check.says) for check in checks]) + "\n"
