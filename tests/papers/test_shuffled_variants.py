"""Which variants of the papers' algorithms are shuffled: certified, run and audited; and which are refused, by name."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import dpaudit as dp
from algorithms._shuffles import report_epsilon
from algorithms.capri import Capri
from algorithms.dp_ebs import DpEbs
from algorithms.dp_ebs.noise.shuffled import ShuffledSum, Shuffler, vote_release
from algorithms.lplr import Lplr
from algorithms.lplr.cases import sums_case
from algorithms.lplr.leaves import fewest_shuffled
from algorithms.problems import load
from algorithms.ucrl_vtr import UcrlVtr
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import admit
from mechanisms import BallLaplace, RandomisedResponse
from tests.papers.dueling.test_dueling_audits import result_of


def report_of(declaration: dp.Declaration) -> dp.Declaration:
    """Return one user's message."""
    assert isinstance(declaration, dp.Local)
    return declaration.part


def test_pure_messages_of_one_value_function_can_be_shuffled() -> None:
    """Laplace noise, repaired: above, the clones of any randomiser (.0530055 at epsilon 1); nothing from below."""
    settings = UcrlVtr(model="local", epsilon=1.0, episodes=1000, steps=3, dimension=2, calibration="pure_repaired")
    message = report_of(settings.declaration())
    alone = dp.bracket_epsilon(dp.fold(message, "replace_one"), 0.0).upper
    found = dp.bracket_epsilon(dp.fold(dp.Shuffle(part=message, users=10_000), "replace_one"), 1e-6)
    assert found.upper < alone / 10
    assert found.lower == 0


def test_messages_with_normal_noise_are_refused() -> None:
    """CAPRI within an epoch, and UCRL-VTR with tight noise."""
    epochs = report_of(Capri(model="local", epsilon=1.0, delta=1e-5, horizon=1000).declaration())
    assert isinstance(epochs, dp.Parallel)
    linear = UcrlVtr(model="local", epsilon=1.0, delta=1e-5, episodes=1000, steps=3, dimension=2, calibration="tight")
    for message in (epochs.parts[0], report_of(linear.declaration())):
        with pytest.raises(dp.UnsupportedError, match="pure epsilon"):
            dp.fold(dp.Shuffle(part=message, users=10_000), "replace_one")


def test_messages_that_depend_on_the_user_are_refused() -> None:
    """All epochs of CAPRI together, and both kinds of messages of LPLR under one key."""
    epochs = report_of(Capri(model="local", epsilon=1.0, delta=1e-5, horizon=1000).declaration())
    linear = Lplr(epsilon=1.0, horizon=4000, dimension=2, actions=3, variant="fixed").declaration()
    for whole in (epochs, linear):
        with pytest.raises(ValueError, match="depend on the user"):
            dp.Shuffle(part=whole, users=10_000)


VOTES = DpEbs(model="shuffle", variant="batched", epsilon=1.0, delta=1e-5, horizon=100_000, arms=5)
LAYERS = Lplr(model="shuffle", epsilon=1.0, delta=1e-5, horizon=10**10, dimension=2, actions=2, quantile=2.0)


@pytest.mark.parametrize("config", [VOTES, LAYERS], ids=["dp_ebs", "lplr"])
def test_a_shuffled_variant_is_certified_and_its_certificate_verified(config: DpEbs | Lplr) -> None:
    """At epsilon 1 and delta 1e-5; the checker refuses the same certificate for twice as many users a shuffle."""
    declaration = config.declaration()
    assert isinstance(declaration, dp.PostProcess)
    assert isinstance(declaration.part, dp.Shuffle)
    certificate = dp.certify(declaration, config.claim())
    assert certificate.verdict == "certified"
    assert 0.97 < certificate.tight.epsilon.upper <= 1.0
    text, users = certificate.to_json(), declaration.part.users
    found = dp.verify(text)
    assert found.accepted, found.complaints
    assert not dp.verify(text.replace(f'"users": {users}', f'"users": {2 * users}')).accepted


@pytest.mark.parametrize("config", [VOTES, LAYERS], ids=["dp_ebs", "lplr"])
def test_the_trace_of_a_shuffled_run_is_admitted_and_a_report_with_less_noise_is_not(config: DpEbs | Lplr) -> None:
    """The twin runs at an epsilon 1.5 times the declared one."""
    problem: Any = load("hardest_duels")(seed=1) if isinstance(config, DpEbs) else load("hardest_linear")(seed=1)
    runs = [
        c.run(problem, dp.Streams.spawn(np.random.default_rng(1)), 2) for c in (config, replace(config, epsilon=1.5))
    ]
    assert admit(config.declaration(), runs[0].trace) == ()
    assert {finding.rule for finding in admit(config.declaration(), runs[1].trace)} == {"DPA212"}
    assert all(condition.status == "checked" for condition in runs[0].conditions)


