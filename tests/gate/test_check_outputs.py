"""`dpaudit check`: what it finds, where it points, what it writes, and how it ends."""

import importlib.util
import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from sarif_pydantic import Sarif

from dpaudit import Claim, Condition, Release, certify, schemas
from dpaudit.configuration.config import read_config
from dpaudit.errors import ConfigError
from dpaudit.gate.catalogue import RULES
from dpaudit.gate.comparison import compare
from dpaudit.gate.issues import Checked
from dpaudit.gate.summary import STEP_LIMIT, append_step_summary, fitted
from dpaudit.model.trace import Finding
from mechanisms import Gaussian
from tests.command_line import Write, dpaudit
from tests.gate import sarif_schema
from tests.gate.conftest import WRITTEN
from tests.narrowing import present

SARIF = Draft202012Validator(sarif_schema.SARIF)
OUTCOMES = ("failure", "error", "skipped")
TODAY = datetime.now(UTC).date()

CODED = """\
[algorithm]
name = "{name}"
epsilon = 1.0

[problem]
name = "three_people"

[audit]
runs = {runs}
"""

TOY = """
from dataclasses import dataclass
import numpy as np
from dpaudit import AuditCase, Claim, Recorder, Release, Streams, Transcript
from mechanisms import Gaussian


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSum:
    epsilon: float
    share: float = 1.0

    def claim(self):
        return Claim(epsilon=self.epsilon, delta=1e-5, neighbours="replace_one", unit="one person")

    def mechanism(self):
        return Gaussian.calibrated(self.claim(), l2_sensitivity=1.0)

    def declaration(self):
        return Release(label="sum", mechanism=self.mechanism())

    def run(self, problem, streams, n_runs):
        recorder = Recorder(streams.noise)
        sums = recorder.release("sum", self.mechanism().scaled(self.share), np.full(n_runs, sum(problem)))
        return Transcript(n_runs=n_runs, arrays={"sum": sums}, views={"published": ("sum",)}, trace=recorder.trace())

    def notes(self, problem):
        return ()

    def cases(self, problem):
        def run(data, rng, n_runs):
            return self.run(data, Streams.spawn(rng), n_runs).arrays["sum"]

        return (AuditCase(name="sum", view="published", description="", neighbours=((*problem, 0.0), (*problem, 1.0)),
                          relation="replace_one", run=run, score=np.asarray, gaussian=True),)


def three_people():
    return (0.1, 0.5, 0.9)
"""


