"""The document of a check: the configurations, their issues, what the baseline accepts, and the exit code."""

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

from dpaudit.gate.baseline import Accepted, Baseline
from dpaudit.gate.catalogue import rule_of
from dpaudit.gate.issues import Checked, Issue
from dpaudit.model.codec import encode
from dpaudit.report.attacks import Attack
from dpaudit.wording.escaping import one_line

SCHEMA = "urn:dpaudit:schema:check:6"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An issue and the entry of the baseline that accepts it today, if there is one."""

    issue: Issue
    accepted: Accepted | None

    def to_dict(self) -> dict[str, Any]:
        """Return the issue as plain data."""
        issue = self.issue
        shown = ("rule", "level", "config", "subject", "message", "fingerprint")
        data: dict[str, Any] = encode(issue.place) | {name: getattr(issue, name) for name in shown}
        if issue.terms is not None:
            data["terms"] = issue.terms.to_dict()
        if self.accepted is not None:
            data["accepted"] = {"reason": self.accepted.reason, "expires": str(self.accepted.expires)}
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """An entry of the baseline that accepts no issue today, and why."""

    entry: Accepted
    why: str

    @property
    def line(self) -> str:
        """Return the entry and the reason on one line."""
        entry = self.entry
        return one_line(f"{entry.rule} in {entry.config}: {entry.subject} ({self.why})")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDocument:
    """The results of one `dpaudit check`, compared with a baseline on the day `today`."""

    checked: tuple[Checked, ...]
    baseline: Baseline
    today: date

    @property
    def judged(self) -> tuple[Judged, ...]:
        """Every issue, in the order of the configurations; an entry of the baseline accepts one issue."""
        left = list(self.baseline.entries)
        judged: list[Judged] = []
        for issue in (issue for checked in self.checked for issue in checked.issues()):
            entry = next((entry for entry in left if not self._refusal(entry, issue)), None)
            if entry is not None:
                left.remove(entry)
            judged.append(Judged(issue=issue, accepted=entry))
        return tuple(judged)

    @property
    def open(self) -> tuple[Issue, ...]:
        """The issues that the baseline does not accept."""
        return tuple(judged.issue for judged in self.judged if judged.accepted is None)

    @property
    def unused(self) -> tuple[Unused, ...]:
        """Entries of the baseline that accept no issue today, each with the reason."""
        used = [id(judged.accepted) for judged in self.judged if judged.accepted is not None]
        still_open = self.open
        left = (entry for entry in self.baseline.entries if id(entry) not in used)
        return tuple(Unused(entry=entry, why=self._why(entry, still_open)) for entry in left)

    def _refusal(self, entry: Accepted, issue: Issue) -> str:
        """Return why an entry does not accept an issue, or an empty text."""
        return "another issue" if entry.fingerprint != issue.fingerprint else entry.lapsed(issue, self.today)

    def _why(self, entry: Accepted, still_open: tuple[Issue, ...]) -> str:
        """Return why an entry accepts nothing."""
        same = (issue for issue in still_open if issue.fingerprint == entry.fingerprint)
        reasons = [entry.lapsed(issue, self.today) for issue in same]
        gone = f"expired on {entry.expires}" if self.today > entry.expires else "the issue is gone"
        return reasons[0] if reasons else gone

    @property
    def exit_code(self) -> int:
        """The exit code: 2 for an unusable configuration, else 1 for an error, else 4 if inconclusive, else 0."""
        rules = {issue.rule for issue in self.open}
        if "DPA001" in rules:
            return 2
        if any(rule_of(rule).level == "error" for rule in rules):
            return 1
        return 4 if "DPA302" in rules else 0

    @property
    def verdict(self) -> str:
        """The exit code as a word."""
        return {0: "pass", 1: "finding", 2: "unusable", 4: "inconclusive"}[self.exit_code]

    def to_dict(self) -> dict[str, Any]:
        """Return the document as plain data that validates against the schema `check`."""
        return {
            "schema": SCHEMA,
            "created": str(self.today),
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "configurations": [_configuration(entry) for entry in self.checked],
            "issues": [entry.to_dict() for entry in self.judged],
        }

    def to_json(self) -> str:
        """Return the document as JSON text."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, allow_nan=False) + "\n"


def _configuration(checked: Checked) -> dict[str, Any]:
    """Return one configuration as plain data, without the results that were not reached."""
    data: dict[str, Any] = {"path": checked.name, "audits": [audit.to_dict() for audit in checked.audits]}
    if checked.certificate is not None:
        data["certificate"] = checked.certificate.to_dict()
    if checked.scores:
        data["scores"] = [
            {"file": evidence.file, "digest": evidence.digest, "result": evidence.result.to_dict()}
            for evidence in checked.scores
        ]
    if checked.seed is not None:
        data["seed"] = checked.seed
    if checked.error is not None:
        data["error"] = str(checked.error)
    return data


def strongest(checked: Checked) -> Attack | None:
    """Return the attack with the largest lower bound on epsilon, on code or scores, or None without any."""
    return max(checked.attacks, key=lambda attack: attack.result.epsilon_lower, default=None)
