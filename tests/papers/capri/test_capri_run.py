"""A run keeps its promises: what it publishes, what it checks, and that it is the algorithm as printed."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

from algorithms.capri import Capri
from algorithms.capri.cases import audit_geometry
from algorithms.capri.checks import design_is_independent
from algorithms.capri.design import Design, factorise
from algorithms.capri.domain import domain_of
from algorithms.capri.plan import Domain, Plan
from algorithms.capri.releases import message, release_messages
from algorithms.capri.run import run_epochs
from algorithms.capri.users import Played, RecordedUsers, SimulatedUsers, clipped_sums
from algorithms.problems import load
from algorithms.problems.synthetic import grid
from dpaudit import Recorder, Streams, Transcript
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import admit
from mechanisms import Gaussian
from tests.papers.capri.gram import run_per_round

JOINT = Capri(model="joint", epsilon=1, delta=1e-5, horizon=1000)
LOCAL = replace(JOINT, model="local")
QUANTILE = 6.0  # standard normal, two-sided 2e-9


def streams(seed: int) -> Streams:
    return Streams.spawn(np.random.default_rng(seed))


def recorded(config: Capri, contexts: Array, rewards: Array, seed: int, n_runs: int = 5) -> Transcript:
    plan = config.plan()
    return run_epochs(
        plan, audit_geometry(config, plan), RecordedUsers(contexts=contexts, rewards=rewards), streams(seed), n_runs
    )


def stream_of(config: Capri, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.integers(3, size=config.horizon), rng.choice([-1.0, 0.0, 1.0], size=config.horizon)


def test_every_array_has_the_runs_axis_first() -> None:
    """Shapes: K releasing epochs of E, N cells, D dimensions."""
    run = JOINT.run(grid(contexts=4, actions=3), streams(0), 7)
    shapes = {name: array.shape for name, array in run.arrays.items()}
    dimension = shapes["release"][2]
    assert shapes == {
        "release": (7, 5, dimension),
        "scale": (7, 5),
        "basis": (7, 5, 12),
        "covariance": (7, 5, 12),
        "active": (7, 7, 12),
        "actions": (7, 6, 12),
        "regret": (7, 6),
        "lost": (7,),
    }
    assert run.view("transcript").keys() == {"release", "scale", "basis", "covariance", "active"}
    assert run.views.keys() == {"transcript"}


def test_the_server_never_sees_an_action_in_the_local_model() -> None:
    """The view of the sums has no actions in it: an active set may identify the context."""
    run = LOCAL.run(grid(contexts=4, actions=3), streams(0), 3)
    assert run.views.keys() == {"sums"}
    assert "actions" not in run.views["sums"]


def test_epochs_before_the_changed_record_are_bit_identical() -> None:
    """T-P1: neighbours that differ in epoch 3 share every published bit of epochs 1 and 2, and no later release."""
    contexts, rewards = stream_of(JOINT)
    changed = rewards.copy()
    place = JOINT.plan().epochs[2].start + 5
    changed[place] = -1.0 if rewards[place] != -1.0 else 1.0
    left, right = recorded(JOINT, contexts, rewards, 4), recorded(JOINT, contexts, changed, 4)
    for name in ("release", "scale", "basis", "covariance"):
        assert np.array_equal(left.arrays[name][:, :2], right.arrays[name][:, :2])
    assert np.array_equal(left.arrays["active"][:, :3], right.arrays["active"][:, :3])
    assert np.array_equal(left.arrays["actions"][:, :2], right.arrays["actions"][:, :2])
    assert (left.arrays["release"][:, 2] != right.arrays["release"][:, 2]).any()


def test_records_of_the_last_unfinished_epoch_are_never_used() -> None:
    """T-P2: in the joint model changing all of them changes no release and no active set."""
    contexts, rewards = stream_of(JOINT)
    changed = rewards.copy()
    changed[JOINT.plan().epochs[-1].start :] = 1.0
    left, right = recorded(JOINT, contexts, rewards, 4), recorded(JOINT, contexts, changed, 4)
    for name in ("release", "scale", "basis", "covariance", "active"):
        assert np.array_equal(left.arrays[name], right.arrays[name])


def test_designs_of_the_first_epoch_do_not_depend_on_data() -> None:
    """T-P6: other contexts and rewards, same seeds: the same sets R and S and the same bound."""
    contexts, rewards = stream_of(JOINT)
    left = recorded(JOINT, contexts, rewards, 4)
    right = recorded(JOINT, np.roll(contexts, 1), -rewards, 4)
    for name in ("scale", "basis", "covariance"):
        assert np.array_equal(left.arrays[name][:, 0], right.arrays[name][:, 0])


def test_rewards_beyond_the_bound_count_as_the_bound() -> None:
    """T-P7: a reward of 10^6 moves a release exactly as a reward of 1 does."""
    contexts, rewards = stream_of(JOINT)
    left = recorded(JOINT, contexts, rewards, 4)
    right = recorded(JOINT, contexts, rewards * 1e6, 4)
    assert np.array_equal(left.arrays["release"], right.arrays["release"])
    played = Played(groups=((5.0, np.ones((1, 1, 2), int)), (-0.25, np.ones((1, 1, 2), int))))
    assert clipped_sums(played, 2.0).tolist() == [[1.75, 1.75]]


def test_a_sum_of_messages_has_the_law_of_the_released_sum() -> None:
    """The shortcut for local sums against the literal sum of 50 messages; false alarms 1e-8; 10 % is caught."""
    mechanism = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one")
    recorder = Recorder(np.random.default_rng(1))
    vectors, rewards = np.tile([[0.5, 0.1]], (50 * 4000, 1)), np.tile([1.0, -1.0, 1.0, 1.0, 0.0], 40_000)
    literal = message(recorder, "m", mechanism, vectors, rewards).reshape(4000, 50, 2).sum(axis=1)
    total = np.broadcast_to((rewards[:50, None] * vectors[:50]).sum(axis=0), (4000, 2))
    short = release_messages(recorder, "m", mechanism, total, 50)
    assert kstest(literal.ravel(), short.ravel()).pvalue > 1e-9
    spread = np.log(literal.var() / short.var())
    assert abs(spread) < QUANTILE * math.sqrt(4 / literal.size) < 2 * math.log(1.1)


def summary(run: Transcript, domain: Domain, plan: Plan) -> Array:
    """Four numbers a run: the first estimate of cell 4, the last bound, actions left, regret."""
    first = factorise(
        domain.features,
        Design(covariance=run.arrays["covariance"][:, 0], basis=run.arrays["basis"][:, 0]),
        np.ones((run.n_runs, len(domain.features)), bool),
        plan.ridge,
    )
    estimate = run.arrays["scale"][:, 0] * first.estimates(run.arrays["release"][:, 0])[:, 4]
    last = sum(epoch.complete for epoch in plan.epochs) - 1
    return np.column_stack(
        [
            estimate,
            run.arrays["scale"][:, last],
            run.arrays["active"][:, -1].sum(axis=1),
            run.arrays["regret"].sum(axis=1),
        ]
    )


def moments_differ(left: Array, right: Array) -> float:
    """The largest z-score of differences in means and in second moments about the common mean."""
    centre = right.mean(axis=0)
    worst = 0.0
    for power in (1, 2):
        a, b = (left - centre) ** power, (right - centre) ** power
        error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
        worst = max(worst, float(np.abs((a.mean(axis=0) - b.mean(axis=0)) / error).max()))
    return worst


@pytest.mark.parametrize("model", ["joint", "local"])
def test_the_fast_run_has_the_law_of_the_literal_one(model: str) -> None:
    """Counts, features and lock-step against rounds, Gram matrices and single runs: same moments and same law.

    Four statistics with two moments each, and two KS tests: false alarms under 1e-7 in all.
    A noise 40 % larger in the fast run is caught, which the test shows.
    """
    config = Capri(
        model=model,
        epsilon=60.0 if model == "local" else 4.0,
        delta=1e-3,
        horizon=90,
        kernel="matern",
        length_scale=0.5,
        width_factor=0.2,
    )
    problem = grid(contexts=3, actions=3, kernel="matern", length_scale=0.5)
    plan, domain = config.plan(), domain_of(config, problem)
    rng = np.random.default_rng(11)
    literal = []
    for _ in range(300):
        run = run_per_round(plan, domain, problem, rng)
        literal.append([run.estimates[0][4], run.scales[-1], run.active[-1].sum(), run.regret])
    slow = np.array(literal)
    fast = summary(config.run(problem, streams(12), 8_000), domain, plan)
    assert 1 < slow[:, 2].mean() < 9
    assert moments_differ(slow, fast) < QUANTILE
    assert kstest(slow[:, 0], fast[:, 0]).pvalue > 1e-9
    assert kstest(slow[:, 1], fast[:, 1]).pvalue > 1e-9
    louder = replace(plan, mechanism=plan.mechanism.scaled(1.4))
    users = SimulatedUsers(problem=problem)
    loud = run_epochs(louder, domain, users, streams(12), 8_000)
    loud = replace(loud, arrays={**loud.arrays, "regret": loud.arrays["actions"] @ problem.gaps.ravel()})
    assert moments_differ(slow, summary(loud, domain, plan)) > QUANTILE


def test_blocks_of_runs_change_nothing_but_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a tiny block every array still has one row a run, and the trace still describes one run."""
    monkeypatch.setattr("algorithms.capri.run._BLOCK_BYTES", 1.0)
    run = JOINT.run(grid(contexts=3, actions=2), streams(0), 4)
    assert run.arrays["release"].shape[0] == 4
    assert admit(JOINT.declaration(), run.trace) == ()
    assert {c.status for c in run.conditions} == {"checked"}


