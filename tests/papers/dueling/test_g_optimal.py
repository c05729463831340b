"""The G-optimal algorithm: designs, regression, phases and lengths do what their theorems say."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from algorithms._dueling.regression import constrained_logistic
from algorithms._dueling.voters import RecordedVoters, SimulatedVoters
from algorithms.g_optimal_dueling import GOptimalDueling
from algorithms.g_optimal_dueling.design import comparisons, g_optimal
from algorithms.g_optimal_dueling.phases import play_phases
from algorithms.g_optimal_dueling.schedule import Lengths
from algorithms.problems import load
from dpaudit import Mechanism, Recorder, Streams, certify
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import admit


@pytest.mark.parametrize(("arms", "dimension"), [(2, 2), (5, 2), (20, 2), (12, 5), (30, 10), (8, 10)])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_design_s_worst_comparison_is_within_one_percent_of_the_best_possible(
    arms: int, dimension: int, seed: int
) -> None:
    """Kiefer and Wolfowitz: the least worst squared length is the rank; the support is r (r + 1) / 2 at most."""
    features = load("sphere")(arms=arms, dimension=dimension, seed=seed).features
    design = g_optimal(features, np.arange(arms), 0.01)
    _, _, vectors = comparisons(features, np.arange(arms))
    rank = np.linalg.matrix_rank(vectors)
    assert design.rank == rank
    assert len(design.weights) <= rank * (rank + 1) // 2
    assert design.weights.sum() == pytest.approx(1)
    spread = design.vectors.T @ (design.weights[:, None] * design.vectors)
    lengths = np.einsum("ij,jk,ik->i", vectors, np.linalg.pinv(spread, rcond=1e-9), vectors)
    assert lengths.max() == pytest.approx(design.worst, rel=1e-6)
    assert rank * (1 - 1e-9) <= lengths.max() <= rank * 1.01


def test_equal_and_opposite_comparisons_are_one_and_equal_options_none() -> None:
    """On a line at 0, 1, 2 and 2: differences 1 and 2 in one direction each, 0 left out."""
    features = np.array([[0.0], [1.0], [2.0], [2.0]]) / 2
    first, second, vectors = comparisons(features, np.arange(4))
    assert sorted(np.abs(vectors[:, 0])) == [0.5, 1.0]
    assert all(first < second)
    assert not len(comparisons(features, np.array([2, 3]))[0])


@pytest.mark.parametrize("scale", [0.0, 3.0, 200.0])
def test_the_constrained_estimate_is_scipy_s(scale: float) -> None:
    """Forty noisy data sets in three dimensions, noise far beyond the zonotope: the same objective within 1e-6."""
    rng = np.random.default_rng(0)
    vectors, plays = rng.standard_normal((6, 3)), np.array([40.0, 10, 25, 60, 5, 30])
    sums = rng.binomial(40, 0.4, (20, 6)) * plays / 40 + rng.laplace(0, 1, (20, 6)) * scale
    found = constrained_logistic(vectors, plays, sums, 2.0, 1e-3)
    assert np.linalg.norm(found, axis=1).max() <= 2 + 1e-9
    for run in range(20):

        def objective(w: Array, counts: Array = sums[run]) -> float:
            scores = vectors @ w
            return float(np.logaddexp(0, scores) @ plays - counts @ scores + 5e-4 * w @ w)

        inside: Any = {"type": "ineq", "fun": lambda w: 4 - w @ w}
        best = minimize(objective, found[run] * 0.5, constraints=inside, options={"ftol": 1e-12})
        assert objective(found[run]) <= best.fun + 1e-6 * (1 + abs(best.fun))


@pytest.mark.parametrize(
    ("dimension", "horizon", "kappa", "expected"),
    [
        (2, 1e3, 0.25, (1.5e5, 5.9e4, 1.1e5)),
        (2, 1e5, 0.25, (2.2e5, 9.7e4, 1.9e5)),
        (10, 1e5, 0.25, (5.1e6, 3.2e8, 9.4e5)),
    ],
)
def test_the_printed_lengths_have_the_tabulated_values(
    dimension: int, horizon: float, kappa: float, expected: tuple[float, ...]
) -> None:
    """t_0 and the two terms of N_1 at epsilon = 1, kappa = 1/4 and delta = 1/T, within the table's two digits."""
    config = GOptimalDueling(
        preset="paper",
        epsilon=1.0,
        horizon=int(horizon),
        arms=20,
        dimension=dimension,
        kappa=kappa,
        fail_prob=1 / horizon,
    )
    lengths = config.lengths()
    assert (lengths.random_plays(), *lengths.parts(1)) == pytest.approx(expected, rel=0.05)


