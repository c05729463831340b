"""The champion variant of DP-EBS: private at its claim, keeps the best option, and loses less than batches do."""

import csv
import io
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from algorithms.dp_ebs import DpEbs
from algorithms.dp_ebs.widths.stages import champion_labels, failure_of, half_width, stages_of
from algorithms.problems import load
from dpaudit import Streams
from dpaudit.model.mechanism import Array
from dpaudit.study.making import make_problem
from dpaudit.study.measuring import total_regret
from dpaudit.study.study_file import read_study

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
