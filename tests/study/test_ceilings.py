"""Ceilings of studies: methods without privacy do what they say, quickly, and the worst gap has its problems."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from algorithms import Capri, GOptimalDueling, Lplr
from algorithms._dueling.baselines.copeland import DoubleThompson, RelativeUpperConfidence
from algorithms._dueling.baselines.divergence import RelativeMinimumDivergence
from algorithms._dueling.baselines.simulation import simulate
from algorithms._dueling.voters import SimulatedVoters
from algorithms.g_optimal_dueling.run import run_with
from algorithms.kernels import pairs, squared_exponential
from algorithms.lplr.baselines import SufficientStatistics
from algorithms.problems import load
from algorithms.references.kernel import KernelUcb
from dpaudit import Streams
from dpaudit.study.digests import config_digest
from dpaudit.study.measuring import run_in_role


def test_the_index_of_kernel_ucb_is_the_posterior_of_a_gaussian_process() -> None:
    """Mean and deviation agree with the dense formulas K_* (K + ridge I)^-1; another width does not."""
    problem = load("grid")(contexts=2, actions=3, length_scale=1.0, seed=0)
    method = KernelUcb(horizon=10, length_scale=1.0, ridge=0.5, width=2.0)
    features = method.features(problem)
    seen, rewards = np.array([0, 0, 4, 5, 2]), np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    gram = 0.5 * np.eye(features.shape[1]) + features[seen].T @ features[seen]
    index = method.index(features, gram[None], (features[seen].T @ rewards)[None])[0]
    kernel = squared_exponential(pairs(problem.contexts, problem.actions), 1.0)
    weights = kernel[:, seen] @ np.linalg.inv(kernel[np.ix_(seen, seen)] + 0.5 * np.eye(5))
    mean, variance = weights @ rewards, np.diag(kernel) - (weights * kernel[:, seen]).sum(axis=1)
    assert index == pytest.approx(mean + 2.0 * np.sqrt(variance / 0.5), abs=1e-6)
    assert index != pytest.approx(mean + 1.0 * np.sqrt(variance / 0.5), abs=1e-2)


def test_kernel_ucb_loses_less_than_capri_without_noise() -> None:
    """On the insurance plans at 10^6 rounds; it plays its horizon, and refuses a growth that never ends."""
    problem = load("rand_hie")()
    streams = [Streams.spawn(np.random.default_rng(3)) for _ in range(2)]
    method = KernelUcb(horizon=10**6, width=3.0)
    capri = Capri(model="joint", epsilon=1.0, delta=1e-5, horizon=10**6)
    lost = method.run(problem, streams[0], 6).arrays["regret"].sum(axis=1)
    other = capri.run_without_noise(problem, streams[1], 6).arrays["regret"].sum(axis=1)
    assert lost.max() < other.min()
    assert lost.max() < 0.5 * problem.uniform_regret * 10**6
    with pytest.raises(ValueError, match=r"growth=1\.0"):
        KernelUcb(horizon=10, growth=1.0)


def _regrets(policy: type[Any], runs: int, *, single: bool) -> list[float]:
    """Return regrets of runs of 400 rounds; `single` takes every round by itself."""
    problem, regrets = load("bradley_terry")(utilities=(1.5, 0.0, 0.0)), []
    for seed in range(runs):
        rng = np.random.default_rng([seed, single])
        held: Any = policy(arms=problem.arms)
        plays = simulate(_Single(held) if single else held, problem, 400, rng)
        assert plays.sum() == 400
        regrets.append(float((plays * problem.utility_regret).sum()))
    return regrets


class _Single:
    """A policy whose rounds are taken one by one, with fresh draws in each."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def choose(self, number: int, rng: np.random.Generator) -> tuple[int, int]:
        """Return what the policy chooses, without what it drew ahead."""
        if hasattr(self.held, "ahead"):
            self.held.ahead, self.held.block = [], 1
        return self.held.choose(number, rng)

    def learn(self, left: int, right: int, *, won: bool) -> None:
        """Count the answer."""
        self.held.learn(left, right, won=won)

    def repeats(self, number: int) -> int:
        """Return 1."""
        del number
        return 1