@pytest.fixture
def toys(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let configurations name an algorithm of the project, defined in a file below the working folder."""
    write(TOY, "toys.py")
    spec = importlib.util.spec_from_file_location("toys", Path("toys.py").resolve())
    module = importlib.util.module_from_spec(present(spec))
    monkeypatch.setitem(sys.modules, "toys", module)
    spec.loader.exec_module(module)

    found = {"one_sum": module.OneSum, "three_people": module.three_people}
    monkeypatch.setattr("dpaudit.configuration.config.find_plugin", lambda kind, name: found[name])


def outputs(name: str = "out") -> tuple[Any, Any, Element, Any]:
    """The four files of a check, each read back and held against its schema."""
    folder = Path(name)
    document = json.loads((folder / "check.json").read_text(encoding="utf-8"))
    Draft202012Validator(schemas.load("check")).validate(document)
    sarif = json.loads((folder / "check.sarif").read_text(encoding="utf-8"))
    SARIF.validate(sarif)
    assert unknown_keys(Sarif.model_validate(sarif)) <= {
        "columnKind",
        "exitCode",
        "suppressions",
    }  # of the standard, not of its model
    junit = ElementTree.parse(folder / "junit.xml").getroot()  # noqa: S314 - our own file
    validate_junit(junit)
    return document, sarif, junit, (folder / "summary.md").read_text(encoding="utf-8")


def unknown_keys(model: Any) -> set[Any]:
    """The keys that somebody else's model of SARIF 2.1.0 does not know, anywhere below `model`."""
    if isinstance(model, list):
        return {key for held in model for key in unknown_keys(held)}
    if not isinstance(model, BaseModel):
        return set()
    below = (unknown_keys(getattr(model, name)) for name in type(model).model_fields)
    return set(model.model_extra or {}).union(*below)


def test_a_key_that_is_no_sarif_is_noticed() -> None:
    """A misspelt key is kept as an extra one, and found; a wrong type is refused."""
    run = {"tool": {"driver": {"name": "x", "rulez": []}}, "results": []}
    assert unknown_keys(Sarif.model_validate({"version": "2.1.0", "runs": [run]})) == {"rulez"}
    with pytest.raises(ValueError, match="runs"):
        Sarif.model_validate({"version": "2.1.0", "runs": "none"})


SUITE = {"id", "name", "package", "timestamp", "hostname", "tests", "failures", "errors", "skipped", "time"}
"""The attributes that Ant's schema requires of a suite and Jenkins' schema junit-10 allows."""


def validate_junit(root: Element) -> None:
    """What Jenkins' schema junit-10 and Ant's ask for together: tree, order, attributes, counts, one outcome a case."""
    assert root.tag == "testsuites"
    assert set(root.attrib) == {"name", "tests", "failures", "errors"}
    totals = dict.fromkeys(("tests", "failures", "errors"), 0)
    for suite in root:
        assert (suite.tag, set(suite.attrib)) == ("testsuite", SUITE)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", present(suite.get("timestamp")))
        assert re.fullmatch(r"\d+\.\d{3}", present(suite.get("time")))
        tags = [child.tag for child in suite]
        cases = [child for child in suite if child.tag == "testcase"]
        assert tags == ["properties", *["testcase"] * len(cases), "system-out", "system-err"]
        assert all(set(one.attrib) == {"name", "value"} and one.tag == "property" for one in suite.find("properties"))
        assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
        for case in cases:
            assert set(case.attrib) == {"classname", "name", "time"}
            assert [child.tag for child in case] in ([], *([tag] for tag in OUTCOMES))
            assert all(set(child.attrib) <= {"type", "message"} for child in case)
        counted = {"tests": len(cases)} | {
            key: sum(case.find(tag) is not None for case in cases)
            for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
        }
        for key, number in counted.items():
            assert int(present(suite.get(key))) == number
            if key in totals:
                totals[key] += number
    assert {key: int(present(root.get(key))) for key in totals} == totals


def skipped(root: Element) -> str:
    """How many cases were skipped, in all suites."""
    return str(sum(int(present(suite.get("skipped"))) for suite in root))


def test_a_project_whose_claims_hold_passes(write: Write) -> None:
    """Exit code 0, no issue, and every file is valid."""
    ended = dpaudit("check", write(WRITTEN), "-o", "out")
    assert (ended.exit_code, ended.stderr) == (0, "")
    document, sarif, junit, summary = outputs()
    assert (document["verdict"], document["issues"], sarif["runs"][0]["results"]) == ("pass", [], [])
    assert junit.get("failures") == "0"
    assert summary.startswith("## Privacy checks\n\n## PASS\n")


def test_a_false_claim_points_at_the_line_that_states_it(write: Write) -> None:
    """Exit code 1; file and line are the same on the terminal, in JSON and in SARIF."""
    line = WRITTEN.splitlines().index("epsilon = 1.0") + 1
    ended = dpaudit("check", write(WRITTEN.replace("epsilon = 1.0", "epsilon = 0.2")), "-o", "out")
    assert ended.exit_code == 1
    assert f"release.toml:{line}: DPA101 " in ended.stdout
    document, sarif, junit, summary = outputs()
    assert (document["issues"][0]["file"], document["issues"][0]["line"]) == ("release.toml", line)
    place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "release.toml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": line},
    }
    assert junit.find(".//failure").get("type") == "DPA101"
    assert f"- release.toml:{line}: DPA101 " in summary


def test_one_bad_configuration_does_not_hide_the_others(write: Write) -> None:
    """The unusable file ends the check with 2 and names its line; the false claim beside it is still told."""
    write("[claim]\nepsilon = 1.0\nepsilno = 2\n[declaration]\n", "privacy/bad.toml")
    false = write(WRITTEN.replace("epsilon = 1.0", "epsilon = 0.2"))
    ended = dpaudit("check", "privacy/bad.toml", false, "missing.toml", "-o", "out")
    assert ended.exit_code == 2
    document, _, junit, _ = outputs()
    found = {(issue["rule"], issue["file"], issue["line"]) for issue in document["issues"]}
    assert ("DPA001", "privacy/bad.toml", 3) in found
    assert ("DPA101", "release.toml", 2) in found
    assert ("DPA001", "missing.toml", 1) in found
    assert junit.get("errors") == "2"


