"""What dueling learns: the champion and the trees find the best option, and privacy costs what theorems say."""

import csv
import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from algorithms.dp_ebs import DpEbs
from algorithms.dp_ebs.widths.stages import champion_labels, failure_of, half_width, stages_of
from algorithms.g_optimal_dueling import GOptimalDueling
from algorithms.problems import load
from algorithms.problems.duels import Duels
from dpaudit import Streams
from dpaudit.model.mechanism import Array
from dpaudit.study.making import make_problem
from dpaudit.study.measuring import total_regret
from dpaudit.study.study_file import read_study

NO_NOISE = 1e6


def regret(config: DpEbs, problem: Duels, runs: int, seed: int = 0) -> tuple[Any, Any]:
    transcript = config.run(problem, Streams.spawn(np.random.default_rng(seed)), runs)
    found = (transcript.arrays["recommended"] == problem.best).mean()
    return transcript.arrays["utility_regret"].mean(), found


def tree(epsilon: float, horizon: int, arms: int = 5, **settings: Any) -> DpEbs:
    return DpEbs(epsilon=epsilon, horizon=horizon, arms=arms, width="tight", **settings)


def slope(x: Array, y: list[Any]) -> Any:
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def test_the_best_option_is_found_whenever_the_others_are_removed() -> None:
    """eps = 4 and T = 1e5: all runs end with the best option, at failure probability 1/T."""
    assert regret(tree(4, 100_000), load("bradley_terry")(), 6)[1] == 1.0


def test_extra_regret_of_the_trees_falls_like_one_over_epsilon() -> None:
    """T4 for Algorithm 1 with the usable width: slope -1 +- 0.2 over eps 2, 4, 8 at T = 4e5."""
    problem = load("bradley_terry")(arms=3)
    epsilons = np.array([2.0, 4.0, 8.0])
    base = regret(tree(NO_NOISE, 400_000, arms=3), problem, 8)[0]
    found = [regret(tree(e, 400_000, arms=3), problem, 4)[0] - base for e in epsilons]
    assert slope(epsilons, found) == pytest.approx(-1, abs=0.2)


def test_privacy_is_almost_free_in_two_dimensions() -> None:
    """T7: R(1) / R(infinity) <= 1.3 for d = 2, K = 20, T = 1e5, over 24 problems; the best option is never dropped."""
    totals = np.zeros(2)
    for seed in range(24):
        problem = load("sphere")(arms=20, dimension=2, seed=seed)
        for place, epsilon in enumerate((1.0, NO_NOISE)):
            config = GOptimalDueling(epsilon=epsilon, horizon=100_000, arms=20, dimension=2)
            transcript = config.run(problem, Streams.spawn(np.random.default_rng(seed)), 4)
            totals[place] += transcript.arrays["utility_regret"].mean()
            assert transcript.arrays["survivors"][:, -1, problem.best].all()
    assert totals[0] / totals[1] <= 1.3


def test_every_option_is_played_as_often_as_privacy_demands() -> None:
    """T8: any private algorithm plays each option 0.0259 / eps times or more on average; these do, many times over."""
    for config in (tree(0.1, 2_000), DpEbs(epsilon=0.1, horizon=2_000, arms=5, variant="batched")):
        plays = config.run(load("bradley_terry")(), Streams.spawn(np.random.default_rng(0)), 5).arrays["plays"]
        assert plays.sum(axis=2).mean(axis=0).min() >= (3 / (4 * math.e) - 0.25) / 0.1


def test_the_local_variant_learns_at_a_price() -> None:
    """At eps = 2 local privacy costs regret above that without noise, and ends with the best option."""
    problem = load("bradley_terry")()
    local, found = regret(DpEbs(epsilon=2, horizon=100_000, arms=5, model="local", width="tight"), problem, 6)
    assert found == 1.0
    assert local > regret(tree(NO_NOISE, 100_000), problem, 6)[0]


CONFIG = DpEbs(epsilon=0.1, horizon=100_000, arms=5, variant="champion")


def _lost(config: DpEbs, *, blind: bool = False, n_runs: int = 20) -> Array:
    """Return what each run lost on each instance of the lower bound, in preference. Shape: (arms, n_runs)."""
    lost: list[Array] = []
    for seed in range(config.arms):
        problem = load("hardest_duels")(arms=config.arms, seed=seed)
        play = config.run_blind if blind else config.run
        lost.append(play(problem, Streams.spawn(np.random.default_rng(seed)), n_runs).arrays["preference_regret"])
    return np.array(lost)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_a_champion_loses_less_than_half_of_what_batches_lose_on_the_worst_instance(epsilon: float) -> None:
    """Five instances, T = 1e5, at equal certified epsilon; four standard errors apart."""
    ours, batched = (_lost(replace(CONFIG, epsilon=epsilon, variant=variant)) for variant in ("champion", "batched"))
    worst, other = ours.mean(axis=1).argmax(), batched.mean(axis=1).argmax()
    error = ours[worst].std(ddof=1) / math.sqrt(ours.shape[1])
    assert ours[worst].mean() + 4 * error < 0.5 * batched[other].mean()


