"""What programs read of a check: its issues, and a suite of tests for each configuration."""

import json
from collections.abc import Iterator

from dpaudit.certification.certificate import Certificate
from dpaudit.documents.outcome import Outcome, Reported, Suite, Tested
from dpaudit.gate.catalogue import rule_of
from dpaudit.gate.document import CheckDocument, Judged
from dpaudit.gate.issues import Checked
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.codec import encode
from dpaudit.model.measures.ends import Ends


def outcome_of(gate: CheckDocument) -> Outcome:
    """Return what programs read of a check."""
    judged = gate.judged
    suites = (
        Suite(
            name=checked.name,
            tests=tuple(_tests(checked, [entry for entry in judged if entry.issue.config == checked.name])),
            facts=_facts(checked),
        )
        for checked in gate.checked
    )
    return Outcome(
        issues=tuple(map(_reported, judged)), suites=tuple(suites), day=str(gate.today), exit_code=gate.exit_code
    )


def _reported(judged: Judged) -> Reported:
    """Return an issue with its rule, and why it is accepted, if it is."""
    issue, accepted = judged.issue, judged.accepted
    return Reported(
        rule=rule_of(issue.rule),
        file=issue.place.file,
        line=issue.place.line,
        about=f"{issue.config}: {issue.subject}",
        message=issue.message,
        text=issue.line,
        fingerprint=issue.fingerprint,
        reason="" if accepted is None else accepted.reason,
        until="" if accepted is None else str(accepted.expires),
    )


def _tests(checked: Checked, judged: list[Judged]) -> Iterator[Tested]:
    """Yield a test of the claim and one for each audit or file of scores, or one of an unusable configuration."""
    name, attacks = "configuration" if checked.error else "certificate", checked.attacks
    subjects = {attack.subject for attack in attacks}
    own = tuple(_reported(entry) for entry in judged if not _is_of_attack(entry, subjects))
    yield Tested(name=name, seconds=0.0, issues=own)
    for attack in attacks:
        own = tuple(_reported(entry) for entry in judged if _is_of_attack(entry, {attack.subject}))
        yield Tested(name=attack.test, seconds=getattr(attack.result, "seconds", 0.0), issues=own)


def _facts(checked: Checked) -> dict[str, object]:
    """Return the verdicts and the numbers of a configuration by `case.number`."""
    certificate = checked.certificate
    numbers = {} if certificate is None else _numbers(certificate)
    facts: dict[str, object] = {f"certificate.{key}": value for key, value in numbers.items()}
    for attack in checked.attacks:
        result = attack.result
        properties: dict[str, object] = {"epsilon_claimed": attack.claimed}
        properties |= {name: getattr(result, name) for name in ("verdict", "epsilon_lower", "significance")}
        if isinstance(result, AuditResult):
            properties |= {"runs": result.runs, "seed": result.seed}
        else:
            properties |= {"sampling": result.sampling, "scores": attack.looked_at}
        facts |= {f"{attack.test}.{key}": value for key, value in properties.items()}
    return facts


def _is_of_attack(judged: Judged, subjects: set[str]) -> bool:
    """Return whether an issue is about one of these attacks."""
    return judged.issue.rule.startswith("DPA3") and judged.issue.subject in subjects


def _numbers(certificate: Certificate) -> dict[str, object]:
    """Return the verdict and the numbers of a certificate."""
    claim, tight = certificate.claim, certificate.tight
    if isinstance(tight, Ends):
        return {
            "verdict": certificate.verdict,
            "claim": json.dumps(encode(claim)),
            "bounds": json.dumps(encode(tight)),
        }
    return {
        "verdict": certificate.verdict,
        "epsilon_claimed": encode(claim.epsilon),
        "epsilon_certified": encode(tight.epsilon.upper),
        "delta": claim.delta,
    }
