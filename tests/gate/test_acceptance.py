"""An accepted issue holds for what was accepted: its claim, its unit and its numbers."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dpaudit import Claim, schemas
from dpaudit.configuration.tables import read_object
from dpaudit.errors import Fault
from dpaudit.gate.terms import Terms
from tests.command_line import Write, dpaudit
from tests.gate.conftest import WRITTEN

CLAIM = Claim(epsilon=0.2, delta=1e-5, neighbours="replace_one", unit="one customer")
TERMS = Terms(
    claim=CLAIM,
    up_to=(("audited_epsilon", 1.2), ("proved_delta", 1e-4), ("proved_epsilon", 1.5), ("refuted_epsilon", 1.4)),
    runs=20_000,
    significance=0.01,
    seen="norms reach 1.2",
)


def numbers(**changed: float) -> Terms:
    """The terms with some numbers changed."""
    return replace(TERMS, up_to=tuple(sorted((dict(TERMS.up_to) | changed).items())))


WORSE = {
    "epsilon claimed": replace(TERMS, claim=replace(CLAIM, epsilon=2.0)),
    "a smaller epsilon claimed": replace(TERMS, claim=replace(CLAIM, epsilon=0.1)),
    "delta claimed": replace(TERMS, claim=replace(CLAIM, delta=1e-3)),
    "neighbours": replace(TERMS, claim=replace(CLAIM, neighbours="add_remove")),
    "model": replace(TERMS, claim=replace(CLAIM, model="local")),
    "unit": replace(TERMS, claim=replace(CLAIM, unit="one visit")),
    "proved epsilon": numbers(proved_epsilon=8539.0),
    "proved epsilon, slightly": numbers(proved_epsilon=1.5001),
    "proved epsilon, infinite": numbers(proved_epsilon=float("inf")),
    "proved delta": numbers(proved_delta=1e-3),
    "refuted epsilon": numbers(refuted_epsilon=1.45),
    "audited epsilon": numbers(audited_epsilon=1.3),
    "audited epsilon, infinite": numbers(audited_epsilon=float("inf")),
    "a number that was not accepted": numbers(another_epsilon=0.1),
    "no audit any more": replace(TERMS, up_to=TERMS.up_to[1:]),
    "fewer runs": replace(TERMS, runs=100),
    "a smaller significance": replace(TERMS, significance=1e-6),
    "something else was seen": replace(TERMS, seen="norms reach 3"),
    "nothing is said to be seen": replace(TERMS, seen=""),
    "everything": replace(numbers(proved_epsilon=9.0, audited_epsilon=9.0), claim=replace(CLAIM, unit="u"), runs=1),
}


@pytest.mark.parametrize("now", WORSE.values(), ids=WORSE)
def test_an_acceptance_lapses_when_the_issue_is_another_or_worse(now: Terms) -> None:
    """Twenty ways to worsen an accepted issue, and none passes; the reason says which."""
    assert TERMS.lapsed(now)


def test_an_acceptance_holds_for_the_same_and_for_less() -> None:
    """Equal terms, smaller numbers, more runs and a rounding in the last digits keep it."""
    for now in (
        TERMS,
        numbers(proved_epsilon=1.0, audited_epsilon=0.5),
        numbers(proved_epsilon=1.5 * (1 + 1e-9)),
        replace(TERMS, runs=50_000, significance=0.05),
    ):
        assert TERMS.lapsed(now) == ""


def test_terms_survive_their_json() -> None:
    """Infinity included; what spells no terms is refused."""
    infinite = numbers(proved_epsilon=float("inf"))
    assert read_object(Terms, json.loads(json.dumps(infinite.to_dict()))) == infinite
    for change in ({"up_to": {"x": "many"}}, {"up_to": 3}, {"runs": "1"}, {"seen": 1}, {"up_to": {"x": -1}}):
        with pytest.raises(Fault, match="Expected"):
            read_object(Terms, TERMS.to_dict() | change)
    for name in TERMS.to_dict():
        with pytest.raises(Fault, match="missing key"):
            read_object(Terms, {key: value for key, value in TERMS.to_dict().items() if key != name})


def accepted(name: str) -> None:
    """Accept all open issues of a configuration; the baseline is b.json."""
    last = datetime.now(UTC).date() + timedelta(days=30)
    ended = dpaudit("check", name, "--baseline", "b.json", "--accept", "--reason", "known", "--expires", str(last))
    assert ended.exit_code == 0, ended.output
    Draft202012Validator(schemas.load("baseline")).validate(json.loads(Path("b.json").read_text(encoding="utf-8")))
    assert dpaudit("check", name, "--baseline", "b.json").exit_code == 0


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("stddev = 8.0", "stddev = 0.02", "proved_"),
        ("stddev = 8.0", "stddev = 7.9", "proved_"),
        ("one customer", "one visit", "unit"),
        ("epsilon = 0.2", "epsilon = 0.1", "epsilon"),
        ("delta = 1e-5", "delta = 1e-6", "delta"),
    ],
)
def test_a_check_fails_again_when_an_accepted_issue_gets_worse(write: Write, old: str, new: str, why: str) -> None:
    """Through the command line: the exit code is 1 again, and the baseline's entry says why it is not in force."""
    text = WRITTEN.replace("epsilon = 1.0", "epsilon = 0.2")
    accepted(write(text))
    ended = dpaudit("check", write(text.replace(old, new)), "--baseline", "b.json")
    assert ended.exit_code == 1
    line = next(line for line in ended.stdout.splitlines() if "accepted" in line)
    assert why in line


