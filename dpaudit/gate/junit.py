"""The issues of a check as JUnit XML: a suite for each configuration, a case for each certificate and audit."""

from collections.abc import Iterator
from xml.etree import ElementTree as Xml

from dpaudit.gate.document import CheckDocument, Judged
from dpaudit.gate.issues import Checked
from dpaudit.wording.escaping import clean

_LONGEST = 4_000


def junit(document: CheckDocument) -> str:
    """Return the checks as JUnit XML; open errors fail, doubt and accepted issues are skipped with the reason."""
    root = Xml.Element("testsuites", name="dpaudit")
    for checked in document.checked:
        root.append(_suite(checked, [judged for judged in document.judged if judged.issue.config == checked.name]))
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(checked: Checked, judged: list[Judged]) -> Xml.Element:
    """Return the suite of one configuration."""
    suite = Xml.Element("testsuite", name=_text(checked.name))
    cases = list(_cases(checked, judged))
    suite.set("tests", str(len(cases)))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    suite.extend(cases)
    return suite


def _cases(checked: Checked, judged: list[Judged]) -> Iterator[Xml.Element]:
    """Yield one case for the claim and one for each audit, or one for an unusable configuration."""
    audits = {audit.name for audit in checked.audits}
    name = "configuration" if checked.error else "certificate"
    certificate = checked.certificate
    facts = {} if certificate is None else _numbers(certificate.to_dict())
    yield _case(checked.name, name, 0.0, facts, [j for j in judged if not _is_of_audit(j, audits)])
    for audit in checked.audits:
        numbers = {
            "epsilon_claimed": audit.claim.epsilon,
            "epsilon_lower": audit.epsilon_lower,
            "significance": audit.significance,
            "runs": audit.runs,
            "seed": audit.seed,
        }
        own = [j for j in judged if _is_of_audit(j, {audit.name})]
        yield _case(checked.name, f"audit: {audit.name}", audit.seconds, {"verdict": audit.verdict, **numbers}, own)


def _is_of_audit(judged: Judged, audits: set[str]) -> bool:
    """Return whether an issue is about one of these audits."""
    return judged.issue.rule.startswith("DPA3") and judged.issue.subject in audits


def _case(config: str, name: str, seconds: float, facts: dict[str, object], judged: list[Judged]) -> Xml.Element:
    """Return one test case with its properties and its outcome; JUnit allows one outcome, the worst."""
    case = Xml.Element("testcase", classname=_text(config), name=_text(name), time=f"{seconds:.3f}")
    if facts:
        properties = Xml.SubElement(case, "properties")
        for key, value in facts.items():
            Xml.SubElement(properties, "property", name=key, value=_text(str(value)))
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


def _numbers(certificate: dict[str, object]) -> dict[str, object]:
    """Return the verdict and the numbers of a certificate."""
    claim, tight = certificate["claim"], certificate["tight"]
    assert isinstance(claim, dict)  # noqa: S101 - for the type checker
    assert isinstance(tight, dict)  # noqa: S101 - for the type checker
    return {
        "verdict": certificate["verdict"],
        "epsilon_claimed": claim["epsilon"],
        "epsilon_certified": tight["epsilon"]["upper"],
        "delta": claim["delta"],
    }


def _line(judged: Judged) -> str:
    """Return an issue on one line."""
    why = f" [accepted: {judged.accepted.reason}]" if judged.accepted else ""
    return f"{judged.issue.line}{why}"


def _text(text: str) -> str:
    """Return text without characters that XML forbids, at most 4,000 characters long."""
    return clean(text)[:_LONGEST]
