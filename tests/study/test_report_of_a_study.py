"""What a report says of usefulness: the words of a study of the same configuration, or why it says nothing."""

import copy
import json
import math
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dpaudit import Claim
from dpaudit.configuration.config import config_of
from dpaudit.documents.markdown import markdown
from dpaudit.errors import ConfigError
from dpaudit.gate.baseline import Baseline
from dpaudit.gate.catalogue import RULES, gate_rule_document
from dpaudit.gate.running import run_checks
from dpaudit.report.figures.front import front_figure
from dpaudit.study.digests import config_digest
from dpaudit.study.document import SCHEMA
from dpaudit.study.usefulness import MORE_THAN_HALF, OTHER, UNDECIDED, VACUOUS, Usefulness, usefulness_of
from dpaudit.workflow import certificate_of, write_report
from tests.configurations import CAPRI

_CLAIM = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", model="joint", unit="one round")
_INTERVAL = {"mean": 20.0, "error": 1.0, "lower": 18.0, "upper": 22.0, "count": 8}
_ROW: dict[str, Any] = {
    "label": "tight",
    "algorithm": "capri",
    "family": "f",
    "role": "private",
    "model": "joint",
    "claim": 1.0,
    "epsilon": 0.9999,
    "person_epsilon": 6.2,
    "unit": "one round",
    "certificate": "",
    "verdict": "certified",
    "remark": "",
    "config": "ours",
    "T": 1000,
    "regret": _INTERVAL,
    "uniform": 100.0,
    "myopic": None,
    "share": 0.2,
    "lost": 0.0,
    "floor": "uniform play",
    "minus_floor": _INTERVAL | {"mean": -80.0, "upper": -70.0},
    "visible": "yes",
    "lower_bound": None,
    "information_gain": None,
}
_CEILING = _ROW | {"label": "no noise", "role": "ceiling", "config": "other", "regret": _INTERVAL | {"mean": 5.0}}
_STUDY: dict[str, Any] = {
    "schema": SCHEMA,
    "name": "s",
    "alpha": 0.05,
    "delta": 1e-5,
    "relation": "replace_one",
    "problem": {"name": "grid"},
    "rows": [_ROW, _CEILING],
    "dominance": [],
}


def _said(study: dict[str, Any], **changed: Any) -> Usefulness:
    given: dict[str, Any] = {"config": "ours", "claim": _CLAIM, "unit": "one round", "horizon": 1000, "refuted": False}
    return usefulness_of(study, **given | changed)


def _with(**changed: Any) -> dict[str, Any]:
    study = copy.deepcopy(_STUDY)
    study["rows"][0] |= changed
    return study


def test_a_visible_setting_is_said_with_regret_interval_floor_and_ceiling() -> None:
    """The sentence has the four numbers, a round each, and says that users are simulated."""
    assert _said(_STUDY).sentences == (
        "In simulation on grid with 1,000 users, the certified setting lost 0.02 a round (95% interval 0.018 to 0.022)"
        "; uniform play loses 0.1, the same method without noise 0.005.",
    )


_NO = {"visible": "no", "share": 0.2}


def _gap(mean: float, lower: float, upper: float) -> dict[str, Any]:
    """Return a difference to the best floor; uniform play loses 100."""
    return {"minus_floor": _INTERVAL | {"mean": mean, "lower": lower, "upper": upper}}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (_NO | {"share": 1.0} | _gap(1.0, -30.0, 32.0), (VACUOUS,)),
        (_NO | _gap(0.0, 0.0, 0.0), (VACUOUS,)),  # the run without data lost exactly as much
        (_NO | _gap(21.0, 14.0, 28.0), (VACUOUS,)),  # the run without data lost less
        (_NO | _gap(-1.0, -4.9, 2.9), (VACUOUS,)),  # at most a gain that is not worth naming
        (_NO | _gap(-1.0, -5.1, 3.1), (UNDECIDED,)),
        (_NO | {"share": 0.8} | _gap(-28.0, -63.0, 7.0), (UNDECIDED,)),
        (_NO | _gap(-28.0, -math.inf, math.inf), (UNDECIDED,)),
        ({"visible": "no blind floor"}, None),
    ],
)
def test_what_is_not_shown_is_said_as_strongly_as_the_comparison(
    changed: dict[str, Any], said: tuple[str, ...] | None
) -> None:
    """ "Did no better" stands where a tie, a loss or at most a small gain was measured, and nowhere else."""
    sentences = _said(_with(**changed)).sentences
    if said is None:
        assert "no run of the method without data" in sentences[0]
    else:
        assert sentences == said