@pytest.mark.parametrize("policy", [RelativeUpperConfidence, DoubleThompson, RelativeMinimumDivergence])
def test_rounds_taken_at_once_have_the_law_of_rounds_taken_one_by_one(policy: type[Any]) -> None:
    """Means of 16 runs each agree within 6.5 joint standard errors (normal false alarm below 1e-10)."""
    at_once, single = (np.array(_regrets(policy, 16, single=alone)) for alone in (False, True))
    error = math.hypot(at_once.std(ddof=1), single.std(ddof=1)) / 4
    assert abs(at_once.mean() - single.mean()) < 6.5 * error
    assert abs(at_once.mean() + 100 - single.mean()) > 6.5 * error  # a quarter of the rounds lost to the worst pair


@pytest.mark.parametrize("name", ["random_mixture", "delayed_low_rank"])
def test_a_gap_factor_multiplies_every_loss_of_a_decision_process(name: str) -> None:
    """Uniform and myopic regret scale with the factor; one that takes a reward beyond 1 is refused."""
    problem = load(name)(seed=1)
    scaled = problem.with_gap_factor(0.1)
    assert scaled.uniform_regret == pytest.approx(0.1 * problem.uniform_regret)
    assert scaled.myopic_regret == pytest.approx(0.1 * problem.myopic_regret)
    assert scaled.mdp.transitions == pytest.approx(problem.mdp.transitions)
    with pytest.raises(ValueError, match="Expected reward"):
        problem.with_gap_factor(50.0)


def test_users_as_many_as_the_horizon_are_those_of_a_study() -> None:
    """A problem with `users` at the horizon has the digest of one whose study writes "horizon"; others do not."""
    settings = Lplr(epsilon=4, horizon=10**6, dimension=2, actions=2)
    written = config_digest(settings, {"name": "hard_family", "users": "horizon"})
    assert config_digest(settings, {"name": "hard_family", "users": 1e6}) == written
    assert config_digest(settings, {"name": "hard_family", "users": 1e7}) != written
    assert config_digest(replace(settings, horizon=10**7), {"name": "hard_family", "users": 1e7}) == written


def test_a_blind_run_of_the_g_optimal_bandit_prefers_no_option() -> None:
    """Where the last option is the best, runs on coins keep all options; runs on counts of 0 lose nothing."""
    problem = load("modechoice")(shares=(0.14, 0.13, 0.09, 0.64))
    settings = GOptimalDueling(epsilon=1.0, horizon=10**5, arms=4, dimension=3)
    streams = [Streams.spawn(np.random.default_rng(5)) for _ in range(2)]
    blind = settings.run_blind(problem, streams[0], 20).arrays["utility_regret"] / 10**5 / problem.uniform_regret
    assert 0.9 < blind.min() <= blind.max() < 1.2
    silent = run_with(SimulatedVoters.alike(problem.arms, 0.0), settings, problem, streams[1], 20).arrays[
        "utility_regret"
    ]
    assert silent.mean() / 10**5 < 0.1 * problem.uniform_regret


def test_a_ceiling_never_runs_a_private_algorithm_as_it_is() -> None:
    """LPLR without noise learns where LPLR at epsilon 4 does not; what cannot run without noise is refused."""
    problem = load("hard_family")(users=1e12)
    settings = Lplr(epsilon=4.0, horizon=10**12, dimension=2, actions=2)
    streams = [Streams.spawn(np.random.default_rng(2)) for _ in range(3)]
    private = run_in_role(settings, "private", problem, streams[0], 3).arrays["regret"].sum(axis=1)
    without = run_in_role(settings, "ceiling", problem, streams[1], 3).arrays["regret"].sum(axis=1)
    assert without.max() < 0.1 * private.min()
    statistics = SufficientStatistics(epsilon=1, horizon=10**6, dimension=2, policy="greedy")
    with pytest.raises(ValueError, match="no run_without_noise"):
        run_in_role(statistics, "ceiling", problem, streams[2], 3)
