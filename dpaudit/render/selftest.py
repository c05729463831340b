"""The state of an installation, for a terminal and as Markdown."""

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.gate.self_check import Status, Symptom
from dpaudit.render.layout import columns, headline
from dpaudit.wording.markdown import table

_MARKS: dict[Status, tuple[str, str]] = {
    "ok": ("✓ ok", "green"),
    "absent": ("○ absent", "yellow"),
    "failed": ("✗ failed", "bold red"),
}


def symptoms_text(symptoms: tuple[Symptom, ...]) -> RenderableType:
    """Return the state of an installation for a terminal of any width."""
    failed = sum(held.status == "failed" for held in symptoms)
    head = (
        headline("UNWELL", "red", f"{failed} failed; do not trust results of this installation.")
        if failed
        else headline("WELL", "green", "The installation is complete and its numbers are right.")
    )
    rows = [(Text(*_MARKS[held.status]), held.what, held.says) for held in symptoms]
    return Group(head, Text(), columns(rows, "", "", "dim"))


def symptoms_markdown(symptoms: tuple[Symptom, ...]) -> str:
    """Return the state of an installation as Markdown."""
    return table(("", "what", "says"), [(_MARKS[held.status][0], held.what, held.says) for held in symptoms]) + "\n"