def test_a_gain_that_leaves_more_than_half_is_said_in_numbers_and_not_as_shown() -> None:
    """The numbers of a visible setting, then that it lost more than half; the remark is that nothing is shown."""
    for gap in (_gap(-20.0, -22.0, -18.0), _gap(-2.0, -3.0, -1.0)):
        useful = _said(_with(visible="no", share=0.8, **gap))
        assert useful.sentences[0].startswith("In simulation on grid with 1,000 users")
        assert useful.sentences[1] == MORE_THAN_HALF
    assert useful.short == "not shown at this horizon (simulated)"
    assert [remark for remark, _ in useful.remarks] == ["not_shown"]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"config": "another"}, OTHER),
        ({"claim": Claim(epsilon=1.0, delta=1e-6, neighbours="replace_one", model="joint")}, "delta, relation or unit"),
        ({"unit": "one person"}, "delta, relation or unit"),
        ({"horizon": 999}, "longer horizons only"),
        ({"refuted": True}, "refuted"),
    ],
)
def test_a_study_of_anything_else_says_nothing(changed: dict[str, Any], why: str) -> None:
    """Another configuration, delta, unit or a shorter horizon, and a refuted claim: not assessed, with the reason."""
    useful = _said(_STUDY, **changed)
    assert not useful.assessed
    assert why in useful.why


def test_a_dominated_setting_names_the_contender_that_lost_less() -> None:
    """The contender with the largest difference is named, with the difference and its interval a round."""
    gap = {"mean": -10.0, "error": 1.0, "lower": -12.0, "upper": -8.0, "count": 8}
    row = {"better": "sums", "better_claim": 0.1, "worse": "tight", "worse_claim": 1.0, "T": 1000, "difference": gap}
    said = _said(_STUDY | {"dominance": [row]}).sentences
    assert said[1] == (
        "At the same certified epsilon, sums (claim 0.1) lost 0.01 less a round "
        "(interval of the difference 0.008 to 0.012)."
    )


def test_another_configured_horizon_is_said() -> None:
    """A study up to 1,000 rounds speaks for 5,000 only with the remark that 5,000 was not studied."""
    assert "5,000 was not studied" in _said(_STUDY, horizon=5000).sentences[-1]


_TEXT = f"""
[evidence]
study = "study.json"

{CAPRI}
[problem]
name = "grid"
contexts = 2
actions = 2
"""


def test_the_digest_reads_values_and_not_spelling(tmp_path: Path) -> None:
    """Defaults count as written; horizon and seed do not matter; any other value does."""
    file = tmp_path / "a.toml"
    plain = config_of(file, _TEXT).subject
    spelt = config_of(file, _TEXT.replace("horizon = 1000", 'horizon = 2000\ncalibration = "tight"\nridge = 1')).subject
    other = config_of(file, _TEXT.replace("horizon = 1000", "horizon = 1000\nridge = 2.0")).subject
    problem = {"name": "grid", "contexts": 2, "actions": 2}
    full = problem | {"seed": 5, "kernel": "squared_exponential"}
    digests = [config_digest(held.algorithm, table) for held, table in ((plain, problem), (spelt, full), (other, full))]
    assert digests[0] == digests[1] != digests[2]
    assert config_digest(plain.algorithm, problem | {"contexts": 3}) != digests[0]


