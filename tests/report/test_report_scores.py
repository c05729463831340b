"""Audits of scores in a report: read back strictly, refused about another claim, shown with their band."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import jsonschema
import numpy as np
import pytest

from audits.bounds import GaussianTradeOff
from audits.scores import Band
from dpaudit import Claim
from dpaudit.configuration.scores_document import decode_scores
from dpaudit.errors import Fault
from dpaudit.model.scores_result import ScoresResult
from dpaudit.report import Report
from dpaudit.report.attacks import ScoreEvidence
from dpaudit.report.figures.rates import band_of
from dpaudit.report.writing import contents, render
from dpaudit.schemas import load
from tests.command_line import dpaudit
from tests.scores.normal_scores import CLAIM, CONFIGURATION, scored


def _write(folder: Path, result: ScoresResult, toml: str = CONFIGURATION) -> Path:
    """Return a configuration that names `result` as evidence."""
    (folder / "scores.json").write_text(result.to_json(), encoding="utf-8")
    (folder / "config.toml").write_text(toml, encoding="utf-8")
    return folder / "config.toml"


@pytest.mark.parametrize("sampling", ["runs", "canaries", "paired"])
def test_a_result_is_read_back_as_it_was_written(sampling: Literal["runs", "canaries", "paired"]) -> None:
    """Decoding inverts encoding for every sampling, infinities and declared trade-offs included."""
    claim = replace(CLAIM, neighbours="replace_one") if sampling == "paired" else CLAIM
    for shift in (0.0, 6.0):
        result = scored(shift, claim, sampling=sampling, declared=GaussianTradeOff(mu=0.3))
        assert decode_scores(json.loads(result.to_json())) == result


def _set(*path: str | int, to: Any) -> Callable[[dict[str, Any]], None]:
    """Return what sets one value of plain data."""

    def change(data: dict[str, Any]) -> None:
        held: Any = data
        for key in path[:-1]:
            held = held[key]
        held[path[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("schema", to="other"), "expected an audit of scores"),
        (_set("verdict", to="violation"), "does not follow"),
        (_set("epsilon_lower", to=0.9), "not the one that decides"),
        (_set("epsilon_lower", to=True), "epsilon_lower=True to be a number"),
        (_set("epsilon_lower", to=10**400), "floating point can hold"),
        (_set("members", to=-1), "members=-1 to be a whole number of at least 1"),
        (_set("counts", "guesses", to=-1), "guesses=-1 to be a whole number of at least 0"),
        (_set("sampling", to="pooled"), "one of: runs, canaries, paired"),
        (_set("sampling", to="canaries"), "whose scores share a run"),
        (_set("against", "claim", "epsilon", to=-1.0), "epsilon"),
        (_set("against", "claim", "delta", to=0.1), "delta is not the claim's"),
        (_set("against", "claim", "extra", to=1), "claim: unknown key 'extra'"),
        (_set("roc", 0, "true_positive_rate", to=[0.9, 0.1]), "out of order"),
        (_set("roc", 0, "true_positives", to=10**6), "counts more scores than there are"),
        (_set("rates", 0, "measured", to=1.5), "measured=1.5 in [0, 1]"),
        (_set("counts", "correct", to=10**6), "exceeds the number that it counts from"),
        (_set("auroc", "value", to="inf"), "value=inf in [0, 1]"),
        (_set("ceiling", to=0.0), "exceeds the ceiling"),
        (_set("bounds", to=[]), "not the one that decides"),
        (lambda data: data.pop("rates"), "missing key 'rates'"),
    ],
)
def test_an_altered_file_is_a_fault(change: Callable[[dict[str, Any]], None], message: str) -> None:
    """Each contradiction and wrong type is named; the unaltered file is read."""
    data = scored().to_dict()
    decode_scores(data)
    altered = json.loads(json.dumps(data))
    change(altered)
    with pytest.raises(Fault) as caught:
        decode_scores(altered)
    assert message in caught.value.message


def test_the_band_has_the_limits_at_each_rate() -> None:
    """At any rate the band is what brute force over the points gives; a broken band without steps differs."""
    result = scored(1.0, rule=Band())
    corners = band_of(result)
    pairs = [(p.false_positive_rate, p.true_positive_rate) for p in result.roc]
    limits = [(f, t) for f, t in pairs if f is not None and t is not None]
    turn = corners.index((1.0, 1.0))
    for x in np.linspace(0.013, 0.987, 40):
        high = min((t[1] for f, t in limits if f[0] >= x), default=1.0)
        low = max((t[0] for f, t in limits if f[1] <= x), default=0.0)
        lower = max(y for a, y in corners[:turn] if a <= x)
        upper = min(y for a, y in corners[turn:] if a >= x)
        assert (lower, upper) == (low, high)
    assert band_of(scored(1.0, sampling="canaries")) == []


def _report(result: ScoresResult) -> Report:
    """Return a report on a Laplace count with these scores."""
    from dpaudit import Release, certify
    from mechanisms import Laplace

    noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    certificate = certify(Release(label="count", mechanism=noise), CLAIM)
    held = ScoreEvidence(file="scores.json", digest="0" * 64, result=result)
    return Report(certificate=certificate, scores=(held,), created="2026-01-31")


def test_scores_are_in_every_format() -> None:
    """HTML, Markdown, JSON and figure have verdict, sampling, bounds, area and rates; the JSON fits its schema."""
    result = scored()
    assert result.verdict == "not_refuted"
    texts = render(_report(result))
    for name in ("report.html", "report.md"):
        for words in ("Membership scores", "stated, not checked", "AUROC", "TPR at FPR 0.01", "scores.json", "S1: "):
            assert words in texts[name], (name, words)
    assert "reached" in texts["figures/scores-roc-1.svg"]
    data = json.loads(texts["report.json"])
    jsonschema.validate(data, load("report"))
    assert data["scores"][0]["result"]["epsilon_lower"] == result.epsilon_lower
    assert data["verdict"] == "CERTIFIED WITH CAVEATS"
    assert any("sampling of the scores is stated" in caveat for caveat in data["caveats"])
    pdf = contents(_report(result), pdf=True)["report.pdf"]
    assert pdf.startswith(b"%PDF")


def test_without_scores_there_is_no_section() -> None:
    """A report without scores has no section 7a and an empty list."""
    texts = render(replace(_report(scored()), scores=()))
    assert "Membership scores" not in texts["report.html"] + texts["report.md"]
    assert json.loads(texts["report.json"])["scores"] == []


def test_scores_above_the_claim_void_the_report() -> None:
    """A violation of the claim is VIOLATION, under the stated sampling; one of a declaration is a caveat."""
    above = _report(scored(4.0))
    assert above.verdict == "VIOLATION"
    assert "if sampled as stated" in above.void
    beside = scored(0.9, declared=GaussianTradeOff(mu=0.01))
    assert (beside.verdict, beside.exceeds_claim) == ("violation", False)
    data = _report(beside).to_dict()
    assert data["verdict"] == "CERTIFIED WITH CAVEATS"
    assert any("refute a Gaussian trade-off with mu = 0.01" in caveat for caveat in data["caveats"])


@pytest.mark.parametrize(("shift", "code"), [(0.5, 0), (4.0, 1)])
def test_the_command_reads_the_files(tmp_path: Path, shift: float, code: int) -> None:
    """A declaration without code takes scores as evidence; a violation exits 1."""
    config = _write(tmp_path, scored(shift))
    assert dpaudit("report", str(config), "-o", str(tmp_path / "out")).exit_code == code
    assert "S1: AUROC" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (replace(CLAIM, neighbours="replace_one"), "its neighbours is 'replace_one', the certificate's 'add_remove'"),
        (replace(CLAIM, epsilon=2.0), "its epsilon is 2.0, the certificate's 1.0"),
        (replace(CLAIM, delta=1e-5), "its delta is 1e-05, the certificate's 0.0"),
        (replace(CLAIM, model="local"), "its model is 'local', the certificate's 'central'"),
    ],
)
def test_scores_of_another_claim_are_refused(tmp_path: Path, claim: Claim, words: str) -> None:
    """One line names file, key, line and difference; nothing is written."""
    config = _write(tmp_path, scored(claim=claim))
    ended = dpaudit("report", str(config), "-o", str(tmp_path / "out"))
    assert ended.exit_code == 2
    assert words in ended.stderr
    assert ":2: " in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert not (tmp_path / "out" / "report.md").exists()


def test_files_that_hold_no_scores_are_refused(tmp_path: Path) -> None:
    """A missing file, text, and a study without an algorithm end with exit code 2 and one line."""
    config = _write(tmp_path, scored())
    for text in ("no json", "[]", "[" * 100_000):
        (tmp_path / "scores.json").write_text(text, encoding="utf-8")
        ended = dpaudit("report", str(config), "-o", str(tmp_path / "out"))
        assert (ended.exit_code, ended.stderr.count("\n")) == (2, 1)
    (tmp_path / "scores.json").unlink()
    ended = dpaudit("report", str(config), "-o", str(tmp_path / "out"))
    assert ended.exit_code == 2
    assert "scores.json" in ended.stderr
    _write(tmp_path, scored(), CONFIGURATION.replace('scores = ["scores.json"]', 'study = "study.json"'))
    ended = dpaudit("certify", str(config))
    assert ended.exit_code == 2
    assert "study needs an [algorithm]" in ended.stderr
