"""The baseline: accepted issues, each with its terms, a reason and a last day."""

import json
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from dpaudit.configuration.files import json_object
from dpaudit.configuration.tables import read_object
from dpaudit.errors import ConfigError, Fault
from dpaudit.gate.issues import Issue
from dpaudit.gate.terms import Terms
from dpaudit.json_schema import Digest, Text
from dpaudit.model.codec import encode

SCHEMA = "urn:dpaudit:schema:baseline:2"

LONGEST = timedelta(days=366)
"""How far ahead an expiry may lie: everything accepted is looked at again within a year."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """One accepted issue; it counts again from the day after `expires`, and when its terms do not hold any more.

    Raises: ValueError: no reason, no ISO dates, or an expiry more than 366 days after the day of acceptance.
    """

    fingerprint: Digest
    rule: Text
    config: str
    subject: str
    reason: Text
    accepted: date
    expires: date
    terms: Terms

    def __post_init__(self) -> None:
        require_term(self.reason, self.accepted, self.expires)

    def lapsed(self, issue: Issue, today: date) -> str:
        """Return why this entry does not accept an issue with its fingerprint today, or an empty text.

        A day of acceptance after today is refused: it would move the last possible day beyond a year.
        """
        if self.accepted > today:
            return f"accepted on {self.accepted}, which is after today, {today}; accept the issue anew"
        if today > self.expires:
            return f"expired on {self.expires}"
        return "an unusable configuration is never accepted" if issue.terms is None else self.terms.lapsed(issue.terms)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as plain data."""
        days = {"accepted": str(self.accepted), "expires": str(self.expires)}
        return {**encode(self), **days, "terms": self.terms.to_dict()}


def require_term(reason: str, accepted: date, expires: date) -> None:
    """Refuse an acceptance without a reason, or for longer than a year.

    Raises: ValueError: an empty reason, or an expiry before `accepted` or more than 366 days after it.
    """
    if not reason.strip():
        raise ValueError("Expected a reason: somebody will ask why this was accepted.")
    if not timedelta(0) <= expires - accepted <= LONGEST:
        raise ValueError(f"Expected expires={expires} from {accepted} on and at most {LONGEST.days} days later.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The accepted issues of a project; the file is meant for review, like code."""

    entries: tuple[Accepted, ...] = ()

    def with_entries(self, added: tuple[Accepted, ...]) -> "Baseline":
        """Return a baseline in which `added` replaces entries on the same issues."""
        new = {entry.fingerprint for entry in added}
        others = (entry for entry in self.entries if entry.fingerprint not in new)
        return Baseline(entries=tuple(sorted((*others, *added), key=lambda e: (e.config, e.rule, e.subject))))

    def to_json(self) -> str:
        """Return the file's text."""
        data = {"schema": SCHEMA, "accepted": [entry.to_dict() for entry in self.entries]}
        return json.dumps(data, indent=2, sort_keys=True) + "\n"


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in a JSON file.

    Raises: ConfigError: no such file, no such JSON, or an entry that no baseline may have.
    """
    data = json_object(path)
    rows = data.get("accepted")
    if data.get("schema") != SCHEMA or not isinstance(rows, list):
        wanted = f"a baseline as `dpaudit check --accept` writes it (schema {SCHEMA})"
        raise ConfigError(f"{path}: expected {wanted}; accept the issues anew.")
    try:
        return read_object(Baseline, {"entries": rows})
    except Fault as fault:
        raise ConfigError(f"{path}: {fault.message.replace('entries.', 'accepted.')}") from None