def test_other_noise_than_declared_points_at_the_source_of_the_algorithm(write: Write, toys: None) -> None:
    """A third of the noise: DPA212 at the class in the project's own file, DPA301 at the configuration's line."""
    text = CODED.format(name="one_sum", runs=2000).replace("epsilon = 1.0", "epsilon = 1.0\nshare = 0.333")
    ended = dpaudit("check", write(text), "-o", "out")
    assert ended.exit_code == 1, ended.output
    document, sarif, junit, _ = outputs()
    line = TOY.splitlines().index("class OneSum:")
    found = {issue["rule"]: (issue["file"], issue["line"]) for issue in document["issues"]}
    assert found["DPA212"][0] == "toys.py"
    assert abs(found["DPA212"][1] - line) <= 1
    assert found["DPA301"] == ("release.toml", 2)
    said = {issue["rule"]: issue["message"] for issue in document["issues"]}
    assert said["DPA301"].startswith("Case '")
    assert ", view '" in said["DPA301"]
    assert said["DPA212"] not in said.get("DPA102", "")
    assert {result["ruleId"] for result in sarif["runs"][0]["results"]} == set(found)
    assert junit.get("failures") == "2"


def test_the_issue_of_a_claim_does_not_repeat_other_issues(write: Write) -> None:
    """Violated conditions and findings are issues of their own: DPA102 counts them; another reason stays."""
    noise = Gaussian(stddev=30.0, l2_sensitivity=1.0, neighbours="replace_one")
    texts = [f"Epoch {epoch}: nobody answered twice." for epoch in range(3)]
    conditions = tuple(Condition(kind="one_part", about=(text[:7],), text=text, status="violated") for text in texts)
    finding = Finding(rule="DPA227", where="sum", message="'sum' carries the noise of 'count' again.")
    claim = Claim(epsilon=0.1, delta=1e-5, neighbours="replace_one")
    certificate = certify(Release(label="sum", mechanism=noise), claim, conditions=conditions, findings=(finding,))
    path = Path(write(WRITTEN))
    checked = Checked(path=path, configuration=read_config(path), certificate=certificate)
    issues = {issue.rule: issue for issue in checked.issues()}
    message = issues["DPA101" if certificate.verdict == "refuted" else "DPA102"].message
    assert not any(text in message for text in (*texts, finding.message))
    assert "4 further issues, listed apart" in message
    assert "epsilon" in message


