"""Entries of a baseline, made from the open issues of a check."""

from datetime import date
from pathlib import Path
from typing import Any

from dpaudit.errors import ConfigError
from dpaudit.gate.baseline import Accepted
from dpaudit.gate.document import SCHEMA
from dpaudit.gate.terms import Terms

_FIELDS = ("fingerprint", "rule", "config", "subject")


def accept(
    check: dict[str, Any], path: Path, reason: str, today: date, expires: date, rule: str | None
) -> tuple[Accepted, ...]:
    """Return an entry for each open issue of a check, or for those of one rule.

    Raises: ConfigError: no check.json, no such issue, an unusable configuration, an empty reason, or a bad expiry.
    """
    issues = check.get("issues")
    if check.get("schema") != SCHEMA or not isinstance(issues, list):
        raise ConfigError(f"{path}: expected a check.json as `dpaudit check -o` writes it (schema {SCHEMA}).")
    wanted = [issue for issue in issues if _is_wanted(issue, rule)]
    if not wanted:
        raise ConfigError(f"{path}: no open issue{f' of rule {rule}' if rule else ''} to accept.")
    try:
        return tuple(
            Accepted(
                **{name: str(issue[name]) for name in _FIELDS},
                reason=reason,
                accepted=today,
                expires=expires,
                terms=Terms.from_dict(issue["terms"]),
            )
            for issue in wanted
        )
    except KeyError as error:
        raise ConfigError(f"{path}: an issue has no field {error}.") from None
    except TypeError as error:
        raise ConfigError(f"{path}: an issue is malformed ({error}).") from None
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _is_wanted(issue: Any, rule: str | None) -> bool:
    """Return whether an issue is open, can be accepted, and is of the rule asked for."""
    if not isinstance(issue, dict) or "accepted" in issue:
        return False
    return issue.get("rule") != "DPA001" and rule in (None, issue.get("rule"))