def test_equal_contexts_by_chance_are_no_alarm() -> None:
    """Independence is doubted only where an equal draw has probability below 1e-12."""
    law = np.array([0.5, 0.5])
    few = np.array([[[1], [1]]])
    assert design_is_independent(Design(covariance=few.reshape(1, 2), basis=few.reshape(1, 2)), few, law)
    many = np.random.default_rng(0).multinomial(1000, law, size=20)[:, :, None]
    copied = Design(covariance=many.reshape(20, 2), basis=many.reshape(20, 2)[::-1])
    assert not design_is_independent(copied, many, law)


def test_a_missing_feature_map_is_a_clear_error() -> None:
    """kernel = "features" needs a problem that brings them."""
    with pytest.raises(ValueError, match="'grid' to bring features for kernel='features'"):
        replace(JOINT, kernel="features").run(grid(), streams(0), 1)


@pytest.mark.parametrize("problem", ["rand_hie", "grid", "audit_domain"])
@pytest.mark.parametrize("kernel", ["squared_exponential", "matern", "linear"])
def test_the_longest_horizon_runs_and_gives_finite_numbers(problem: str, kernel: str) -> None:
    """At 10^15 rounds elimination leaves single actions, some of them without features: still no number is lost."""
    config = Capri(model="joint", epsilon=1, delta=1e-5, horizon=10**15, kernel=kernel)
    run = config.run(load(problem)(), Streams.spawn(np.random.default_rng(5)), 2)
    assert all(np.isfinite(held).all() for held in run.arrays.values())
    assert {c.status for c in run.conditions} == {"checked"}
    with pytest.raises(ValueError, match="at most 1,000,000,000,000,000"):
        replace(config, horizon=10**15 + 1)
