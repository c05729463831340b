"""A received report is checked from its files: the certificate, the digest to sign, and every page."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from audits import audit
from audits.examples import CLAIM, half_noise
from dpaudit import AuditResult, Release, certify, verify
from dpaudit.cli.app import app
from dpaudit.errors import ConfigError
from dpaudit.report import Report, write
from dpaudit.report.received.files import verify_report
from dpaudit.report.signed import signed_digest
from mechanisms import Laplace


def kept(data: Any, rng: np.random.Generator, n_runs: int) -> Any:
    """Keeps `CLAIM`."""
    return data + rng.laplace(0, 1, n_runs)


def audited(function: Any) -> AuditResult:
    return audit(function, neighbours=(0.0, 1.0), claim=CLAIM, runs=20_000, rng=np.random.default_rng(1))


NOISE = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours=CLAIM.neighbours)
CERTIFICATE = certify(Release(label="sum", mechanism=NOISE), CLAIM)
REPORT = Report(
    title="A sum",
    certificate=CERTIFICATE,
    audits=(audited(kept),),
    created="2026-01-02",
    command="dpaudit report a.toml",
    environment=(("system", "one"),),
)
STATEMENT = "privacy-report.intoto.json"
FILES = ("report.html", "report.md", "report.json", "figures/epsilons.svg")


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a report by their names."""
    folder = tmp_path_factory.mktemp("report")
    return {str(path.relative_to(folder)): path.read_bytes() for path in write(REPORT, folder)}


@pytest.fixture
def folder(contents: dict[str, bytes], tmp_path: Path) -> Path:
    """A report as it is received."""
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def complaints(path: Path) -> tuple[str, ...]:
    return verify_report(path).complaints


def restated(folder: Path) -> None:
    """Give the statement the digests that the files have now, and the numbers of the audits."""
    statement = json.loads((folder / STATEMENT).read_text(encoding="utf-8"))
    audits = json.loads((folder / "report.json").read_text(encoding="utf-8"))["audits"]
    for told, own in zip(statement["predicate"]["audits"], audits, strict=True):
        told.update({key: own[key] for key in told})
    for subject in statement["subject"]:
        subject["digest"]["sha256"] = hashlib.sha256((folder / subject["name"]).read_bytes()).hexdigest()
    (folder / STATEMENT).write_text(json.dumps(statement), encoding="utf-8")


def with_data(folder: Path, change: dict[str, Any]) -> None:
    """Change fields of report.json."""
    data = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    (folder / "report.json").write_text(json.dumps(data | change), encoding="utf-8")


@pytest.mark.parametrize("name", ["", *FILES[:3]])
def test_a_report_is_confirmed_by_its_folder_or_any_page(folder: Path, name: str) -> None:
    found = verify_report(folder / name)
    assert (found.complaints, found.verdict) == ((), "certified")
    assert found.digest == json.loads((folder / "report.json").read_text(encoding="utf-8"))["digest_to_sign"]
    result = CliRunner().invoke(app, ["verify", str(folder / name)])
    assert result.exit_code == 0
    assert "PASS" in result.output


