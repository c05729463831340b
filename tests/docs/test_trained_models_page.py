"""The page on trained models: its table is the file beside it, the file is what the script computes."""

import runpy
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
STUDY: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "trained_models.py"))
ROWS = STUDY["read"](ROOT / "docs" / "measured" / "trained_models.csv")
PAGE = (ROOT / "docs" / "measured" / "trained_models.md").read_text(encoding="utf-8")


def test_the_table_is_the_file_and_no_bound_exceeds_its_certificate() -> None:
    """24 rows: six attacks at four claims."""
    assert STUDY["table"](ROWS) in PAGE
    assert len(ROWS) == 24
    assert all(row.epsilon_lower <= row.epsilon <= float(row.claimed) for row in ROWS if row.claimed != "no noise")
    assert max(row.epsilon_lower for row in ROWS if row.claimed == "no noise") > 4


def test_the_script_computes_the_file_again() -> None:
    """The rows of epsilon 4, with the same seeds, to 1 %; a whole guess more or less is allowed in the bounds."""
    kept = [row for row in ROWS if row.claimed == "4"]
    streams = np.random.default_rng(STUDY["SEED"]).spawn(4)
    again = list(STUDY["rows"](STUDY["respondents"](), STUDY["declared"](4.0), streams[1]))
    assert [row.attack for row in again] == [row.attack for row in kept]
    for one, other in zip(again, kept, strict=True):
        for field in fields(one)[1:]:
            if field.name == "attack":
                continue
            slack = 0.1 if field.name in ("epsilon_lower", "gaussian_lower") else 0.01
            value = pytest.approx(getattr(other, field.name), abs=slack, rel=0.01, nan_ok=True)
            assert getattr(one, field.name) == value, field.name


def test_a_quarter_of_the_noise_is_accused_and_the_declared_noise_is_not() -> None:
    """Two runs each; the page says ten of ten and none of ten."""
    data = STUDY["respondents"]()
    assert STUDY["accusations"](data, 0.25, 2, np.random.default_rng(1))["whole run"] == 2
    assert STUDY["accusations"](data, 1.0, 2, np.random.default_rng(1))["audit"] == 0
    assert "10 of 10" in PAGE


@pytest.mark.slow
def test_the_transformer_shows_what_the_page_says() -> None:
    """One run of each noise; the page says ten of ten and none of ten."""
    pytest.importorskip("torch")
    study = runpy.run_path(str(ROOT / "examples" / "small_transformer.py"))
    training = study["declared"](study["training_noise"](4.0, 1e-5, study["RATE"], study["STEPS"]))
    audits = {
        factor: study["attacked"](training, study["train"](training, factor, 0), np.random.default_rng(0))[0]
        for factor in (0.25, 1.0)
    }
    shown = {check.name: check.epsilon_lower for check in audits[1.0].checks}
    assert f"| {np.floor(100 * shown['whole run']) / 100:g} |" in PAGE
    assert f"| {np.floor(100 * shown['canaries apart']) / 100:g} |" in PAGE
    assert [audit.verdict == "violation" for audit in audits.values()] == [True, False]
