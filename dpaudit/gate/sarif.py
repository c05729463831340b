"""The issues of a check as SARIF 2.1.0, for code scanning: one run, stable rules, a location for each result."""

import json
from typing import Any
from urllib.parse import quote

from dpaudit.gate.catalogue import GateRule, rule_of
from dpaudit.gate.document import CheckDocument, Judged
from dpaudit.runtime.provenance import distribution_version
from dpaudit.wording.escaping import clean

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MOST_RESULTS = 5_000
_LONGEST = 4_000


def sarif(document: CheckDocument) -> str:
    """Return the issues as a SARIF log; accepted ones are suppressed with their reason.

    Code scanning shows 5,000 results; further ones are left out, errors last.
    """
    judged = sorted(document.judged, key=lambda entry: entry.issue.level)[:_MOST_RESULTS]
    rules = sorted({entry.issue.rule for entry in judged})
    numbers = {rule: number for number, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "dpaudit",
                "version": distribution_version("dpaudit"),
                "rules": [_rule(rule_of(rule)) for rule in rules],
            }
        },
        "automationDetails": {"id": "dpaudit/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": document.exit_code != 2, "exitCode": document.exit_code}],
        "results": [_result(entry, numbers) for entry in judged],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, sort_keys=True) + "\n"


def _rule(rule: GateRule) -> dict[str, Any]:
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


def _result(judged: Judged, numbers: dict[str, int]) -> dict[str, Any]:
    """Return one issue."""
    issue = judged.issue
    artifact: dict[str, str] = {"uri": quote(issue.place.file)}
    if issue.place.file.startswith("/"):
        artifact["uri"] = f"file://{quote(issue.place.file)}"
    else:
        artifact["uriBaseId"] = "%SRCROOT%"
    result: dict[str, Any] = {
        "ruleId": issue.rule,
        "ruleIndex": numbers[issue.rule],
        "level": issue.level,
        "message": {"text": clean(issue.message)[:_LONGEST]},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": artifact, "region": {"startLine": issue.place.line}},
                "logicalLocations": [{"fullyQualifiedName": clean(f"{issue.config}: {issue.subject}")[:_LONGEST]}],
            }
        ],
        "partialFingerprints": {"dpaudit/v1": issue.fingerprint},
    }
    if judged.accepted is not None:
        reason = f"{judged.accepted.reason} (until {judged.accepted.expires})"
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": clean(reason)}]
    return result