@pytest.mark.parametrize("name", FILES)
def test_one_altered_digit_is_found_by_the_name_of_its_file(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    place = max(place for place in range(len(content)) if content[place : place + 1] in b"12345678")
    (folder / name).write_bytes(content[:place] + bytes([content[place] + 1]) + content[place + 1 :])
    assert any(name in complaint for complaint in complaints(folder))
    assert CliRunner().invoke(app, ["verify", str(folder)]).exit_code == 1


def test_an_altered_result_is_found_although_the_statement_follows_it(folder: Path) -> None:
    """The digest to sign covers the audits; who alters it too has another digest than the one that was received."""
    audits = json.loads((folder / "report.json").read_text(encoding="utf-8"))["audits"]
    received = verify_report(folder).digest
    with_data(folder, {"audits": [audits[0] | {"epsilon_lower": 0.0}]})
    restated(folder)
    assert len(complaints(folder)) == 1
    assert complaints(folder)[0].startswith("report.json was altered")
    data = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    with_data(folder, {"digest_to_sign": signed_digest(data)})
    restated(folder)
    assert complaints(folder) == ()
    assert f"{received} is demanded" in verify_report(folder, received).complaints[0]
    assert CliRunner().invoke(app, ["verify", str(folder), "--digest", received]).exit_code == 1


def test_a_report_that_holds_a_violation_is_a_finding(tmp_path: Path) -> None:
    """Its files are whole and its certificate is proved; both the word and the audit say that the claim is false."""
    write(replace(REPORT, audits=(audited(half_noise),)), tmp_path)
    assert complaints(tmp_path) == ("the report's own verdict is VIOLATION", "the report holds a violation: function")
    assert CliRunner().invoke(app, ["verify", str(tmp_path)]).exit_code == 1


def test_a_certificate_and_another_version_are_told_from_a_report(folder: Path) -> None:
    """A certificate may bear the name; what an older version signed is not called altered."""
    with_data(folder, {"schema": "urn:dpaudit:schema:report:6"})
    with pytest.raises(ConfigError, match="no report of this version"):
        verify_report(folder)
    (folder / "report.json").write_text(CERTIFICATE.to_json(), encoding="utf-8")
    assert CliRunner().invoke(app, ["verify", str(folder / "report.json")]).exit_code == 0


def test_a_statement_about_more_than_can_be_read_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many names of one file are bounded by what they have together."""
    monkeypatch.setattr("dpaudit.report.received.files._MOST_BYTES", 10**6)
    statement = json.loads((folder / STATEMENT).read_text(encoding="utf-8"))
    last = statement["subject"][-1]
    statement["subject"] += [last | {"name": f"{'./' * n}report.html"} for n in range(1, 50)]
    (folder / STATEMENT).write_text(json.dumps(statement), encoding="utf-8")
    with pytest.raises(ConfigError, match="bytes together"):
        verify_report(folder)


def test_an_altered_certificate_is_found(folder: Path) -> None:
    data = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    with_data(folder, {"certificate": data["certificate"] | {"verdict": "refuted"}})
    assert set(verify(json.dumps(data["certificate"] | {"verdict": "refuted"})).complaints) <= set(complaints(folder))


def test_a_missing_file_and_a_page_that_nobody_stated_are_named(folder: Path) -> None:
    (folder / "report.md").unlink()
    (folder / "report.pdf").write_bytes(b"%PDF-1.7")
    assert complaints(folder) == (
        f"'report.md' is named in {STATEMENT} and is missing",
        f"report.pdf is not named in {STATEMENT}",
    )


def test_without_a_statement_a_page_cannot_be_checked(folder: Path) -> None:
    (folder / STATEMENT).unlink()
    assert complaints(folder / "report.json") == ()
    assert any("no page of the report was compared" in note for note in verify_report(folder).notes)
    assert complaints(folder / "report.html") == (f"report.html cannot be checked without {STATEMENT} beside it",)


@pytest.mark.parametrize("name", ["../secret", "/etc/hostname"])
def test_a_statement_about_files_outside_is_a_complaint(folder: Path, name: str) -> None:
    statement = json.loads((folder / STATEMENT).read_text(encoding="utf-8"))
    statement["subject"].append({"name": name, "digest": {"sha256": "0" * 64}})
    (folder / STATEMENT).write_text(json.dumps(statement), encoding="utf-8")
    assert any("not inside the folder" in complaint for complaint in complaints(folder))


@pytest.mark.parametrize("text", ["{}", "[]", "nothing", '{"schema": "urn:dpaudit:schema:certificate:5"}'])
def test_what_is_no_report_is_refused_in_one_line(folder: Path, text: str) -> None:
    (folder / "report.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"report\.json"):
        verify_report(folder)
    result = CliRunner().invoke(app, ["verify", str(folder)])
    assert result.exit_code == 2


def test_hostile_data_end_in_a_complaint(folder: Path) -> None:
    """Fields of another form give no digest, and no traceback."""
    changes: list[dict[str, Any]] = [{"audits": 3}, {"sections": [3]}, {"certificate": None}, {"audits": [[]]}]
    for change in changes:
        with_data(folder, change)
        assert complaints(folder)


def test_two_runs_with_one_seed_have_one_digest() -> None:
    """Date, machine, command and times differ, and the digest to sign does not; another result has another one."""
    slower = replace(REPORT.audits[0], seconds=99.0)
    later = replace(
        REPORT,
        created="2026-02-03",
        audits=(slower,),
        command="dpaudit report b.toml",
        environment=(("system", "another"),),
    )
    other = replace(REPORT, audits=(replace(slower, epsilon_lower=0.5),))
    digests = [report.to_dict()["digest_to_sign"] for report in (REPORT, later, other)]
    assert digests[0] == digests[1] != digests[2]


def test_the_cover_of_every_page_says_how_to_check_it(contents: dict[str, bytes]) -> None:
    for name in ("report.html", "report.md"):
        assert "dpaudit verify report.json" in contents[name].decode()


@pytest.mark.parametrize("key", ["verdict", "claim", "tight", "certificate", "source", "created", "audits"])
def test_a_number_of_the_statement_itself_that_was_altered_is_found(folder: Path, key: str) -> None:
    """The statement names no digest of its own; each of its entries is that of report.json."""
    file = folder / "privacy-report.intoto.json"
    statement = json.loads(file.read_text(encoding="utf-8"))
    statement["predicate"][key] = [{"name": "another"}] if key == "audits" else {"other": 1}
    file.write_text(json.dumps(statement), encoding="utf-8")
    assert any(repr(key) in line or key in line for line in verify_report(folder).complaints)


def test_the_other_statement_is_one_of_the_named_files_and_what_lies_beside_is_told(folder: Path) -> None:
    (folder / "extra.txt").write_text("x", encoding="utf-8")
    found = verify_report(folder)
    assert not found.complaints
    assert any("extra.txt" in note for note in found.notes)
    (folder / "test-result.intoto.json").unlink()
    assert any("test-result.intoto.json" in line for line in verify_report(folder).complaints)


ALTERED_STATEMENTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "no SHA-256": lambda data: data["subject"][0]["digest"].pop("sha256"),
    "a file twice": lambda data: data["subject"].append(data["subject"][0]),
    "a name of 100,000 letters": lambda data: data["subject"][0].update(name="x" * 100_000),
    "no statement": lambda data: data.update(_type="x"),
    "another predicate": lambda data: data.pop("predicateType"),
    "scores that nobody audited": lambda data: data["predicate"].update(scores=[{"verdict": "consistent"}]),
    "an audit without its bound": lambda data: data["predicate"]["audits"][0].pop("epsilon_lower"),
    "a truth value as epsilon": lambda data: data["predicate"]["claim"].update(epsilon=True),
}


@pytest.mark.parametrize("change", ALTERED_STATEMENTS.values(), ids=ALTERED_STATEMENTS)
def test_an_altered_statement_is_a_finding(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    statement = json.loads((folder / STATEMENT).read_text(encoding="utf-8"))
    change(statement)
    (folder / STATEMENT).write_text(json.dumps(statement), encoding="utf-8")
    assert CliRunner().invoke(app, ["verify", str(folder)]).exit_code == 1


def test_a_field_that_is_added_as_unsigned_changes_the_digest(folder: Path) -> None:
    data = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    forged = {"name": "Epsilon", "value": "0.01", "status": "evidence", "evidence_ref": "title"}
    section = data["sections"][1]
    sections = [data["sections"][0], section | {"fields": [*section["fields"], forged]}, *data["sections"][2:]]
    assert signed_digest(data | {"sections": sections}) != data["digest_to_sign"]
