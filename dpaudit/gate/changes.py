"""The differences of two reports as a document."""

from dpaudit.documents.document import Document, Mark, Table, document, judged
from dpaudit.gate.comparison import Change, Direction
from dpaudit.wording.verdicts import Tone

_TONES: dict[Direction, Tone] = {"worse": "bad", "other": "open", "better": "good"}


def changes_document(changes: tuple[Change, ...]) -> Document:
    """Return the differences of two reports, each with its direction."""
    worse = sum(change.direction == "worse" for change in changes)
    unchanged = f"{len(changes)} changes, none for the worse." if changes else "No change."
    sentence = f"{worse} of {len(changes)} changes are for the worse." if worse else unchanged
    rows = tuple(
        (Mark(change.direction, _TONES[change.direction]), change.what, change.before, change.after)
        for change in changes
    )
    return document(
        judged("FINDING" if worse else "PASS", sentence),
        Table(rows, head=("", "what", "before", "after"), wrapped=True),
        title="What changed between two reports",
    )
