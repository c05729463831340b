"""Users who are counted by their paths: a batch that counts them twice, and a rule that reads exact sums, are found."""

from dataclasses import replace

import numpy as np
import pytest

from algorithms.lsvi_ucb import LsviUcb
from algorithms.lsvi_ucb.learner import Learner
from algorithms.lsvi_ucb.paths import paths
from algorithms.lsvi_ucb.plan import plan_of
from algorithms.lsvi_ucb.planning import domain_of
from algorithms.problems.linear_mdp import low_rank
from audits import replay_program
from dpaudit.model.mechanism import Array

BATCHED = LsviUcb(epsilon=1.0, delta=1e-5, episodes=300, steps=3, dimension=4, calibration="tight", least_batches=4)
SWITCHING = replace(BATCHED, episodes=24, schedule="switching", switches=3)
PROBLEM = low_rank(states=3, actions=2, steps=3, dimension=4)


def rules(algorithm: LsviUcb) -> set[str]:
    replay = replay_program(algorithm, PROBLEM, algorithm.declaration(), ())
    return {finding.rule for finding in replay.findings}


def test_two_paths_are_one_transition_a_step_and_lie_apart() -> None:
    """Each path has one transition a step; the two stand at different cells of every step."""
    first, second = paths(plan_of(BATCHED), domain_of(BATCHED, PROBLEM))
    for path in (first, second):
        assert (path.counts.sum(axis=(1, 2, 3)) == 1).all()
    assert all(not np.array_equal(one, other) for one, other in zip(first.counts, second.counts, strict=True))
    with_path = first.entered(np.zeros((2, *first.counts.shape)), 0)
    assert (with_path.sum(axis=(1, 2, 3, 4)) == 3).all()
    assert not first.entered(np.zeros((2, *first.counts.shape)), 1).any()


@pytest.mark.parametrize("algorithm", [BATCHED, SWITCHING])
def test_sound_code_is_clean(algorithm: LsviUcb) -> None:
    """Neither paths nor what the rule reads accuse sound code."""
    assert rules(algorithm) == set()


@pytest.mark.parametrize("batch", [0, 1])
def test_a_batch_whose_users_count_twice_is_found(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One user moves matrices or vectors by twice what they may."""
    add = Learner.add

    def twice(learner: Learner, counts: Array) -> None:
        add(learner, counts * (1.0 + (learner.taken == batch)))

    monkeypatch.setattr(Learner, "add", twice)
    assert "DPA220" in rules(BATCHED)
