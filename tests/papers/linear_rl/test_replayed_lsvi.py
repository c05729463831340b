"""Local privacy of linear processes by replay: the claim is one message's, and replays lose what they replay."""

from dataclasses import replace

import numpy as np
import pytest

from algorithms.problems import load
from algorithms.replayed_lsvi import ReplayedLsvi
from algorithms.replayed_lsvi.run import ONE_MESSAGE, contribution, run_plan
from dpaudit import Claim, Local, Release, Repeat, Streams, certify
from dpaudit.model.mechanism import Array

CONFIG = ReplayedLsvi(epsilon=1, delta=1e-5, episodes=10_000, steps=4, dimension=4, bonus_scale=1e-4, shift_scale=0.1)
PROBLEM = load("delayed_low_rank")(seed=0)


def streams(seed: int) -> Streams:
    return Streams.spawn(np.random.default_rng(seed))


@pytest.mark.parametrize(("stages", "steps"), [(1, 2), (3, 4), (6, 7)])
def test_the_certificate_is_that_of_one_message(stages: int, steps: int) -> None:
    """However many stages and steps there are, a user sends one message; its epsilon is the claimed one."""
    config = replace(CONFIG, stages=stages, steps=steps, episodes=100_000)
    message = Local(part=Release(label="message", mechanism=config.plan().mechanism))
    whole, alone = (certify(declared, config.claim()) for declared in (config.declaration(), message))
    assert whole.verdict == alone.verdict == "certified"
    assert whole.tight.epsilon.upper == alone.tight.epsilon.upper
    assert whole.tight.epsilon.lower == pytest.approx(1.0, abs=1e-6)


def test_a_twin_that_asks_a_user_twice_is_refuted() -> None:
    """The same noise in two messages of one user costs more than the claim, at an explicit pair."""
    message = Release(label="message", mechanism=CONFIG.plan().mechanism)
    certificate = certify(Local(part=Repeat(part=message, times=2)), CONFIG.claim())
    assert certificate.verdict == "refuted"
    assert certificate.tight.epsilon.lower > 1.4


def test_a_run_that_asks_users_twice_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where numbers of users repeat, the condition on one message is violated; in an honest run it is checked."""
    honest = {condition.about: condition.status for condition in CONFIG.run(PROBLEM, streams(0), 2).conditions}
    assert honest[ONE_MESSAGE.about] == "checked"
    monkeypatch.setattr("algorithms.replayed_lsvi.run.fresh_users", lambda _, users: range(users))
    twin = {condition.about: condition.status for condition in CONFIG.run(PROBLEM, streams(0), 2).conditions}
    assert twin[ONE_MESSAGE.about] == "violated"


@pytest.mark.parametrize("seed", range(3))
def test_users_who_replay_lose_what_the_replayed_episodes_lost(seed: int) -> None:
    """Means of 400 runs differ by less than 4 standard errors in every stage; a greedy replay would by 30."""
    config = replace(CONFIG, epsilon=100.0)
    run = config.run(load("delayed_low_rank")(seed=seed), streams(seed), 400)
    apart: Array = run.arrays["replay_loss"] - run.arrays["main_loss"]
    error = apart.std(axis=0, ddof=1) / np.sqrt(len(apart))
    assert (np.abs(apart.mean(axis=0)) < 4 * error).all()
    latest = run.arrays["gap"][:, None] - run.arrays["main_loss"]
    assert (np.abs(latest.mean(axis=0)) > 30 * error).all()


def test_messages_are_clipped_whatever_a_user_met() -> None:
    """Features of any length and targets that are no numbers stay within norm 1 and [0, 1]."""
    for features, target in ((np.full(4, 3.0), 7.0), (np.array([np.nan, np.inf, 0, 1]), np.nan), (np.zeros(4), -1.0)):
        message = contribution(features, np.asarray(target))
        assert np.trace(message[:, :-1]) <= 1 + 1e-12
        assert np.linalg.norm(message[:, -1]) <= 1 + 1e-12
        assert np.isfinite(message).all()


def test_it_learns_at_many_users_and_the_blind_run_does_not() -> None:
    """At 10^9 users and epsilon 10 the last policy loses a tenth of uniform play; without records it loses more."""
    config = replace(CONFIG, episodes=10**9, epsilon=10.0)
    assert config.run(PROBLEM, streams(1), 5).arrays["gap"].mean() < 0.15 * PROBLEM.uniform_regret
    assert config.run_blind(PROBLEM, streams(1), 5).arrays["gap"].mean() > PROBLEM.uniform_regret


def test_too_few_episodes_and_another_problem_are_refused() -> None:
    with pytest.raises(ValueError, match="episodes=50"):
        replace(CONFIG, episodes=50)
    with pytest.raises(ValueError, match="steps=4"):
        run_plan(CONFIG, CONFIG.plan(), load("low_rank")(steps=3), streams(0), 1)
    assert isinstance(CONFIG.claim(), Claim)
