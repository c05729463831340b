"""in-toto statements about a report's files: plain JSON, unsigned, to be signed by whoever publishes them.

One has the predicate for test results, and is about what was tested: the source and the configuration. The other has
our own predicate, which carries claim, brackets and verdict, and is about the files of the report. A statement says
which bytes it is about by their SHA-256; it proves nothing until somebody signs it.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from dpaudit.model.scores_result import ScoresResult
from dpaudit.report.attacks import attacks_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.verdicts import outcome_of
from dpaudit.wording.verdicts import CAVEATS, VERDICTS

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
PRIVACY_REPORT = "urn:dpaudit:predicate:privacy-report:1"
_SHOWN = ("verdict", "epsilon_lower", "delta", "significance")
"""What a statement says of each audit."""


def test_result(report: ReportInputs) -> dict[str, Any]:
    """Return a statement of type test-result about the source and the configuration: what passed, warned and failed.

    A certificate with caveats and an inconclusive audit are warnings, and listed as such; a result that warns or fails
    names at least one test that does. Scores fail where they exceed the claim, and warn where they refute a trade-off
    that was declared beside it.
    """
    groups: dict[str, list[str]] = {"passedTests": [], "warnedTests": [], "failedTests": []}
    groups[_group_of_certificate(report)].append("certificate")
    passed = dict.fromkeys(("consistent", "not_refuted"), "passedTests")
    kinds = {**passed, "inconclusive": "warnedTests", "violation": "failedTests"}
    for attack in attacks_of(report.audits, report.scores):
        kind = kinds[attack.result.verdict]
        if isinstance(attack.result, ScoresResult) and not attack.result.exceeds_claim:
            kind = kind.replace("failed", "warned")
        groups[kind].append(attack.test)
    configuration = _resource("configuration", report.config_text.encode("utf-8", "replace"))
    source = {"name": "source", "digest": {"sha256": report.certificate.source_digest}}
    predicate = {
        "result": _result(outcome_of(report).word),
        "configuration": [configuration],
        **groups,
    }
    return _statement(TEST_RESULT, predicate, [configuration, source])


def _result(word: str) -> str:
    """Return the result of a report by the word of its verdict; caveats are a warning."""
    code = VERDICTS[word.removesuffix(CAVEATS)].exit_code
    return "FAILED" if code == 1 else "WARNED" if code or word.endswith(CAVEATS) else "PASSED"


def _group_of_certificate(report: ReportInputs) -> str:
    """Return the group of tests that the certificate belongs to."""
    certificate, outcome = report.certificate, outcome_of(report)
    broken = bool(certificate.findings) or any(c.status == "violated" for c in certificate.conditions)
    if certificate.verdict not in ("certified", "stated") or broken:
        return "failedTests"
    return "warnedTests" if outcome.caveats or outcome.word == "STATED" else "passedTests"


def predicate_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a statement says of a report, from the data of its report.json: verdict, claim, brackets, bounds.

    Raises: KeyError, TypeError: data that are no report's.
    """
    certificate = data["certificate"]
    scores = [
        {"file": row["file"], "digest": row["digest"]} | {key: row["result"][key] for key in ("sampling", *_SHOWN)}
        for row in data["scores"]
    ]
    return {
        "verdict": data["verdict"],
        "claim": certificate["claim"],
        "tight": certificate["tight"],
        "certificate": certificate["digest"],
        "source": certificate["source_digest"],
        "audits": [{key: audit[key] for key in ("name", *_SHOWN)} for audit in data["audits"]],
        **({"scores": scores} if scores else {}),
        "created": data["created"],
    }


def privacy_report(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return a statement of our own type about the files of a report, of which report.json is one."""
    subjects = [_resource(name, content) for name, content in sorted(files.items())]
    return _statement(PRIVACY_REPORT, predicate_of(json.loads(files["report.json"])), subjects)


def statement_text(statement: dict[str, Any]) -> str:
    """Return a statement as JSON text."""
    return json.dumps(statement, indent=2, sort_keys=True, allow_nan=False) + "\n"


def _statement(kind: str, predicate: dict[str, Any], subjects: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a statement about subjects, each with its digest."""
    return {"_type": STATEMENT, "subject": subjects, "predicateType": kind, "predicate": predicate}


def _resource(name: str, content: bytes) -> dict[str, Any]:
    """Return a name with the digest of its content."""
    return {"name": name, "digest": {"sha256": hashlib.sha256(content).hexdigest()}}
