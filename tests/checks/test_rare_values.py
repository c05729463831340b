"""Values that few runs show, and those of one neighbour only, are counted beside the main event."""

from typing import Any

import numpy as np
import pytest

import audits
from audits.attacks.rare_values import learn_rare_values
from audits.experiment.execution import Observed
from audits.procedures.beside import rare_share
from dpaudit import AuditResult, Claim

CLAIM = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
SHARE, SELDOM = 0.006, 0.003


def hinting(data: float, rng: np.random.Generator, n_runs: int) -> Any:
    """Laplace noise, and in six runs of a thousand on the second data set a word that the first never shows."""
    hint = (rng.random(n_runs) < SHARE) & (data > 0.5)
    return {"sum": data + rng.laplace(0.0, 1.5, n_runs), "hint": hint.astype(float)}


def open_sometimes(data: float, rng: np.random.Generator, n_runs: int) -> Any:
    """Laplace noise, and in six runs of a thousand the answer itself."""
    return np.where(rng.random(n_runs) < SHARE, data, data + rng.laplace(0.0, 1.5, n_runs))


def rounded(data: float, rng: np.random.Generator, n_runs: int) -> Any:
    """Laplace noise of exactly the claim, with two digits: many values come three times, some by chance on one side."""
    return np.round(data + rng.laplace(0.0, 1.0, n_runs), 2)


def audited(function: Any, seed: int, runs: int = 20_000) -> AuditResult:
    """An audit without controls."""
    return audits.audit(
        function,
        neighbours=(0.0, 1.0),
        claim=CLAIM,
        runs=runs,
        rng=np.random.default_rng(seed),
        how=audits.Settings(control_runs=0),
    )


@pytest.mark.parametrize("function", [hinting, open_sometimes])
def test_a_hint_in_six_runs_of_a_thousand_is_found(function: Any) -> None:
    """Measured .97 of seeds at five in a thousand; without rare values .4 and .05."""
    found = [audited(function, seed) for seed in range(8)]
    assert sum(result.verdict == "violation" for result in found) >= 6
    assert any(result.attack == "rare values" for result in found)


def test_values_of_three_runs_in_a_thousand_are_found_in_most_audits() -> None:
    """Measured in 20 of 20 seeds; with a tenth of the significance and values of three teaching runs in 14 of 20."""

    def seldom(data: float, rng: np.random.Generator, n_runs: int) -> Any:
        return np.where(rng.random(n_runs) < SELDOM, data, data + rng.laplace(0.0, 1.0, n_runs))

    assert sum(audited(seldom, seed).verdict == "violation" for seed in range(100, 112)) >= 10


def test_a_violation_by_rare_values_says_at_which_level_it_holds() -> None:
    """The bound has nine tenths of the significance, as the main event promises less than the claim."""
    result = next(r for seed in range(20) if (r := audited(open_sometimes, seed)).attack == "rare values")
    assert result.bounds[0].significance == pytest.approx(
        rare_share(0.9, CLAIM.epsilon) * result.significance, rel=1e-5
    )
    assert result.counts.correct == result.counts.guesses > 20
    assert result.epsilon_lower == result.bounds[0].epsilon > CLAIM.epsilon


def test_a_violation_by_rare_values_has_no_witness_of_the_main_event() -> None:
    """A witness counts the main event again, which did not show it: the bound has a name of its own."""
    seed, result = next(
        (seed, found) for seed in range(20) if (found := audited(open_sometimes, seed)).attack == "rare values"
    )
    assert (result.bound, result.bounds[0].name) == ("rare_values", "rare_values")
    assert any("no witness" in remark for remark in result.remarks)
    case = audits.function_case(open_sometimes, neighbours=(0.0, 1.0), claim=CLAIM, arithmetic="exact")
    with pytest.raises(ValueError, match="nothing to hand on"):
        audits.refute(case, result, np.random.default_rng(seed))


@pytest.mark.parametrize(("number", "most"), [(20, 5), pytest.param(60, 7, marks=pytest.mark.slow)])
def test_honest_code_at_its_claim_is_not_accused(number: int, most: int) -> None:
    """The chance that 6 of 20 honest audits are accused at level .01 is 4e-8, of 8 of 60 2e-7. The seeds are fixed."""
    verdicts = [audited(rounded, seed, runs=4_000).verdict for seed in range(number)]
    assert verdicts.count("violation") <= most


def test_rare_values_are_those_of_one_neighbour_alone() -> None:
    """A value of both, one seen once and one in many runs are none; a run with values of both sides scores 0."""
    labels = np.arange(1_000) % 2 == 0
    first, second = (np.zeros(1_000) for _ in range(2))
    first[1:9:2], first[10:14] = 5.0, 6.0
    second[[0, 2, 4, 6]], second[[8]], second[100:400] = 7.0, 8.0, 9.0
    rare = learn_rare_values(Observed(labels=labels, kept={"first": first, "second": second}))
    assert rare is not None
    shown = {"first": np.array([0.0, 5.0, 6.0, 0.0, 5.0]), "second": np.array([9.0, 0.0, 8.0, 7.0, 7.0])}
    assert rare(shown).tolist() == [0.0, -1.0, 0.0, 1.0, 0.0]


def test_continuous_outputs_have_no_rare_values() -> None:
    """Nothing repeats, so nothing is set aside."""
    rng = np.random.default_rng(0)
    labels = rng.random(3_000) < 0.5
    assert learn_rare_values(Observed(labels=labels, kept=rng.normal(size=3_000))) is None
