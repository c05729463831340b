"""The baseline: accepted issues, each with a reason and a last day."""

import json
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NoReturn

from dpaudit.configuration.files import read_text
from dpaudit.errors import ConfigError

SCHEMA = "urn:dpaudit:schema:baseline:1"
LONGEST = timedelta(days=366)
"""How far ahead an expiry may lie: everything accepted is looked at again within a year."""

_FIELDS = ("fingerprint", "rule", "config", "subject", "reason", "accepted", "expires")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """One accepted issue; it counts again from the day after `expires`.

    Raises: ValueError: no reason, no ISO dates, or an expiry more than 366 days after the day of acceptance.
    """

    fingerprint: str
    rule: str
    config: str
    subject: str
    reason: str
    accepted: date
    expires: date

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("Expected a reason: somebody will ask why this was accepted.")
        if not timedelta(0) <= self.expires - self.accepted <= LONGEST:
            raise ValueError(
                f"Expected expires={self.expires} from {self.accepted} on and at most {LONGEST.days} days later."
            )

    def to_dict(self) -> dict[str, str]:
        """Return the entry as plain data."""
        return {name: str(getattr(self, name)) for name in _FIELDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The accepted issues of a project; the file is meant for review, like code."""

    entries: tuple[Accepted, ...] = ()

    def covering(self, fingerprint: str, today: date) -> Accepted | None:
        """Return the entry that accepts an issue today, or None."""
        return next((e for e in self.entries if e.fingerprint == fingerprint and today <= e.expires), None)

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
    data = read_json(path)
    rows = data.get("accepted")
    if data.get("schema") != SCHEMA or not isinstance(rows, list):
        raise ConfigError(f"{path}: expected a baseline as `dpaudit baseline` writes it (schema {SCHEMA}).")
    return Baseline(entries=tuple(_entry(path, number, row) for number, row in enumerate(rows)))


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises: ConfigError: no such file, no JSON, nested too deeply, or no object.
    """
    try:
        data = json.loads(read_text(path), parse_constant=_refuse, parse_int=_whole)
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply.") from None
    except ValueError as error:
        raise ConfigError(f"{path}: invalid JSON ({error}).") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected a JSON object.")
    return data


def _whole(text: str) -> int:
    """Return a whole number of at most 300 digits."""
    if len(text) > 300:
        raise ValueError(f"a whole number of {len(text)} digits")
    return int(text)


def _refuse(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{name} is no JSON number")


def _entry(path: Path, number: int, row: Any) -> Accepted:
    """Return one entry of the file."""
    if not isinstance(row, dict) or set(row) != set(_FIELDS) or not all(isinstance(v, str) for v in row.values()):
        raise ConfigError(f"{path}: expected accepted[{number}] to have the fields {', '.join(_FIELDS)}, all text.")
    days: dict[str, date] = {}
    for name in ("accepted", "expires"):
        try:
            days[name] = date.fromisoformat(row[name])
        except ValueError:
            raise ConfigError(f"{path}: accepted[{number}]: expected {name}={row[name]!r:.40} as YYYY-MM-DD.") from None
    words: dict[str, str] = {name: row[name] for name in _FIELDS if name not in days}
    try:
        return Accepted(**words, **days)  # type: ignore[arg-type] # the fields are text, but for the two days
    except ValueError as error:
        raise ConfigError(f"{path}: accepted[{number}]: {error}") from None
