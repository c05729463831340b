"""The issues of a check as JUnit XML: a suite for each configuration, a case for each certificate and audit."""

import json
from collections.abc import Iterator
from xml.etree import ElementTree as Xml

from dpaudit.certification.certificate import Certificate
from dpaudit.gate.document import CheckDocument, Judged
from dpaudit.gate.issues import Checked
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.codec import encode
from dpaudit.model.measures.ends import Ends
from dpaudit.wording.escaping import clean

_LONGEST = 4_000


def junit(document: CheckDocument) -> str:
    """Return the checks as JUnit XML; open errors fail, doubt and accepted issues are skipped with the reason.

    The elements, their order and their attributes are those that Jenkins' schema junit-10 and Ant's both know; numbers
    are properties of the suite, since neither schema has properties of a case.
    """
    root = Xml.Element("testsuites", name="dpaudit")
    for number, checked in enumerate(document.checked):
        judged = [judged for judged in document.judged if judged.issue.config == checked.name]
        root.append(_suite(number, checked, judged, f"{document.today}T00:00:00"))
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(number: int, checked: Checked, judged: list[Judged], timestamp: str) -> Xml.Element:
    """Return the suite of one configuration."""
    name = _text(checked.name)
    suite = Xml.Element(
        "testsuite", id=str(number), name=name, package="dpaudit", timestamp=timestamp, hostname="localhost"
    )
    cases = list(_cases(checked, judged))
    suite.set("tests", str(len(cases)))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    properties = Xml.SubElement(suite, "properties")
    for key, value in _facts(checked).items():
        Xml.SubElement(properties, "property", name=_text(key), value=_text(str(value)))
    suite.extend(cases)
    Xml.SubElement(suite, "system-out")
    Xml.SubElement(suite, "system-err")
    return suite


def _cases(checked: Checked, judged: list[Judged]) -> Iterator[Xml.Element]:
    """Yield one case for the claim and one for each audit or file of scores, or one for an unusable configuration."""
    name, attacks = "configuration" if checked.error else "certificate", checked.attacks
    subjects = {attack.subject for attack in attacks}
    yield _case(checked.name, name, 0.0, [j for j in judged if not _is_of_attack(j, subjects)])
    for attack in attacks:
        own = [j for j in judged if _is_of_attack(j, {attack.subject})]
        yield _case(checked.name, attack.test, getattr(attack.result, "seconds", 0.0), own)


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


def _case(config: str, name: str, seconds: float, judged: list[Judged]) -> Xml.Element:
    """Return one test case with its outcome; JUnit allows one outcome, the worst."""
    case = Xml.Element("testcase", classname=_text(config), name=_text(name), time=f"{seconds:.3f}")
    failing = [entry for entry in judged if entry.accepted is None and entry.issue.level == "error"]
    skipped = [entry for entry in judged if entry.accepted is not None or entry.issue.rule == "DPA302"]
    if failing:
        tag = "error" if failing[0].issue.rule == "DPA001" else "failure"
        first = failing[0].issue
        outcome = Xml.SubElement(case, tag, type=first.rule, message=_text(first.message))
        outcome.text = _text("\n".join(_line(entry) for entry in failing))
    elif skipped:
        Xml.SubElement(case, "skipped", message=_text("; ".join(_line(entry) for entry in skipped)))
    return case


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


def _line(judged: Judged) -> str:
    """Return an issue on one line."""
    why = f" [accepted: {judged.accepted.reason}]" if judged.accepted else ""
    return f"{judged.issue.line}{why}"


def _text(text: str) -> str:
    """Return text without characters that XML forbids, at most 4,000 characters long."""
    return clean(text)[:_LONGEST]
