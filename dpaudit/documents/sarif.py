"""The issues of a document as SARIF 2.1.0, for code scanning: one run, stable rules, a location for each result."""

import json
from typing import Any
from urllib.parse import quote

from dpaudit.documents.document import Document
from dpaudit.documents.outcome import Reported, Rule
from dpaudit.runtime.provenance import distribution_version
from dpaudit.wording.escaping import clean

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MOST_RESULTS = 5_000
_LONGEST = 4_000


def sarif(document: Document) -> str:
    """Return the issues as a SARIF log; accepted ones are suppressed with their reason.

    Code scanning shows 5,000 results; further ones are left out, errors last.
    """
    outcome = document.outcome
    issues = sorted(outcome.issues, key=lambda issue: issue.rule.level)[:_MOST_RESULTS]
    rules = {issue.rule.id: issue.rule for issue in sorted(issues, key=lambda issue: issue.rule.id)}
    numbers = {rule: number for number, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "dpaudit",
                "version": distribution_version("dpaudit"),
                "rules": [_rule(rule) for rule in rules.values()],
            }
        },
        "automationDetails": {"id": "dpaudit/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": outcome.exit_code != 2, "exitCode": outcome.exit_code}],
        "results": [_result(issue, numbers) for issue in issues],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, sort_keys=True) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    """Return the description of one rule."""
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.short},
        "fullDescription": {"text": rule.short},
        "help": {"text": f"{rule.short} {rule.remedy}"},
        "defaultConfiguration": {"level": rule.level},
        "properties": {"tags": ["privacy", "differential-privacy"]},
    }


def _result(issue: Reported, numbers: dict[str, int]) -> dict[str, Any]:
    """Return one issue."""
    artifact: dict[str, str] = {"uri": quote(issue.file)}
    if issue.file.startswith("/"):
        artifact["uri"] = f"file://{quote(issue.file)}"
    else:
        artifact["uriBaseId"] = "%SRCROOT%"
    result: dict[str, Any] = {
        "ruleId": issue.rule.id,
        "ruleIndex": numbers[issue.rule.id],
        "level": issue.rule.level,
        "message": {"text": clean(issue.message)[:_LONGEST]},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": artifact, "region": {"startLine": issue.line}},
                "logicalLocations": [{"fullyQualifiedName": clean(issue.about)[:_LONGEST]}],
            }
        ],
        "partialFingerprints": {"dpaudit/v1": issue.fingerprint},
    }
    if issue.reason:
        reason = f"{issue.reason} (until {issue.until})"
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": clean(reason)}]
    return result
