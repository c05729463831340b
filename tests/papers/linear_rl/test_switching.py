"""When LSVI-UCB changes its policy by noisy matrices: noise alone does not, growth does; the unproved says so."""

import math
from typing import Any

import numpy as np
import pytest

from algorithms import LsviUcb
from algorithms.lsvi_ucb.notes import UNPROVED
from algorithms.lsvi_ucb.plan import most_switches
from algorithms.lsvi_ucb.switching import determinant_grown, regularised, spectrum_grown
from algorithms.problems import load
from dpaudit import Streams
from dpaudit.model.mechanism import Array

_SWITCHING: dict[str, Any] = {
    "epsilon": 100.0,
    "delta": 1e-5,
    "episodes": 1_000,
    "steps": 4,
    "dimension": 4,
    "schedule": "switching",
    "switches": 300,
    "bonus_scale": 0.001,
}
_OLD = _SWITCHING | {"threshold": math.log(2), "shift_scale": 0.04, "regret_unproved": True}


def _blind(config: LsviUcb) -> Array:
    """Return how often policies change where no transition enters the statistics."""
    run = config.run_blind(load("delayed_low_rank")(seed=1), Streams.spawn(np.random.default_rng(1)), 4)
    return run.arrays["switches"]


@pytest.mark.parametrize("rule", ["determinant", "spectral"])
def test_noise_alone_changes_no_policy_under_a_rule_with_a_proof(rule: str) -> None:
    """No data: at most two switches, where the doubled determinant at a small shift spends dozens."""
    assert _blind(LsviUcb(**_SWITCHING, switching_rule=rule)).max() <= 2
    assert _blind(LsviUcb(**_OLD)).min() > 20


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"threshold": 2.0}, r"threshold=2.0 above 2 for switching_rule='determinant'"),
        ({"threshold": 3.0, "switching_rule": "spectral"}, r"threshold=3.0 above 3 for switching_rule='spectral'"),
        ({"shift_scale": 0.5}, r"shift_scale=0.5 at 1 or more"),
    ],
)
def test_a_rule_without_a_proof_is_refused_unless_it_is_marked(changed: dict[str, Any], message: str) -> None:
    """The message names the value, the rule and the remedy; marked, the same runs and its note says what it is."""
    with pytest.raises(ValueError, match=message):
        LsviUcb(**_SWITCHING | changed)


def test_what_is_unproved_says_so_and_what_is_proved_says_how_often_it_switches() -> None:
    """The note of the report, and the constant."""
    problem = load("delayed_low_rank")(seed=1)
    assert UNPROVED in LsviUcb(**_OLD).notes(problem)
    proved = LsviUcb(**_SWITCHING)
    assert UNPROVED not in proved.notes(problem)
    assert most_switches(LsviUcb(**_OLD)) == math.inf
    named = {line.name: line.value for line in proved.constants().constants}
    assert named["switches by proof, at most"] == most_switches(proved) < 60
    assert "switches by proof, at most" not in {
        line.name for line in LsviUcb(**_SWITCHING | {"schedule": "static"}).constants().constants
    }
    capped = LsviUcb(**_SWITCHING | {"switches": 5}).notes(problem)
    assert any("at most 5 of the" in note for note in capped)


@pytest.mark.parametrize("rule", ["determinant", "spectral"])
def test_a_policy_changes_as_data_grow_and_less_often_than_proved(rule: str) -> None:
    """At epsilon 1000 the matrices outgrow the noise: some switches, within the bound; looks are as many as asked."""
    config = LsviUcb(**_SWITCHING | {"epsilon": 1000.0, "episodes": 20_000}, switching_rule=rule, looks=50)
    run = config.run(load("delayed_low_rank")(seed=1), Streams.spawn(np.random.default_rng(1)), 4)
    assert run.arrays["regret"].shape == (4, 50)
    assert run.arrays["switches"].min() >= 1
    assert run.arrays["switches"].max() <= most_switches(config)


def _sandwiched(rng: np.random.Generator, exact: Array, low: float, high: float) -> Array:
    """Return a symmetric matrix between low and high times `exact`, drawn at the extremes of a random frame."""
    root = np.linalg.cholesky(exact)
    frame, _ = np.linalg.qr(rng.standard_normal(exact.shape))
    return root @ (frame * rng.choice([low, high], len(exact))) @ frame.T @ root.T


def test_a_doubled_determinant_lets_single_forms_grow_by_a_power_of_the_noise_and_the_spectral_rule_does_not() -> None:
    """r = 1/2: ratio of forms 2 c^(d-1), attained by diagonal matrices (6, 18, 162); spectral: at most c alpha."""
    c, alpha, rng = 3.0, 4.0, np.random.default_rng(0)
    for d, worst in ((2, 6.0), (3, 18.0), (5, 162.0)):
        still = [2 / 3] * (d - 1)  # directions in which nothing was learned
        exact_old, exact_new = np.diag([1.0, *still]), np.diag([worst, *still])
        noisy_old, noisy_new = np.eye(d), np.diag([worst, *[1 / c] * (d - 1)])
        for exact, noisy in ((exact_old, noisy_old), (exact_new, noisy_new)):
            assert (np.abs(np.diag(noisy) / np.diag(exact) - 1) <= 0.5 + 1e-12).all()
        assert determinant_grown(noisy_old, noisy_new) == pytest.approx(math.log(2))
        assert spectrum_grown(exact_old, exact_new) == pytest.approx(worst) == 2 * c ** (d - 1)
        assert spectrum_grown(noisy_old, noisy_new) > alpha
    for _ in range(200):
        d = int(rng.integers(2, 6))
        old = np.cov(rng.standard_normal((d, 3 * d))) + np.eye(d)
        new = old + np.outer(step := rng.standard_normal(d) * rng.uniform(0, 3), step)
        seen = spectrum_grown(_sandwiched(rng, old, 0.5, 1.5), _sandwiched(rng, new, 0.5, 1.5))
        exact = spectrum_grown(old, new)
        assert seen / c <= exact * (1 + 1e-9)  # so a crossed alpha above c means real growth
        assert exact <= c * seen * (1 + 1e-9)  # and below alpha no form has grown by more than c alpha


def test_the_noise_moves_the_log_determinant_by_two_at_most_at_the_shift_of_the_appendix() -> None:
    """Shift c + U, c = d U, noise of norm U on either matrix; at a tenth of the shift it moves it by far more."""
    rng = np.random.default_rng(1)
    for d in (2, 4, 8):
        moved = {1.0: [0.0], 0.1: [0.0]}
        for scale, found in moved.items():
            for _ in range(200):
                base = rng.standard_normal((d, 2))
                gram, noise = base @ base.T, rng.standard_normal((d, d))
                noise = (noise + noise.T) / np.abs(np.linalg.eigvalsh(noise + noise.T)).max()
                noisy = regularised(gram + noise, 1e-3, scale * (d + 1))
                found.append(abs(float(determinant_grown(regularised(gram, 1e-3, scale * d), noisy))))
        assert max(moved[1.0]) <= 2 < 2 * max(moved[0.1])
