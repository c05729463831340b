"""The lock-step run: exact in law, equal to an oracle written user by user, and true to the protocol's structure."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstwo

from algorithms.lplr import Lplr
from algorithms.lplr.bins import bins_of, keys, start
from algorithms.lplr.checks import Outcomes
from algorithms.lplr.oracle import Answers, fit_oracle, joined_message, parted_message
from algorithms.lplr.plan import Plan
from algorithms.lplr.run import answers_of, run_protocol
from algorithms.lplr.schedule import epochs_of, first_length, resolution_of
from algorithms.lplr.sums import noise_sum, released_sum
from algorithms.problems import load
from dpaudit import Mechanism, Recorder, Streams
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import admit
from mechanisms import BallLaplace, Laplace, OneSidedWishart, SymmetrisedWishart
from tests.papers.lplr.oracle import naive_oracle, naive_prediction

FALSE_ALARM = 1e-7
ATOMS = np.array([[0.9, 0.1], [0.5, -0.6], [0.1, 0.2], [0.02, -0.01]])
MEANS = np.array([0.6, -0.2, 0.2, 0.0])


def config(**changed: Any) -> Lplr:
    return Lplr(**({"epsilon": 1.0, "horizon": 10**6, "dimension": 2, "actions": 2} | changed))


def quiet(plan: Plan, factor: float) -> Plan:
    """A plan with `factor` times the noise."""
    shrunk = {
        kind: tuple((label, held.scaled(factor)) for label, held in getattr(plan.leaves, kind))
        for kind in ("update", "confidence")
    }
    return replace(plan, leaves=replace(plan.leaves, **shrunk))


def phase(rng: np.random.Generator, users: int) -> tuple[Array, Array]:
    """One phase of single users: which atom, which reward."""
    atoms = rng.integers(len(ATOMS), size=users)
    rewards = np.where(rng.random(users) < (1 + MEANS[atoms]) / 2, 1.0, -1.0)
    return atoms, rewards


def as_counts(atoms: Array, rewards: Array) -> Answers:
    counts = np.bincount(atoms, minlength=len(ATOMS))
    positive = np.bincount(atoms[rewards > 0], minlength=len(ATOMS))
    return Answers(counts=counts[None, None, :], positive=positive[None, None, :])


def as_records(atoms: Array, rewards: Array) -> list[tuple[Array, Any]]:
    return [(ATOMS[atom], reward) for atom, reward in zip(atoms, rewards, strict=True)]


def test_without_noise_the_run_equals_the_oracle_written_user_by_user() -> None:
    """The same 4 x 400 users: values and half widths agree to 1e-6 at every atom, both layers being active."""
    plan, rng = quiet(config(actions=1).plan(), 1e-9), np.random.default_rng(0)
    phases = [phase(rng, 400) for _ in range(3)]
    fast = fit_oracle(
        plan, ATOMS[None], (as_counts(*held) for held in phases), 400, Recorder(np.random.default_rng(1)), 1
    )
    tree = naive_oracle(plan, (as_records(*held) for held in phases), 400, np.random.default_rng(2))
    assert fast.layers.max() == 2
    for place, phi in enumerate(ATOMS):
        value, half_width = naive_prediction(plan, tree, phi)
        assert fast.value[0, 0, place] == pytest.approx(value, abs=1e-6)
        assert fast.half_width[0, 0, place] == pytest.approx(half_width, abs=1e-6)


def test_with_noise_the_run_has_the_law_of_the_oracle_written_user_by_user() -> None:
    """70 naive runs against 3,000 lock-step ones, at noise that leaves most bins active on both layers.

    Two-sample Kolmogorov-Smirnov on value and half width of each atom: false alarms 1e-7 in all. The same test with
    eight times the noise on one side, or twice the users, is a finding; so few naive runs see nothing finer, which the
    noiseless comparison above and the laws of the sums below do.
    """
    plan, users, runs = quiet(config(actions=1, quantile=1.0).plan(), 0.004), 40, 70
    rng = np.random.default_rng(3)
    naive = np.zeros((runs, len(ATOMS), 2))
    for run in range(runs):
        tree = naive_oracle(plan, (as_records(*phase(rng, users)) for _ in range(3)), users, rng)
        naive[run] = [naive_prediction(plan, tree, phi) for phi in ATOMS]

    def lockstep(held: Plan, n_users: int = users, n_runs: int = 3_000) -> Array:
        drawn = (rng.multinomial(n_users, np.full(4, 0.25), size=(n_runs, 1)) for _ in range(3))
        counts = (Answers(counts=c, positive=rng.binomial(c, (1 + MEANS) / 2)) for c in drawn)
        found = fit_oracle(held, ATOMS[None], counts, n_users, Recorder(rng), n_runs)
        return np.stack([found.value[:, 0], found.half_width[:, 0]], axis=-1)

    def rejected(fast: Any) -> bool:
        pairs = ((naive[:, atom, place], fast[:, atom, place]) for atom in range(4) for place in (0, 1))
        return any(_ks(*pair) < FALSE_ALARM / 8 for pair in pairs)

    assert not rejected(lockstep(plan))
    assert rejected(lockstep(quiet(plan, 8)))
    assert rejected(lockstep(plan, n_users=2 * users))


def _ks(first: Any, second: Array) -> float:
    """A bound on the p-value of the two-sample statistic, ties and all."""
    points = np.unique(np.concatenate([first, second]))
    cdfs = [np.searchsorted(np.sort(held), points, side="right") / len(held) for held in (first, second)]
    size = len(first) * len(second) / (len(first) + len(second))
    return float(kstwo.sf(np.abs(cdfs[0] - cdfs[1]).max(), round(size)))


@pytest.mark.parametrize(
    "mechanism",
    [
        Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one"),
        BallLaplace(dimension=3, scale=1.5, l2_sensitivity=1.0, neighbours="replace_one"),
        OneSidedWishart(dimension=2, scale=1.3, trace_sensitivity=1.0, neighbours="replace_one"),
        SymmetrisedWishart(dimension=3, scale=0.7, nuclear_sensitivity=2.0, neighbours="replace_one"),
    ],
    ids=lambda held: held.name,
)
def test_the_noise_of_many_users_has_the_law_of_the_sum_of_single_noises(mechanism: Mechanism) -> None:
    """Seven users, 20,000 sums each way: every entry's law by Kolmogorov-Smirnov, false alarms 1e-7 in all; with
    eleven users in place of seven, or a quarter more noise, it is a finding."""
    rng, users, runs = np.random.default_rng(4), 7, 20_000
    shape = {"laplace": (), "ball_laplace": (3,)}.get(mechanism.name, (getattr(mechanism, "dimension", 1),) * 2)
    single = mechanism.release(np.zeros((runs, users, *shape)), rng).sum(axis=1).reshape(runs, -1)

    def rejected(held: Any, n: int) -> bool:
        summed = noise_sum(held, (runs, *shape), n, rng).reshape(runs, -1)
        entries = range(single.shape[1])
        return any(_ks(single[:, i], summed[:, i]) < FALSE_ALARM / single.shape[1] for i in entries)

    assert not rejected(mechanism, users)
    assert rejected(mechanism.scaled(1.25), users)
    assert rejected(mechanism, users + 4)


def test_a_released_sum_is_centred_whatever_the_noise() -> None:
    """Printed Wishart noise of 10^12 users cancels its mean of 10^13 to a few parts in 10^6."""
    held = OneSidedWishart(dimension=2, scale=4.5, trace_sensitivity=1.0, neighbours="replace_one")
    recorder = Recorder(np.random.default_rng(0))
    sums = released_sum(recorder, "matrix", held, np.zeros((400, 2, 2)), 10**12)
    deviation = 4.5 * math.sqrt(6 * 1e12)
    assert np.abs(sums[:, 0, 0].mean()) < 5.5 * deviation / 20
    assert sums[:, 0, 0].std() == pytest.approx(deviation, rel=0.2)


def test_every_vector_has_one_bin_a_layer_and_directions_stay_orthonormal() -> None:
    """Keys by comparison with powers of gamma; after two layers the path is orthonormal to 1e-10."""
    resolution = resolution_of(10**6)
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((2_000, 2))
    vectors *= (rng.random(2_000) ** 3 / np.linalg.norm(vectors, axis=1))[:, None]
    norms = np.linalg.norm(vectors, axis=1)
    found = keys(norms, resolution)
    inside = found < resolution.depth
    widths = resolution.gamma ** -found.astype(float)
    assert (norms <= widths).all()
    assert (norms[inside] > widths[inside] / resolution.gamma).all()
    assert keys(np.zeros(1), resolution)[0] == resolution.depth
    assert list(keys(np.array([1.0, resolution.width(1), resolution.width(1) * (1 + 1e-15)]), resolution)) == [0, 1, 0]
    bins = bins_of(start(vectors[None], 3), resolution)
    assert (np.linalg.norm(bins.scaled, axis=-1) <= 1).all()
    assert (bins.together.sum(axis=-1) >= bins.inside).all()


def test_a_gaussian_message_is_an_isometry_of_its_parts() -> None:
    """Joining count, vector and matrix keeps their Euclidean length, and parting undoes it."""
    rng = np.random.default_rng(6)
    count, vector, matrix = rng.random(5), rng.random((5, 3)), rng.random((5, 3, 3))
    matrix = matrix + np.swapaxes(matrix, 1, 2)
    joined = joined_message(count, vector, matrix)
    assert (joined**2).sum(axis=1) == pytest.approx(count**2 + (vector**2).sum(axis=1) + (matrix**2).sum(axis=(1, 2)))
    for part, held in zip(parted_message(joined, 3), (count, vector, matrix), strict=True):
        assert part == pytest.approx(held)


@pytest.mark.parametrize("changed", [{}, {"variant": "paper"}, {"noise": "gaussian", "delta": 1e-5}, {"ci": "theory"}])
def test_a_run_is_admitted_and_its_sets_are_nested(changed: dict[str, Any]) -> None:
    """Every variant releases what it declares; active sets only shrink, and never to nothing."""
    made = config(epsilon=20.0, **changed)
    run = made.run(load("hard_family")(users=1e3), Streams.spawn(np.random.default_rng(7)), 50)
    assert admit(made.declaration(), run.trace) == ()
    active = run.arrays["active"]
    assert (active[:, 1:] <= active[:, :-1]).all()
    assert active.any(axis=3).all()
    assert set(run.view("public")) == {"value", "half_width", "active"}


def test_the_printed_run_says_what_its_argument_lacks() -> None:
    """Five violated conditions, each in words of its own; the delta floor by its number."""
    made = config(variant="paper")
    run = made.run(load("hard_family")(), Streams.spawn(np.random.default_rng(0)), 4)
    violated = [condition.text for condition in run.conditions if condition.status == "violated"]
    assert any("0.105161" in text for text in violated)
    assert any("empties one and fills another" in text for text in violated)
    assert any("Residuals beyond the first layer are at most 1" in text for text in violated)


def test_intervals_cover_and_the_best_action_stays() -> None:
    """Every interval of 200 runs at 10^15 users covers the true mean, and no best action is lost.

    At four standard deviations of the noise an interval misses with probability below 1e-4; none of 200 x 46 may.
    """
    made = config(epsilon=4.0, horizon=10**15)
    problem = load("hard_family")(users=1e15)
    run = made.run(problem, Streams.spawn(np.random.default_rng(8)), 200)
    error = np.abs(run.arrays["value"] - problem.mean_reward.T)
    assert (error <= run.arrays["half_width"] + 1e-12).all()
    assert not run.arrays["lost"].any()
    assert run.arrays["layers"].max() == 2


def test_printed_widths_mean_uniform_play_at_any_feasible_horizon() -> None:
    """With ci = "theory" nothing is eliminated up to 10^13 users, so regret is that of uniform play, exactly."""
    problem = load("hard_family")(users=1e13)
    made = config(ci="theory", horizon=10**13)
    run = made.run(problem, Streams.spawn(np.random.default_rng(9)), 20)
    assert run.arrays["active"].all()
    assert run.arrays["regret"].sum(axis=1) == pytest.approx(10**13 * problem.gaps.mean())


def test_the_cost_of_a_run_does_not_depend_on_the_number_of_users() -> None:
    """Phases of 10^3 and of 10^15 users draw as many random numbers: the arrays have one size."""
    problem = load("hard_family")()
    shapes = []
    for users in (10**3, 10**15):
        active = np.ones((5, 2, 2), dtype=bool)
        held = next(answers_of(problem, active, users, Streams.spawn(np.random.default_rng(1)), Outcomes()))
        shapes.append(held.counts.shape)
        assert (held.counts.sum(axis=(1, 2)) == users).all()
    assert shapes[0] == shapes[1] == (5, 2, 2)


def test_epochs_double_and_cover_the_horizon() -> None:
    resolution = resolution_of(10**6)
    unit = first_length(2, resolution)
    assert unit == 1_000
    epochs = epochs_of(10**6, unit)
    assert sum(epoch.length for epoch in epochs) == 10**6
    assert [epoch.length for epoch in epochs[:3]] == [2_000, 4_000, 8_000]
    assert not epochs[-1].complete


def test_a_problem_that_does_not_fit_is_one_clear_message() -> None:
    with pytest.raises(ValueError, match="Expected a problem of dimension=2 with actions=3"):
        run_protocol(config(actions=3).plan(), load("hard_family")(), Streams.spawn(np.random.default_rng(0)), 2)


def test_the_insurance_data_run() -> None:
    """The RAND experiment with linear features: five plans, six groups; the misfit is in the description."""
    problem = load("linear_rand_hie")()
    assert f"{problem.misfit:.2f}" in problem.description
    made = config(actions=5)
    run = made.run(problem, Streams.spawn(np.random.default_rng(2)), 5)
    assert admit(made.declaration(), run.trace) == ()
    assert "violated" not in {condition.status for condition in run.conditions}
