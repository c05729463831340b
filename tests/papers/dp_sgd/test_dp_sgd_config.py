"""The config of DP-SGD: what it declares for each way to sample, and how it refuses what it cannot do."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from algorithms.dp_sgd import DpSgd, epsilon_of_history
from dpaudit import Parallel, Repeat, bracket_epsilon, certify, fold
from dpaudit.cli.app import app
from dpaudit.model.claim import Neighbours

GIVEN: dict[str, Any] = {"epsilon": 0.75, "delta": 1e-5, "noise_multiplier": 4.0, "sample_rate": 0.1, "steps": 40}
EXAMPLE = Path(__file__).parents[3] / "examples" / "dp_sgd_affairs.toml"


def test_poisson_sampling_declares_its_steps() -> None:
    """The history's own declaration, which the engines fold."""
    form = fold(DpSgd(**GIVEN).declaration(), "add_remove")
    assert bracket_epsilon(form, 1e-5).upper == pytest.approx(0.6099, abs=1e-3)


def test_replacement_is_a_pair_of_mixtures() -> None:
    """It costs more than removal, and both sides are proved; the algorithm's own accounting agrees."""
    config = DpSgd(**GIVEN | {"epsilon": 1.3, "neighbours": "replace_one"})
    found = bracket_epsilon(fold(config.declaration(), "replace_one", config.conditions()), 1e-5)
    assert found.upper == pytest.approx(1.1994, abs=1e-3)
    assert found.lower > found.upper * (1 - 1e-4)


@pytest.mark.parametrize(
    ("changed", "neighbours"),
    [
        ({"sampling": "allocation"}, "add_remove"),
        ({"sampling": "without_replacement"}, "replace_one"),
        ({"sampling": "truncated_poisson", "population": 100, "batch_bound": 12}, "add_remove"),
        ({"records_per_user": 3}, "add_remove"),
    ],
)
def test_every_way_to_sample_is_declared_by_its_node(changed: dict[str, Any], neighbours: Neighbours) -> None:
    """Both sides are finite and ordered; they differ from what Poisson accounting says."""
    config = DpSgd(**GIVEN | {"neighbours": neighbours} | changed)
    found = bracket_epsilon(fold(config.declaration(), neighbours, config.conditions()), 1e-5)
    assert 0 < found.lower <= found.upper < 5
    assert abs(found.upper - 0.6099) > 1e-3


def test_several_records_of_a_user_are_refused_where_nothing_is_proved() -> None:
    """Shuffled batches hold no binomial number of them."""
    with pytest.raises(ValueError, match="records_per_user"):
        DpSgd(**GIVEN | {"neighbours": "replace_one", "sampling": "shuffled", "records_per_user": 2})


def test_shuffled_batches_are_not_amplified() -> None:
    """Four epochs of parallel batches: mu = 2 sqrt(4) / 4 = 1, whose epsilon at 1e-5 is 4.378."""
    declared = DpSgd(**GIVEN | {"neighbours": "replace_one", "sampling": "shuffled"}).declaration()
    assert isinstance(declared, Repeat)
    assert isinstance(declared.part, Parallel)
    assert bracket_epsilon(fold(declared, "replace_one"), 1e-5).upper == pytest.approx(4.378, abs=2e-3)


@pytest.mark.parametrize(
    "changed", [{}, {"neighbours": "replace_one"}, {"neighbours": "replace_one", "sampling": "shuffled"}]
)
def test_tight_noise_meets_the_claim_and_less_does_not(changed: dict[str, Any]) -> None:
    """Calibrated noise is certified, and a hundredth less noise misses the claim."""
    config = DpSgd(**GIVEN | {"noise_multiplier": None, "calibration": "tight", "epsilon": 1.0} | changed)
    ((noise, rate, steps),) = config.record().history
    if changed.get("sampling") == "shuffled":
        assert certify(config.declaration(), config.claim()).verdict == "certified"
        return
    assert epsilon_of_history(((noise, rate, steps),), 1e-5, config.neighbours) <= 1.0
    assert epsilon_of_history(((0.99 * noise, rate, steps),), 1e-5, config.neighbours) > 1.0


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"noise_multiplier": None}, "noise_multiplier to be given"),
        ({"calibration": "tight"}, "to be left out"),
        ({"sampling": "shuffled"}, "replace_one"),
        ({"checkpoint": Path("x.json")}, "stand alone"),
    ],
)
def test_a_config_that_contradicts_itself_is_refused(changed: dict[str, str | float | Path | None], words: str) -> None:
    """With the field's name."""
    with pytest.raises(ValueError, match=words):
        DpSgd(**GIVEN | changed)


def test_a_rate_that_opacus_cannot_draw_names_the_nearest_one() -> None:
    """Opacus samples with 1 / number of batches."""
    with pytest.raises(Exception, match=r"Try 0\.333"):
        DpSgd(**GIVEN | {"sample_rate": 0.3}).plan()


def test_without_the_extra_the_command_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence and exit code 2, no traceback; and the algorithm is listed all the same."""
    monkeypatch.setattr("algorithms.dp_sgd.extra.find_spec", lambda name: None)
    ended = CliRunner().invoke(app, ["certify", str(EXAMPLE)])
    assert ended.exit_code == 2
    assert "extra 'opacus'" in ended.stderr
    assert "pip install" in ended.stderr
    assert "dp_sgd" in CliRunner().invoke(app, ["list", "algorithms"]).stdout


def test_a_checkpoint_is_certified_without_the_extra(tmp_path: Path) -> None:
    """A JSON history needs no torch: tuning that is admitted stands against the certificate by its rule."""
    (tmp_path / "state.json").write_text(json.dumps({"history": [[4.0, 0.1, 10]], "mechanism": "prv"}))
    config = tmp_path / "run.toml"
    config.write_text(
        '[algorithm]\nname = "dp_sgd"\nepsilon = 8\ndelta = 1e-5\ncheckpoint = "state.json"\ntuning_runs = 3\n'
    )
    ended = CliRunner().invoke(app, ["certify", str(config), "--format", "json"])
    assert ended.exit_code == 1
    assert [finding["rule"] for finding in json.loads(ended.stdout)["findings"]] == ["DPA319"]