def test_a_file_outside_the_working_folder_has_a_whole_address(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above the working folder there is no relative place: SARIF gets a file: address without a base."""
    write(WRITTEN.replace("epsilon = 1.0", "epsilon = 0.2"), "a b.toml")
    Path("inner").mkdir()
    monkeypatch.chdir("inner")
    dpaudit("check", "../a b.toml", "-o", "out")
    place = outputs()[1]["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": f"file://{tmp_path.resolve()}/a%20b.toml"}


def test_every_issue_can_be_explained() -> None:
    """`dpaudit explain` says of each rule what it means and what to do, offline and in every format."""
    for rule in RULES.values():
        shown = dpaudit("explain", rule.id.lower())
        assert shown.exit_code == 0
        assert rule.remedy.split()[0] in shown.stdout
        assert json.loads(dpaudit("explain", rule.id, "--format", "json").stdout)["level"] == rule.level
    assert "OtherNoise" in dpaudit("explain", "DPA212", "--format", "md").stdout


def test_doubt_is_an_exit_code_of_its_own_and_a_skipped_case(write: Write, toys: None) -> None:
    """Too few runs to see anything: exit code 4, a warning in SARIF, skipped in JUnit."""
    ended = dpaudit("check", write(CODED.format(name="one_sum", runs=12)), "-o", "out")
    assert ended.exit_code == 4
    _, sarif, junit, _ = outputs()
    assert [(held["ruleId"], held["level"]) for held in sarif["runs"][0]["results"]] == [("DPA302", "warning")]
    assert (skipped(junit), junit.get("failures")) == ("1", "0")


def test_fingerprints_survive_new_numbers_and_moved_lines(write: Write) -> None:
    """Another false epsilon and three lines more in front: same fingerprint, other line; another file: another one."""
    prints, lines = [], []
    for name, text in (
        ("release.toml", WRITTEN.replace("epsilon = 1.0", "epsilon = 0.2")),
        ("release.toml", "# a\n# b\n# c\n" + WRITTEN.replace("epsilon = 1.0", "epsilon = 0.3")),
        ("other.toml", WRITTEN.replace("epsilon = 1.0", "epsilon = 0.2")),
    ):
        dpaudit("check", write(text, name), "-o", "out")
        result = outputs()[1]["runs"][0]["results"][0]
        prints.append(result["partialFingerprints"]["dpaudit/v1"])
        lines.append(result["locations"][0]["physicalLocation"]["region"]["startLine"])
    assert prints[0] == prints[1] != prints[2]
    assert lines[1] == lines[0] + 3


def test_an_accepted_issue_passes_until_its_last_day(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accepted: exit code 0, suppressed in SARIF with its reason. After its expiry the issue counts again."""
    name = write(WRITTEN.replace("epsilon = 1.0", "epsilon = 0.2"))
    last = TODAY + timedelta(days=30)
    options = ("--baseline", "b.json", "--accept", "--reason", "fixed in May", "--expires", str(last))
    taken = dpaudit("check", name, *options)
    assert taken.exit_code == 0
    assert "DPA101" in taken.stdout
    Draft202012Validator(schemas.load("baseline")).validate(json.loads(Path("b.json").read_text(encoding="utf-8")))
    ended = dpaudit("check", name, "--baseline", "b.json", "-o", "out")
    assert ended.exit_code == 0
    document, sarif, junit, summary = outputs()
    assert document["issues"][0]["accepted"] == {"reason": "fixed in May", "expires": str(last)}
    assert sarif["runs"][0]["results"][0]["suppressions"][0]["justification"] == f"fixed in May (until {last})"
    assert skipped(junit) == "1"
    assert "### Accepted" in summary
    old = json.loads(Path("b.json").read_text(encoding="utf-8"))
    old["accepted"][0] |= {"accepted": "2020-01-01", "expires": "2020-02-01"}
    write(json.dumps(old), "b.json")
    ended = dpaudit("check", name, "--baseline", "b.json")
    assert ended.exit_code == 1
    assert "expired on 2020-02-01" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--reason", " ", "--expires", "2999-01-01"), "reason"),
        (("--reason", "x", "--expires", "2999-01-01"), "366 days"),
        (("--reason", "x", "--expires", "2000-01-01"), "366 days"),
        (("--reason", "x", "--expires", "soon"), "YYYY-MM-DD"),
        (("--reason", "x", "--expires", str(TODAY), "--rule", "DPA301"), "no open issue of rule DPA301"),
    ],
)
def test_nothing_is_accepted_without_reason_or_for_ever(
    write: Write, arguments: tuple[str, ...], complaint: str
) -> None:
    """Exit code 2, and no file is written."""
    name = write(WRITTEN.replace("epsilon = 1.0", "epsilon = 0.2"))
    ended = dpaudit("check", name, "--baseline", "b.json", "--accept", *arguments)
    assert ended.exit_code == 2
    assert complaint in ended.stderr
    assert not Path("b.json").exists()


def test_an_unusable_configuration_cannot_be_accepted(write: Write) -> None:
    """DPA001 is never hidden by a baseline."""
    name = write("epsilon = 1\n")
    ended = dpaudit("check", name, "--baseline", "b.json", "--accept", "--reason", "x", "--expires", str(TODAY))
    assert (ended.exit_code, Path("b.json").exists()) == (2, False)


def test_an_acceptance_names_the_file_that_it_is_written_to() -> None:
    """Exit code 2 without --baseline, before anything is run."""
    ended = dpaudit("check", "nowhere.toml", "--accept", "--reason", "x", "--expires", str(TODAY))
    assert ended.exit_code == 2
    assert "Expected --baseline FILE" in ended.stderr