def test_one_acceptance_accepts_one_issue(write: Write) -> None:
    """Two equal issues need two entries."""
    from dpaudit.gate.baseline import read_baseline
    from dpaudit.gate.document import CheckDocument
    from dpaudit.gate.running import run_checks

    text = WRITTEN.replace("epsilon = 1.0", "epsilon = 0.2")
    name = write(text)
    accepted(name)
    document = run_checks((Path(name),), read_baseline(Path("b.json")), date.today(), attack=False)  # noqa: DTZ011
    twice = CheckDocument(checked=document.checked * 2, baseline=document.baseline, today=document.today)
    assert (len(document.open), len(twice.open)) == (0, 1)


def test_a_baseline_of_another_schema_is_refused_in_one_line(write: Write) -> None:
    """What is no baseline of this schema is refused; its issues are accepted anew."""
    write('{"schema": "urn:dpaudit:schema:baseline:1", "accepted": [{}]}', "b.json")
    ended = dpaudit("check", write(WRITTEN), "--baseline", "b.json")
    assert (ended.exit_code, len(ended.stderr.splitlines())) == (2, 1)
    assert "accept the issues anew" in ended.stderr


STATED = """\
[claim]
epsilon = 1.0
neighbours = "replace_one"
unit = "one person"

[declaration]
node = "stated"
epsilon = 0.5
source = "the vendor's data sheet"
neighbours = "replace_one"
"""


def test_a_suppliers_word_alone_is_an_issue_of_its_own(write: Write) -> None:
    """The JSON verdict is *stated*, the check ends with 1, the cover says whose word it is, an acceptance names it."""
    name = write(STATED)
    assert json.loads(dpaudit("certify", name, "--format", "json").stdout)["verdict"] == "stated"
    ended = dpaudit("check", name)
    assert ended.exit_code == 1
    assert "DPA105" in ended.stdout
    dpaudit("report", name, "-o", "report")
    report = json.loads(Path("report/report.json").read_text(encoding="utf-8"))
    assert report["verdict"] == "STATED"
    Draft202012Validator(schemas.load("report")).validate(report)
    accepted(name)
    other = write(STATED.replace("the vendor's data sheet", "another vendor"))
    assert dpaudit("check", other, "--baseline", "b.json").exit_code == 1
