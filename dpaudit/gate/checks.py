"""One check of an installation or of a plug-in, and what all of them say as a document."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from dpaudit.documents.document import Document, Mark, Table, document, judged, under

Status = Literal["ok", "absent", "not looked at", "failed"]

_MARKS: dict[Status, Mark] = {
    "ok": Mark("✓ ok", "good"),
    "absent": Mark("○ absent", "open"),
    "not looked at": Mark("○ open", "open"),
    "failed": Mark("✗ failed", "bad"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check: its subject, its status, and a sentence; of a plug-in also the example that it was made on."""

    what: str
    status: Status
    says: str
    example: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {name: value for name, value in asdict(self).items() if name != "example" or value}


def checks_document(checks: tuple[Check, ...]) -> Document:
    """Return checks in their order, those of a plug-in example by example, below what they say together."""
    failed = sum(check.status == "failed" for check in checks)
    looked = sum(check.status != "not looked at" for check in checks)
    plugin = any(check.example for check in checks)
    broken = f"{failed} failed; do not trust results of this installation."
    sound = "The installation is complete and its numbers are right."
    if plugin:
        broken = f"The contract is broken: {failed} of {looked} checks failed."
        sound = f"{looked} checks found nothing wrong; that is no proof."
    tables = {
        example: Table(
            tuple((_MARKS[check.status], check.what, check.says) for check in checks if check.example == example),
            looks=("", "", "quiet"),
        )
        for example in dict.fromkeys(check.example for check in checks)
    }
    verdict = judged("FINDING", broken) if failed else judged("PASS", sound)
    parts = [under(example, table) if example else table for example, table in tables.items()]
    return document(verdict, *parts)