@pytest.mark.parametrize("option", ["--reason", "--expires", "--rule"])
def test_what_is_accepted_is_refused_without_accept(option: str) -> None:
    """A check that drops a reason in silence would seem to have accepted something."""
    ended = dpaudit("check", "nowhere.toml", option, "x")
    assert ended.exit_code == 2
    assert "Expected --accept beside" in ended.stderr


def test_a_report_that_got_worse_is_a_finding_and_one_that_got_better_is_not(write: Write) -> None:
    """Less noise: the certified epsilon grows, worse; the other way round better; itself: no change."""
    dpaudit("report", write(WRITTEN), "-o", "before")
    dpaudit("report", write(WRITTEN.replace("8.0", "5.0"), "less.toml"), "-o", "after")
    one, two = "before/report.json", "after/report.json"
    worse = dpaudit("compare", one, two, "--format", "json")
    changes = {held["what"]: held["direction"] for held in json.loads(worse.stdout)}
    assert worse.exit_code == 1
    assert changes["certified epsilon"] == "worse"
    better = dpaudit("compare", two, one)
    assert better.exit_code == 0
    assert "none for the worse" in better.stdout
    same = dpaudit("compare", one, one, "--format", "md")
    assert (same.exit_code, same.stdout.splitlines()[-1]) == (0, "No change.")
    assert dpaudit("compare", one, write("{}", "no.json")).exit_code == 2


def test_a_weaker_claim_or_a_lost_audit_is_worse() -> None:
    """Each fault alone makes the comparison worse: epsilon, delta, verdict, condition, finding, audit."""

    def side(**changed: str | dict[str, dict[str, str | float]] | list[Any]) -> dict[str, Any]:
        held = {
            "verdict": "certified",
            "claim": {"epsilon": 1.0, "delta": 1e-5, "unit": "u", "neighbours": "replace_one", "model": "central"},
            "tight": {"epsilon": {"upper": 0.9}, "delta": {"upper": 1e-6}},
            "findings": [],
            "conditions": [{"kind": "other", "about": ["c"], "text": "c", "status": "checked"}],
        }
        audits = changed.pop("audits", [{"name": "a", "verdict": "consistent", "epsilon_lower": 0.5}])
        return {"certificate": held | changed, "audits": audits}

    claim = side()["certificate"]["claim"]
    worse = [
        side(verdict="not_proved"),
        side(claim=claim | {"epsilon": 1.1}),
        side(claim=claim | {"delta": 1e-4}),
        side(tight={"epsilon": {"upper": "inf"}, "delta": {"upper": 1e-6}}),
        side(conditions=[{"kind": "other", "about": ["c"], "text": "c", "status": "assumed"}]),
        side(
            conditions=[
                {"kind": "other", "about": ["c"], "text": "c", "status": "checked"},
                {"kind": "other", "about": ["d"], "text": "d", "status": "assumed"},
            ]
        ),
        side(findings=[{"rule": "DPA212", "where": "sum"}]),
        side(audits=[]),
        side(audits=[{"name": "a", "verdict": "violation", "epsilon_lower": 2.0}]),
    ]
    for other in worse:
        assert "worse" in {change.direction for change in compare(side(), other)}, other
    assert [c.direction for c in compare(side(), side(claim=claim | {"unit": "v"}))] == ["other"]
    assert compare(side(), side(tight={"epsilon": {"upper": 0.9 + 1e-9}, "delta": {"upper": 1e-6}})) == ()


