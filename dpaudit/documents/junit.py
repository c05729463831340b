"""The tests of a document as JUnit XML: a suite for each configuration, a case for each certificate and audit."""

from xml.etree import ElementTree as Xml

from dpaudit.documents.document import Document
from dpaudit.documents.outcome import Reported, Suite, Tested
from dpaudit.wording.escaping import clean

_LONGEST = 4_000


def junit(document: Document) -> str:
    """Return the tests as JUnit XML; open errors fail, doubt and accepted issues are skipped with the reason.

    The elements, their order and their attributes are those that Jenkins' schema junit-10 and Ant's both know; numbers
    are properties of the suite, since neither schema has properties of a case.
    """
    root = Xml.Element("testsuites", name="dpaudit")
    for number, suite in enumerate(document.outcome.suites):
        root.append(_suite(number, suite, f"{document.outcome.day}T00:00:00"))
    for key in ("tests", "failures", "errors"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(number: int, tested: Suite, timestamp: str) -> Xml.Element:
    """Return the suite of one configuration."""
    name = _text(tested.name)
    suite = Xml.Element(
        "testsuite", id=str(number), name=name, package="dpaudit", timestamp=timestamp, hostname="localhost"
    )
    cases = [_case(tested.name, test) for test in tested.tests]
    suite.set("tests", str(len(cases)))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    properties = Xml.SubElement(suite, "properties")
    for key, value in tested.facts.items():
        Xml.SubElement(properties, "property", name=_text(key), value=_text(str(value)))
    suite.extend(cases)
    Xml.SubElement(suite, "system-out")
    Xml.SubElement(suite, "system-err")
    return suite


def _case(suite: str, test: Tested) -> Xml.Element:
    """Return one test case with its outcome; JUnit allows one outcome, the worst."""
    case = Xml.Element("testcase", classname=_text(suite), name=_text(test.name), time=f"{test.seconds:.3f}")
    failing = [issue for issue in test.issues if not issue.reason and issue.rule.level == "error"]
    skipped = [issue for issue in test.issues if issue.reason or issue.rule.id == "DPA302"]
    if failing:
        first = failing[0]
        tag = "error" if first.rule.id == "DPA001" else "failure"
        outcome = Xml.SubElement(case, tag, type=first.rule.id, message=_text(first.message))
        outcome.text = _text("\n".join(_line(issue) for issue in failing))
    elif skipped:
        Xml.SubElement(case, "skipped", message=_text("; ".join(_line(issue) for issue in skipped)))
    return case


def _line(issue: Reported) -> str:
    """Return an issue on one line."""
    return f"{issue.text} [accepted: {issue.reason}]" if issue.reason else issue.text


def _text(text: str) -> str:
    """Return text without characters that XML forbids, at most 4,000 characters long."""
    return clean(text)[:_LONGEST]
