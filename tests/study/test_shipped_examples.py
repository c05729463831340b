"""What the shipped examples say of their usefulness: each names a study of its own configuration."""

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpaudit import certify
from dpaudit.configuration.config import read_config
from dpaudit.study.cells import cells_of
from dpaudit.study.certified import certified_at
from dpaudit.study.digests import config_digest
from dpaudit.study.study_file import read_study
from dpaudit.study.usefulness import OTHER, VACUOUS, Usefulness, usefulness_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
WITHOUT = {"dp_sgd_affairs"}
"""Training has no regret, so that no study speaks of it."""

SHOWN = "In simulation on "


def _coded() -> list[Path]:
    """Return the examples that run an algorithm."""
    tables = {path: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(EXAMPLES.glob("*.toml"))}
    return [path for path, table in tables.items() if "algorithm" in table and path.stem not in WITHOUT]


@cache
def _useful(path: Path) -> Usefulness:
    """Return what the study that an example names says of it; `test_examples` holds which example is refuted."""
    configuration: Any = read_config(path)
    algorithm = configuration.subject.algorithm
    return usefulness_of(
        json.loads(configuration.evidence.study.read_text(encoding="utf-8")),
        config=config_digest(algorithm, tomllib.loads(configuration.text)["problem"]),
        claim=configuration.subject.claim,
        unit=algorithm.claim().unit,
        horizon=getattr(algorithm, "horizon", None) or algorithm.episodes,
        refuted=path.stem == "lplr_paper",
    )


@pytest.mark.parametrize("path", _coded(), ids=lambda path: path.stem)
def test_an_example_says_what_it_is_worth(path: Path) -> None:
    """Its regret in numbers, or that none is better than without data; a refuted claim has no usefulness."""
    useful = _useful(path)
    if path.stem == "lplr_paper":
        assert useful.why == "the claim is refuted, and what it buys is not assessed"
        return
    assert useful.assessed, useful.why
    assert useful.sentences[0].startswith((SHOWN, VACUOUS))
    assert useful.front is not None
    assert any("(this setting)" in cell for row in useful.rows for cell in row)


def test_the_examples_show_all_three_wordings() -> None:
    """Some learn, some do not at their horizon, and some are dominated."""
    held = [_useful(path) for path in _coded()]
    assert any(useful.sentences and useful.sentences[0].startswith(SHOWN) for useful in held)
    assert any(VACUOUS in useful.sentences for useful in held)
    assert any("dominated" in [remark for remark, _ in useful.remarks] for useful in held)


def test_a_study_of_another_configuration_says_nothing(tmp_path: Path) -> None:
    """The twin: the same example at another width names the same study, which speaks of another configuration."""
    text = (EXAMPLES / "dueling_batched.toml").read_text(encoding="utf-8").replace("../docs", f"{ROOT}/docs")
    file = tmp_path / "other.toml"
    file.write_text(
        text.replace('calibration = "tight"', 'calibration = "tight"\nwidth_factor = 0.5'), encoding="utf-8"
    )
    assert _useful(file).why == OTHER


@pytest.mark.parametrize("label", ["LPLR", "sufficient statistics"])
def test_five_units_of_a_pure_guarantee_cost_five_epsilon_also_where_no_engine_covers_their_group(label: str) -> None:
    """LPLR releases noise of several kinds side by side; the bound for a person is 5 epsilon, not below."""
    path = EXAMPLES / "studies" / "lplr_insurance.toml"
    study = read_study(path)
    for cell in cells_of(study):
        if cell.label == label:
            held = certified_at(study, cell, path.parent, certify)
            assert held.units == 5
            assert 5 * held.epsilon <= held.person <= 5 * held.epsilon * (1 + 1e-12)
