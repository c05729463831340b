"""Closed horizons of the papers' constants, and the command that prints them."""

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from algorithms import DpEbs, GOptimalDueling, Lplr, LsviUcb, UcrlVtr
from algorithms.capri import Capri
from algorithms.capri.constants import margin
from dpaudit.cli.app import app
from dpaudit.model.constants import log10_horizon

_NEAR = 1e-3
"""The horizons were solved by another program to three digits."""


@pytest.mark.parametrize(("epsilon", "solved"), [(0.1, 8.313), (0.5, 7.452), (1, 7.076), (4, 6.311)])
def test_the_printed_width_of_dp_ebs_speaks_from_these_horizons(epsilon: float, solved: float) -> None:
    """2 [sqrt(u / n) + 16 u ln(T)^2.5 / (epsilon n)] < 0.5 from these powers of ten on, for five options."""
    (line,) = DpEbs(epsilon=epsilon, horizon=10**5, arms=5).constants().horizons
    assert line.log10 == pytest.approx(solved, abs=_NEAR)


@pytest.mark.parametrize(("dimension", "arms", "solved"), [(2, 20, 10.281), (5, 30, 10.832)])
def test_the_first_printed_phase_ends_from_these_horizons(dimension: int, arms: int, solved: float) -> None:
    """t_0 + N_1 <= T from these powers of ten on."""
    (line,) = GOptimalDueling(epsilon=1, horizon=10**5, arms=arms, dimension=dimension).constants().horizons
    assert line.log10 == pytest.approx(solved, abs=_NEAR)


@pytest.mark.parametrize(("dimension", "solved"), [(2, (13.037, 15.831)), (5, (15.381, 18.782))])
def test_the_printed_threshold_and_width_of_lplr_speak_from_these_horizons(
    dimension: int, solved: tuple[float, float]
) -> None:
    """43 l gamma^2 (d + 1)^3 / sqrt(n) and 300 l gamma^2 (d + 1)^4 / sqrt(n) are below 0.5 from there on."""
    lines = Lplr(epsilon=1, horizon=10**8, dimension=dimension, actions=2).constants().horizons
    assert [line.log10 for line in lines] == pytest.approx(solved, abs=_NEAR)


@pytest.mark.parametrize(
    ("steps", "dimension", "epsilon", "joint", "local", "quiet"),
    [(2, 2, 1, 12.182, 17.795, 4.857), (4, 3, 1, 13.258, 20.210, 5.925), (20, 10, 0.1, 16.910, 28.089, 8.603)],
)
def test_the_bound_of_ucrl_vtr_speaks_from_horizons_beyond_whole_numbers_of_64_bits(
    steps: int, dimension: int, epsilon: float, joint: float, local: float, quiet: float
) -> None:
    """Theorem 7 is below K H from these powers of ten on: for trees, for messages, and without noise."""
    for model, solved in (("joint", joint), ("local", local)):
        config = UcrlVtr(model=model, epsilon=epsilon, delta=1e-5, episodes=1000, steps=steps, dimension=dimension)
        lines = config.constants().horizons
        assert [line.log10 for line in lines] == pytest.approx([solved, quiet], abs=_NEAR)
    assert local > math.log10(2**63) or epsilon == 1


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_estimation_and_not_privacy_decides_when_the_printed_width_of_capri_speaks(epsilon: float) -> None:
    """For 30 cells four printed half widths are below 2 from 10^9.64 and below 0.1 from 10^12.39, at any epsilon."""
    config = Capri(model="joint", epsilon=epsilon, delta=1e-5, horizon=10**6)
    found = [log10_horizon(lambda horizon, gap=gap: margin(config, 30, horizon) < gap) for gap in (2.0, 0.1)]  # type: ignore[misc]
    assert found == pytest.approx([9.64, 12.39], abs=0.012)


def test_the_schedule_of_lsvi_ucb_has_a_second_batch_from_k_epsilon_above_the_root_of_its_dimensions() -> None:
    """(K epsilon)^(2/5) > d^(3/5) H^(1/5), so K > d^1.5 sqrt(H) / epsilon: 16 episodes at d = 4, H = 4."""
    line = LsviUcb(epsilon=1, delta=1e-5, episodes=1000, steps=4, dimension=4).constants().horizons[0]
    assert 16 <= 10**line.log10 <= 17


def test_what_never_speaks_has_no_horizon_and_what_speaks_now_and_then_counts_from_its_last_silence() -> None:
    """The search goes down from 10^80: infinity where it fails there, else the last horizon at which it fails."""
    assert log10_horizon(lambda horizon: False) == math.inf
    assert log10_horizon(lambda horizon: True) == 0.5
    assert log10_horizon(lambda horizon: horizon < 10 or horizon > 1e6) == pytest.approx(6, abs=1e-5)


def test_the_command_prints_constants_as_text_and_json(tmp_path: Path) -> None:
    """Text names each horizon as a power of ten; JSON has the numbers; a declaration without code is refused."""
    file = tmp_path / "a.toml"
    file.write_text('[algorithm]\nname = "dp_ebs"\nepsilon = 1.0\nhorizon = 1000\narms = 5\n', encoding="utf-8")
    text = CliRunner().invoke(app, ["explain", "--constants", str(file)])
    assert text.exit_code == 0
    assert "10^7.076" in text.output
    data = json.loads(CliRunner().invoke(app, ["explain", "--constants", str(file), "--format", "json"]).output)
    assert data["horizons"][0]["log10"] == pytest.approx(7.0757, abs=1e-4)
    assert data["lower_bound"] is None  # no problem, so nothing is known
    with_problem = file.read_text(encoding="utf-8") + '[problem]\nname = "hardest_duels"\n'
    file.write_text(with_problem.replace("horizon = 1000", 'horizon = 100000\nmodel = "local"'), encoding="utf-8")
    bound = json.loads(CliRunner().invoke(app, ["explain", str(file), "--constants", "--format", "json"]).output)[
        "lower_bound"
    ]
    assert (bound["instances"], bound["is_member"]) == (5, True)
    assert bound["value"] == pytest.approx(42.538, rel=1e-3)
    file.write_text('[algorithm]\nname = "pucb"\nepsilon = 1.0\nepisodes = 10\nsteps = 2\n', encoding="utf-8")
    assert CliRunner().invoke(app, ["explain", "--constants", str(file)]).exit_code == 2