def test_a_report_prints_the_study_and_one_without_it_stays_not_assessed(tmp_path: Path) -> None:
    """Cover and section 9a have the study's words; the table marks the present setting; a broken file is refused."""
    file = tmp_path / "a.toml"
    configuration = config_of(file, _TEXT)
    certificate = certificate_of(configuration, 0)
    digest = config_digest(configuration.subject.algorithm, {"name": "grid", "contexts": 2, "actions": 2})
    unit = certificate.claim.unit
    (tmp_path / "study.json").write_text(json.dumps(_with(config=digest, unit=unit)), encoding="utf-8")
    write_report(configuration, certificate, (), configuration.audit, None, tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    own = text.split("## 9a")[1].split("## 10")[0]
    assert "In simulation on grid with 1,000 users" in own
    assert "(figures/front.svg)" in own
    assert (tmp_path / "out" / "figures" / "front.svg").is_file()
    assert "Usefulness outside the simulation" in text
    assert "tight (this setting)" in text
    without = config_of(file, _TEXT.replace('[evidence]\nstudy = "study.json"\n', ""))
    write_report(without, certificate, (), without.audit, None, tmp_path / "bare")
    bare = (tmp_path / "bare" / "report.md").read_text(encoding="utf-8")
    assert "In simulation" not in bare
    assert "front.svg" not in bare
    assert "Usefulness of the output" in bare
    (tmp_path / "study.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"a\.toml:3: .*study\.json: not JSON"):
        write_report(configuration, certificate, (), configuration.audit, None, tmp_path / "no")


def _written(folder: Path, study: dict[str, Any] | None) -> Path:
    """Return a configuration in `folder` that names `study`, whose first row becomes its own; or that names none."""
    file = folder / "a.toml"
    file.write_text(_TEXT if study else _TEXT.replace('[evidence]\nstudy = "study.json"\n', ""), encoding="utf-8")
    if study is not None:
        configuration = config_of(file, _TEXT)
        problem = {"name": "grid", "contexts": 2, "actions": 2}
        study["rows"][0]["config"] = config_digest(configuration.subject.algorithm, problem)
        study["rows"][0]["unit"] = configuration.subject.algorithm.claim().unit
        (folder / "study.json").write_text(json.dumps(study), encoding="utf-8")
    return file


def _rules(file: Path, *, usefulness: bool) -> tuple[list[str], int]:
    """Return the rules of the issues of a check without audits, and its exit code."""
    document = run_checks((file,), Baseline(), date(2026, 1, 31), attack=False, usefulness=usefulness)
    return [issue.rule for issue in document.open if issue.rule.startswith("DPA4")], document.exit_code


_GAP = {"mean": -10.0, "error": 1.0, "lower": -12.0, "upper": -8.0, "count": 8}
_BETTER = {"better": "sums", "better_claim": 0.1, "worse": "tight", "worse_claim": 1.0, "T": 1000, "difference": _GAP}


@pytest.mark.parametrize(
    ("study", "rules"),
    [
        (_STUDY, []),
        (_with(visible="no", share=1.0, minus_floor=_INTERVAL | {"upper": 3.0}), ["DPA401"]),
        (_STUDY | {"dominance": [_BETTER]}, ["DPA402"]),
        (None, ["DPA401"]),
        (_STUDY | {"delta": 1e-6}, ["DPA401"]),
    ],
)
def test_a_check_says_what_a_study_says_against_a_setting_when_asked(
    tmp_path: Path, study: dict[str, Any] | None, rules: list[str]
) -> None:
    """Vacuous, dominated and unknown settings are warnings of their own rules."""
    assert _rules(_written(tmp_path, copy.deepcopy(study)), usefulness=True) == (rules, 0)


def test_rules_of_usefulness_are_explained_and_never_stop_a_pipeline() -> None:
    """Each has a text, says that the claim is not affected, and is a warning."""
    for identifier in ("DPA401", "DPA402"):
        assert RULES[identifier].level == "warning"
        assert "the claim is not affected" in markdown(gate_rule_document(identifier))


def test_the_front_has_every_point_once_and_marks_the_present_one_alone() -> None:
    """Refuted rows and other horizons have no mark; a hidden setting is crossed; a local one is hollow."""
    study = copy.deepcopy(_STUDY)
    rows: list[dict[str, Any]] = study["rows"]
    rows.append(_ROW | {"label": "near", "model": "local", "epsilon": 4.0, "config": "x", "visible": "no"})
    rows.append(_ROW | {"label": "bad", "remark": "no certificate: the claim is refuted", "config": "y"})
    rows.append(_ROW | {"label": "tight", "T": 10, "config": "z"})
    front = _said(study).front
    assert front is not None
    assert [(point.label, point.present) for point in front.points] == [("tight", True), ("near", False)]
    assert [level.label for level in front.levels] == ["uniform play", "no noise"]
    for width in (760.0, 344.0):
        drawing = "".join(front_figure(front).draw(width).parts)
        assert drawing.count('class="ring"') == 1
        assert len(re.findall(r'class="mark other empty"', drawing)) == 2  # the point and its entry in the legend
        assert drawing.count('class="crossed"') == 4