@pytest.mark.parametrize("study", ["dp_ebs", "dp_ebs_modechoice", "travel_shares"])
def test_on_every_shipped_problem_a_champion_loses_less_than_any_other_variant(study: str) -> None:
    """Every private row of DP-EBS in shipped tables, at the longest horizon and the same claim: four errors apart."""
    root = Path(__file__).resolve().parents[3]
    plan = read_study(root / "examples" / "studies" / f"{study}.toml")
    text = (root / "docs" / "measured" / "studies" / study / "rows.csv").read_text(encoding="utf-8")
    horizon = max(plan.settings.horizons)
    rows = [
        row
        for row in csv.DictReader(io.StringIO(text))
        if (row["algorithm"], row["role"], int(row["T"]), row["remark"]) == ("dp_ebs", "private", horizon, "")
    ]
    assert rows
    problem = make_problem(plan, horizon, plan.settings.problems[0], root)
    for claim in {float(row["claim_epsilon"]) for row in rows}:
        config = DpEbs(epsilon=claim, horizon=horizon, arms=problem.arms, variant="champion")
        lost = total_regret(config.run(problem, Streams.spawn(np.random.default_rng(9)), 20), cumulative=False)
        for row in rows:
            if float(row["claim_epsilon"]) == claim:
                error = math.hypot(float(row["se"]), lost.std(ddof=1) / math.sqrt(20))
                assert lost.mean() + 4 * error < float(row["regret"]), row["contender"]


def test_a_champion_without_answers_loses_what_uniform_play_loses() -> None:
    """Coins in place of answers: within four standard errors of 4/5 of T / 2, or no better."""
    blind = _lost(CONFIG, blind=True)
    assert blind.mean() + 4 * blind.mean(axis=1).std(ddof=1) / math.sqrt(5) > 40_000
    assert _lost(CONFIG).mean() < 0.1 * blind.mean()


def test_the_best_option_is_never_removed_where_failures_are_rare() -> None:
    """100 runs on instance 3 at failure probability 1e-9: it stays in all and is recommended, the others go."""
    config = replace(CONFIG, epsilon=1.0, fail_prob=1e-9)
    run = config.run(load("hardest_duels")(seed=3), Streams.spawn(np.random.default_rng(5)), 100)
    gone = run.arrays["eliminated_at"]
    assert (gone[:, 3] == config.horizon + 1).all()
    assert (run.arrays["recommended"] == 3).all()
    assert (np.delete(gone, 3, axis=1) <= config.horizon).all()


@pytest.mark.parametrize(("answers", "draws", "epsilon"), [(200, 1, 0.1), (900, 4, 0.1), (500, 3, 2.0)])
def test_the_half_width_covers_answers_and_noise_together(answers: int, draws: int, epsilon: float) -> None:
    """100,000 sums of coins and Laplace draws exceed it no more often than e^-3; a third of it fails."""
    rng = np.random.default_rng(0)
    sums = rng.binomial(answers, 0.5, 100_000) - answers / 2 + rng.laplace(0, 1 / epsilon, (draws, 100_000)).sum(axis=0)
    width = half_width(answers, draws, epsilon, 3.0) * answers
    most = math.exp(-3) + 6 * math.sqrt(math.exp(-3) / 100_000)
    assert (sums > width).mean() <= most < (sums > width / 3).mean()


def test_a_failure_costs_arms_over_epsilon_at_most_unless_it_is_given() -> None:
    """Between 1 / horizon and 1/20; and the stages have the labels of the declaration."""
    assert failure_of(CONFIG) * CONFIG.horizon == pytest.approx(5 / 0.1)
    assert failure_of(replace(CONFIG, epsilon=1e9)) == 1 / CONFIG.horizon
    assert failure_of(replace(CONFIG, epsilon=1e-5)) == 0.05
    assert failure_of(replace(CONFIG, fail_prob=0.3)) == 0.3
    assert len(champion_labels(CONFIG)) == 5 * len(stages_of(CONFIG))
    totals = [stage.total for stage in stages_of(CONFIG)]
    assert totals == np.cumsum([stage.plays for stage in stages_of(CONFIG)]).tolist()
