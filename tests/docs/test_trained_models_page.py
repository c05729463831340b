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


def test_canaries_on_a_transformer_show_what_the_page_says() -> None:
    """One run of full batches: a bound of at least 1 at a certified 4, and a quarter of the noise is flagged."""
    pytest.importorskip("torch")
    measured = runpy.run_path(str(ROOT / "benchmarks" / "transformer_canaries.py"))["measured"]
    loss, bound, _, flagged = measured("16 full batches", 1.0, 0)
    assert loss < 1.2  # the logarithm of 16 words is 2.8: the model learns
    assert 1 <= bound <= 4
    assert not any(flagged.values())
    assert all(measured("16 full batches", 0.25, 0)[-1].values())
