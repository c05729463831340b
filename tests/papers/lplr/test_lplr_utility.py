"""How well it estimates and when it pays: exponents, floors, horizons, all at simulated sizes that cost nothing."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from algorithms.lplr import Lplr
from algorithms.lplr.baselines import SufficientStatistics
from algorithms.lplr.offline import deviation, fit_offline
from algorithms.lplr.oracle import Estimate
from algorithms.lplr.regression import activity_threshold, kappa
from algorithms.lplr.sums import noise_sum
from algorithms.problems import load
from dpaudit import Streams

C1 = 3 / (32 * 4 * math.sqrt(2))
"""The constant of Theorem 2.1."""


def streams(seed: int) -> Streams:
    return Streams.spawn(np.random.default_rng(seed))


def layered(name: str, users: int, runs: int = 100, seed: int = 0, **changed: Any) -> tuple[Any, Estimate]:
    problem = load(name)(users=float(users))
    plan = Lplr(**({"epsilon": 1.0, "horizon": users, "dimension": 2, "actions": 1} | changed)).plan()
    return problem, fit_offline(plan, problem, users, streams(seed), runs)


def layered_error(users: int, name: str = "ill_conditioned", **more: Any) -> Any:
    problem, found = layered(name, users, **more)
    return deviation(problem, found.prediction[:, 0]).mean()


def simple_error(users: int, runs: int = 100) -> Any:
    problem = load("ill_conditioned")(users=float(users))
    config = SufficientStatistics(epsilon=1.0, horizon=users, dimension=2)
    parameter = config.fit(problem, streams(1), runs)
    return deviation(problem, np.clip(parameter @ problem.features[:, 0].T, -1, 1)).mean()


def exponent(errors: list[Any], users: list[Any]) -> float:
    return float(np.polyfit(np.log(users), np.log(errors), 1)[0])


def test_layered_errors_fall_like_the_root_of_users_and_simple_ones_like_its_root() -> None:
    """Over 10^9 to 10^14 users: -0.47 +- 0.03 in layers, -0.245 +- 0.03 for sufficient statistics.

    100 runs at 11 sizes leave a standard error below 0.005 on either exponent; a confusion of the two is 40 of them.
    """
    users = [int(n) for n in np.geomspace(1e9, 1e14, 11)]
    assert exponent([layered_error(n) for n in users], users) == pytest.approx(-0.47, abs=0.03)
    assert exponent([simple_error(n) for n in users], users) == pytest.approx(-0.245, abs=0.03)


def test_the_two_errors_cross_near_three_hundred_million_users() -> None:
    """Simple is better at 10^7, layered at 10^10."""
    assert simple_error(10**7) < layered_error(10**7)
    assert layered_error(10**10) < simple_error(10**10) / 2


def test_the_repair_costs_at_most_three_times_the_error() -> None:
    """At 10^10 users: between 1.2 and 3 times the printed protocol's error, which is not private."""
    ratio = layered_error(10**10) / layered_error(10**10, variant="paper")
    assert 1.2 < ratio < 3


def test_no_private_estimator_beats_the_floor_on_the_rare_direction() -> None:
    """Theorem 2.1: squared errors times the root of users stay above C1 / (e - 1); ours is the rare share."""
    assert pytest.approx(0.016573, abs=1e-6) == C1
    scaled = []
    for users in (10**8, 10**10, 10**12):
        problem, found = layered("rare_direction", users)
        error = (found.prediction[:, 0] - problem.mean_reward[:, 0]) ** 2 @ problem.context_probabilities
        scaled.append(error.mean() * math.sqrt(users))
    assert min(scaled) > C1 / math.expm1(1.0)
    assert scaled[-1] == pytest.approx(0.103, rel=0.15)


