"""The differences of two reports on a terminal and as Markdown."""

from rich.console import Group, RenderableType
from rich.text import Text

from dpaudit.gate.comparison import Change
from dpaudit.render.layout import columns, headline
from dpaudit.wording.escaping import clean
from dpaudit.wording.markdown import table

_COLOURS = {"worse": "red", "other": "yellow", "better": "green"}


def changes_text(changes: tuple[Change, ...]) -> RenderableType:
    """Return the differences of two reports for a terminal."""
    worse = sum(change.direction == "worse" for change in changes)
    head = (
        headline("WORSE", "red", f"{worse} of {len(changes)} changes are for the worse.")
        if worse
        else headline("NO WORSE", "green", f"{len(changes)} changes, none for the worse." if changes else "No change.")
    )
    rows = [
        (
            Text(change.direction, style=_COLOURS[change.direction]),
            clean(change.what),
            clean(f"{change.before} → {change.after}"),
        )
        for change in changes
    ]
    return Group(head, *([Text(), columns(rows, "", "", "")] if rows else []))


def changes_markdown(changes: tuple[Change, ...]) -> str:
    """Return the differences of two reports as Markdown."""
    if not changes:
        return "No change.\n"
    rows = [(change.direction, clean(change.what), clean(change.before), clean(change.after)) for change in changes]
    return table(("", "what", "before", "after"), rows) + "\n"