def test_shuffled_layers_lose_a_tenth_of_what_local_ones_lose() -> None:
    """Both instances at 10^10 users and epsilon 1, 10 runs each."""
    lost = []
    for config in (LAYERS, replace(LAYERS, model="local", delta=0.0)):
        runs = [
            config.run(load("hardest_linear")(seed=seed), dp.Streams.spawn(np.random.default_rng(seed)), 10)
            for seed in (0, 1)
        ]
        lost.append(max(run.arrays["regret"].sum(axis=1).mean() for run in runs))
    assert 10 * lost[0] < lost[1]


def test_the_law_of_a_shuffled_sum_has_known_losses_and_the_accountant_is_above_them() -> None:
    """50 votes of epsilon 2 at delta 1e-3: 1.276626 where one other answers 1, 1.264157 where none does."""
    votes = ShuffledSum(response=RandomisedResponse(epsilon=2.0), users=50)
    estimates = votes.estimate(np.arange(51.0))
    found = []
    for ones in range(50):
        p, q = (np.exp(votes.log_density(estimates, np.array([value]))) for value in (ones, ones + 1))
        assert p.sum() == pytest.approx(1.0)
        assert float(p @ estimates) == pytest.approx(ones, abs=1e-9)

        def excess(epsilon: float, p: Array = p, q: Array = q) -> float:
            gained = (np.maximum(one - math.exp(epsilon) * other, 0.0).sum() for one, other in ((p, q), (q, p)))
            return float(max(gained)) - 1e-3

        found.append(brentq(excess, 0.1, 2.0))
    assert found[0] == pytest.approx(1.264157, abs=1e-6)
    assert found[1] == pytest.approx(1.276626, abs=1e-6)
    assert max(found) == pytest.approx(found[1], abs=1e-9)
    shuffle = dp.Shuffle(part=dp.Release(label="vote", mechanism=votes.response), users=50)
    assert dp.bracket_epsilon(dp.fold(shuffle, "replace_one"), 1e-3).upper >= max(found)


def test_estimated_sums_have_the_stated_mean_and_deviation() -> None:
    """20,000 sums of 30 answers of 100, by the votes as they are drawn; no false alarm in 10^9."""
    response = RandomisedResponse(epsilon=1.0)
    recorder = Shuffler(rng=np.random.default_rng(4), users={"batch": 100})
    sums = recorder.release("batch", response, np.full((20_000, 1), 30.0))
    lie = 1 - response.probability
    deviation = math.sqrt(100 * lie * (1 - lie)) / (1 - 2 * lie)
    assert abs(sums.mean() - 30) < 6.2 * deviation / math.sqrt(20_000)
    assert sums.std() == pytest.approx(deviation, rel=0.04)
    assert len(recorder.released) == 1


def test_an_audit_sees_sums_of_shuffled_messages_with_a_thousandth_of_their_noise() -> None:
    """The twin's counts are all but exact; honest ones of 666 users are not reported."""
    small = replace(LAYERS, horizon=10**6)
    plan, (honest,) = small.plan(), small.cases()
    assert result_of(honest, small.claim(), 4_000, seed=3).verdict != "violation"
    (label, count), *others = plan.leaves.update
    assert isinstance(count, BallLaplace)
    leaves = replace(plan.leaves, update=((label, replace(count, scale=count.scale / 1000)), *others))
    twin = sums_case(replace(plan, leaves=leaves), fewest_shuffled(small))
    assert result_of(twin, small.claim(), 4_000, seed=3).verdict == "violation"


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"variant": "tree"}, "has not been shuffled"),
        ({"variant": "champion"}, "has not been shuffled"),
        ({"delta": 0.0}, "whose guarantee needs it"),
        ({"model": "central"}, "absent for the others"),
        ({"schedule": "planned"}, "has not been shuffled"),
    ],
)
def test_votes_that_are_not_read_together_are_no_shuffle(settings: dict[str, Any], why: str) -> None:
    """Each is refused by name, and so is a delta that nothing needs."""
    with pytest.raises(ValueError, match=why):
        replace(VOTES, **settings)


@pytest.mark.parametrize("settings", [{"noise": "gaussian"}, {"variant": "paper"}, {"delta": 0.0}, {"model": "local"}])
def test_layers_are_shuffled_with_pure_repaired_messages_alone(settings: dict[str, Any]) -> None:
    """Normal noise and the printed messages have no pure epsilon."""
    with pytest.raises(ValueError, match="model"):
        replace(LAYERS, **settings)


def test_a_report_has_at_least_the_claimed_epsilon_and_a_lone_one_no_more() -> None:
    """One user is not hidden; claims of 12 nats and more are met by reports of the same epsilon."""
    assert report_epsilon(vote_release, epsilon=20.0, delta=1e-5, users=1_000) == 20.0
    alone = report_epsilon(vote_release, epsilon=1.0, delta=1e-5, users=1)
    assert 1.0 <= alone <= 1.01