def test_the_printed_preset_ends_no_phase_within_a_hundred_thousand_rounds() -> None:
    """No sum of an answer is ever released, and the notes say vacuous; the practical preset does not."""
    problem = load("sphere")()
    config = GOptimalDueling(epsilon=1, horizon=100_000, arms=20, dimension=2, preset="paper")
    transcript = config.run(problem, Streams.spawn(np.random.default_rng(0)), 2)
    assert (transcript.arrays["survivors"].sum(axis=2) == 20).all()
    assert "vacuous" in " ".join(config.notes(problem))
    assert "vacuous" not in " ".join(replace(config, preset="practical").notes(problem))


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_claim_is_exactly_what_is_delivered(epsilon: float) -> None:
    """Lap(1 / eps): no slack from either side; delta(eps') = 1 - e^((eps' - eps) / 2); Lemma 7 has ln T too much."""
    config = GOptimalDueling(epsilon=epsilon, horizon=10_000, arms=20, dimension=2)
    found = certify(config.declaration(), config.claim())
    assert found.verdict == "certified"
    assert found.printed.valid
    assert found.tight.epsilon.lower == pytest.approx(epsilon, rel=1e-12)
    proof = replace(config, calibration="proof")
    assert certify(proof.declaration(), proof.claim()).tight.epsilon.upper == pytest.approx(epsilon / np.log(10_000))


@pytest.mark.parametrize("preset", ["practical", "paper"])
def test_a_run_is_admitted_and_its_conditions_hold(preset: str) -> None:
    """Also where the horizon cuts phases short, and where random plays add comparisons of the first design."""
    for horizon in (50, 500, 20_000):
        config = GOptimalDueling(epsilon=1, horizon=horizon, arms=20, dimension=2, preset=preset)
        transcript = config.run(load("sphere")(), Streams.spawn(np.random.default_rng(1)), 5)
        assert not admit(config.declaration(), transcript.trace)
        assert {c.status for c in transcript.conditions} == {"checked"}
        assert (transcript.arrays["plays"].sum(axis=(1, 2)) == horizon).all()


def test_random_plays_have_noised_sums_of_their_own() -> None:
    """With t_0 > 0 every comparison of the first design has a group in every phase, so no answer goes un-noised."""
    config = GOptimalDueling(epsilon=1, horizon=60_000, arms=6, dimension=2)

    class WithRandomPlays(Lengths):
        def random_plays(self) -> int:
            return 100

    lengths = WithRandomPlays(settings=config, horizon=config.horizon)
    problem = load("sphere")(arms=6, dimension=2)
    seen = []
    plan = config.plan()

    def watched(recorder: Recorder, label: str, mechanism: Mechanism, wins: Array) -> Array:
        seen.append(wins.shape[1])
        return plan.release(recorder, label, mechanism, wins)

    streams = Streams.spawn(np.random.default_rng(0))
    broken = replace(plan, lengths=lengths, release=watched)
    outcome = play_phases(broken, problem.features, SimulatedVoters.of(problem), streams, 3, Recorder(streams.noise))
    first = g_optimal(problem.features, np.arange(6), 0.01)
    assert seen[0] == len(first.weights)
    assert (outcome.plays.sum(axis=(1, 2)) == 60_000).all()


def test_survivors_of_a_phase_are_within_four_xi_and_estimates_within_two() -> None:
    """T6: without noise to speak of, after phase l every option left has gap below 4 xi_l, the best among them."""
    problem = load("sphere")(arms=30, dimension=3, seed=2)
    config = GOptimalDueling(epsilon=1e6, horizon=200_000, arms=30, dimension=3)
    transcript = config.run(problem, Streams.spawn(np.random.default_rng(0)), 20)
    gaps = problem.utilities.max() - problem.utilities
    survivors = transcript.arrays["survivors"]
    for phase in range(1, survivors.shape[1]):
        left = survivors[:, phase]
        assert left[:, problem.best].all()
        assert gaps[left.any(axis=0)].max() < 4 * 0.5**phase


def test_recorded_people_are_read_once_and_in_order() -> None:
    """Half-open phases: groups of 3 and 2 from round 4 on read records 4..6 and 7..8."""
    voters = RecordedVoters(answers=np.array([0, 0, 0, 0, 1, 1, 0, 1, 1, 0.0]))
    wins = voters.wins(4, np.array([0, 0]), np.array([1, 2]), np.array([[3.0, 2.0]]), np.random.default_rng(0))
    assert wins.tolist() == [[2.0, 2.0]]


def test_a_slope_above_that_of_the_logistic_function_is_refused() -> None:
    """It is a quarter at most."""
    with pytest.raises(ValueError, match=r"kappa=0\.3"):
        GOptimalDueling(epsilon=1, horizon=100, arms=5, dimension=2, kappa=0.3)


def test_a_problem_without_features_or_of_another_size_is_refused() -> None:
    streams = Streams.spawn(np.random.default_rng(0))
    with pytest.raises(ValueError, match="features"):
        GOptimalDueling(epsilon=1, horizon=100, arms=5, dimension=2).run(load("bradley_terry")(), streams, 1)
    with pytest.raises(ValueError, match="dimension=3"):
        GOptimalDueling(epsilon=1, horizon=100, arms=20, dimension=3).run(load("sphere")(), streams, 1)