def test_printed_counts_err_by_far_less_than_lemma_4_2_allows() -> None:
    """The 97.5 % quantile of the error of a share is 8.3 / sqrt(n) at epsilon 1; the bound is above 100 / sqrt(n).

    20,000 draws put the quantile within 0.35 with probability above 1 - 1e-7; a scale off by a tenth is 0.83 away.
    """
    config = Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=2, variant="paper")
    users = 10**4
    noise = noise_sum(config.plan().leaves.of("count"), (20_000,), users, np.random.default_rng(5)) / math.sqrt(users)
    assert float(np.quantile(noise, 0.975)) == pytest.approx(8.3, abs=0.35)
    plan = config.plan()
    assert 6.2 * 2 * math.log(48 * 2 / (plan.resolution.beta * plan.resolution.fail_prob)) > 100


def test_printed_widths_shrink_like_the_root_of_users_from_absurd_sizes_on() -> None:
    """The expected printed half width times the root of users a phase: 10^7 to 10^8 at 10^16 to 10^18 users."""
    for power in (17, 18):
        users = 10**power
        plan = Lplr(epsilon=1.0, horizon=users, dimension=2, actions=1, ci="theory").plan()
        problem = load("random_atoms")(atoms=6, dimension=2)
        found = fit_offline(plan, problem, users, streams(2), 20)
        scaled = found.half_width.mean() * math.sqrt(users / plan.phases)
        assert 1e7 < scaled < 2e8


def test_printed_constants_at_a_million_users() -> None:
    """The logarithm, the four constants, and a threshold of 845 on what is a probability."""
    plan = Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=2).plan()
    found = [kappa(plan, name) for name in ("activity", "count", "mean", "bias")]
    assert found == pytest.approx([1497, 522, 4027, 10446], abs=1)
    assert activity_threshold(plan, 125_000) == pytest.approx(845, abs=1)
    assert [activity_threshold(replace(plan, dimension=d), 10**6 // (4 * d)) for d in (5, 10)] == pytest.approx(
        [1.1e4, 9.7e4], rel=0.03
    )


@pytest.mark.parametrize(("power", "stored"), [(11, 1.00), (12, 0.86), (13, 0.42), (14, 0.105), (16, 0.010)])
def test_regret_on_the_hard_family_follows_the_stored_course(power: int, stored: float) -> None:
    """Epsilon 4, three deviations: the share of uniform play's regret, 40 runs, within 15 % and 0.01."""
    horizon = 10**power
    problem = load("hard_family")(users=float(horizon))
    config = Lplr(epsilon=4.0, horizon=horizon, dimension=2, actions=2, quantile=3.0)
    run = config.run(problem, streams(3), 40)
    share = run.arrays["regret"].sum(axis=1).mean() / (horizon * problem.gaps.mean())
    assert share == pytest.approx(stored, rel=0.15, abs=0.01)
    assert not run.arrays["lost"].any()


def test_sufficient_statistics_never_eliminate_on_the_hard_family() -> None:
    """Uniform play at every horizon: regret 0.49 T^(3/4), an exponent of 0.75 +- 0.02."""
    horizons, regrets = [10**power for power in range(8, 17, 2)], []
    for horizon in horizons:
        problem = load("hard_family")(users=float(horizon))
        made = SufficientStatistics(epsilon=4.0, horizon=horizon, dimension=2)
        regrets.append(made.run(problem, streams(4), 10).arrays["regret"].sum(axis=1).mean())
    assert exponent(regrets, horizons) == pytest.approx(0.75, abs=0.02)
    assert regrets[0] / horizons[0] ** 0.75 == pytest.approx(0.49, abs=0.005)


def test_a_problem_without_gaps_says_so() -> None:
    config = Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=1)
    assert "says nothing" in " ".join(config.notes(load("ill_conditioned")()))


def test_offline_fits_need_one_action_and_some_users() -> None:
    plan = Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=2).plan()
    with pytest.raises(ValueError, match="one action"):
        fit_offline(plan, load("hard_family")(), 100, streams(0), 1)
    with pytest.raises(ValueError, match="number of phases"):
        fit_offline(plan, load("ill_conditioned")(), 2, streams(0), 1)