def test_the_step_summary_is_added_to_and_never_overflows(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands there stays; the limit of 1,024 KiB counts what was there; a cut page says so."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    write("Before.\n", "step.md")
    assert dpaudit("check", write(WRITTEN)).exit_code == 0
    text = Path("step.md").read_text(encoding="utf-8")
    assert text.startswith("Before.\n## Privacy checks\n\n## PASS")
    Path("step.md").write_text("x" * (STEP_LIMIT - 100) + "\n", encoding="utf-8")
    assert append_step_summary("row\n" * 1000)
    assert Path("step.md").stat().st_size <= STEP_LIMIT
    assert Path("step.md").read_text(encoding="utf-8").endswith("Cut: the page is full.\n")
    assert len(fitted("ä" * 10 + "\n" + "b" * 100, 60)) <= 60
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/folder.md")
    assert dpaudit("check", "release.toml").exit_code == 2


def test_every_schema_is_printed_complete() -> None:
    """The list has every name; each schema is valid and refers to nothing outside itself; a wrong name is 2."""
    names = json.loads(dpaudit("list", "schemas", "--format", "json").stdout)["schemas"]
    assert sorted(names) == sorted((*schemas.NAMES, "config"))
    for name in names:
        schema = json.loads(dpaudit("list", "schema", name).stdout)
        Draft202012Validator.check_schema(schema)
        known = {schema["$id"], *(held["$id"] for held in schema.get("$defs", {}).values() if "$id" in held)}
        wanted = set(re.findall(r'"\$ref": "(urn:[^"#]+)', json.dumps(schema)))
        assert wanted <= known
    assert "did you mean 'report'" in dpaudit("list", "schema", "raport").stderr


def test_the_doctor_finds_a_sound_installation_well_and_a_broken_one_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 0 here; 2 where the auditor has gone blind, or a package is missing."""
    assert dpaudit("doctor").exit_code == 0
    monkeypatch.setattr("audits.procedures.betting._scored", lambda expert, block: 0.0 * block.labels)
    ended = dpaudit("doctor", "--format", "json")
    assert ended.exit_code == 2
    assert [held["what"] for held in json.loads(ended.stdout) if held["status"] == "failed"] == ["auditor"]


def test_a_wrong_sarif_is_caught() -> None:
    """The twin of the schema: each of these logs breaks one rule of the standard."""
    good: dict[str, Any] = {
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": {"name": "x"}}, "results": []}],
    }
    assert SARIF.is_valid(good)
    result = {"ruleId": "A", "message": {"text": "m"}, "partialFingerprints": {"a": "b"}}
    place = {"physicalLocation": {"artifactLocation": {"uri": "a.toml"}, "region": {"startLine": 0}}}
    for broken in (
        good | {"version": "2.0"},
        good | {"runs": []},
        good | {"runs": [{"tool": {}, "results": []}]},
        good | {"runs": [good["runs"][0] | {"results": [result]}]},
        good | {"runs": [good["runs"][0] | {"results": [result | {"locations": [place]}]}]},
        good | {"runs": [good["runs"][0] | {"columnKind": "bytes"}]},
    ):
        assert not SARIF.is_valid(broken)


def test_the_summary_keeps_its_characters(write: Write) -> None:
    """Brackets and backticks of a name are escaped, not replaced by other characters; nothing of it is a link."""
    text = json.dumps(
        {
            "claim": {"epsilon": 1.0, "neighbours": "replace_one", "unit": "one person"},
            "declaration": {"node": "stated", "epsilon": 0.5, "source": "[a](b) `c`!"},
        }
    )
    dpaudit("check", write(text, "stated.json"), "-o", "out")
    assert r"follows only from what \[a\]\(b) \`c\`! stated" in outputs()[3]


CERTIFICATE = certify(
    Release(label="sum", mechanism=Gaussian(stddev=8.0, l2_sensitivity=1.0, neighbours="replace_one")),
    Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one"),
).to_dict()


def scored(verdict: str) -> dict[str, Any]:
    """Return the scores of one file in a report."""
    return {"file": "in.csv", "digest": "0" * 64, "result": {"verdict": verdict, "epsilon_lower": 0.5}}


def test_a_violation_is_worse_wherever_it_stands() -> None:
    """Also before an audit of the same name that passed, and in an audit of scores."""
    audit = {"name": "sum", "verdict": "not_refuted", "epsilon_lower": 0.0}
    before = {"certificate": CERTIFICATE, "audits": [audit, audit], "scores": [scored("not_refuted")]}
    assert compare(before, before) == ()
    changes: tuple[dict[str, Any], ...] = (
        {"audits": [audit | {"verdict": "violation"}, audit]},
        {"scores": [scored("violation")]},
        {"scores": []},
    )
    for worse in changes:
        assert [change.direction for change in compare(before, before | worse)] == ["worse"]


@pytest.mark.parametrize("part", ["tight", "claim"])
def test_a_number_that_is_nan_is_not_better(part: str) -> None:
    before = {"certificate": CERTIFICATE, "audits": []}
    after = json.loads(json.dumps(before))
    after["certificate"][part]["epsilon"] = "nan"
    with pytest.raises(ConfigError, match="NaN"):
        compare(before, after)
