"""The audits of `audits` on CAPRI: honest code passes, and the bound comes close to what it loses."""

from dataclasses import replace

import numpy as np
import pytest

from algorithms.capri import Capri
from algorithms.capri.users import RecordedUsers
from audits import Settings, audit
from dpaudit import AuditCase, AuditResult

CONFIG = Capri(model="joint", epsilon=1, delta=1e-5, horizon=1000)
RUNS = 40_000


def result_of(
    case: AuditCase, config: Capri, seed: int = 1, runs: int = RUNS, significance: float = 0.01
) -> AuditResult:
    return audit(
        case,
        claim=config.claim(),
        runs=runs,
        rng=np.random.default_rng(seed),
        significance=significance,
        how=Settings(certified=config.epsilon),
    )


@pytest.mark.parametrize("model", ["joint", "local"])
def test_honest_code_is_consistent_and_the_bound_comes_close(model: str) -> None:
    """With the tight noise for epsilon = 1, 40,000 runs show at least 0.8 in a white-box view and never more than 1."""
    config = replace(CONFIG, model=model)
    for case in config.cases():
        found = result_of(case, config)
        assert found.verdict != "violation"
        assert found.epsilon_lower <= 1.0
        if case.view != "actions" and case.name in ("capri transcript", "capri message"):
            assert found.epsilon_lower >= 0.8


def contexts_differ(config: Capri) -> tuple[RecordedUsers, RecordedUsers]:
    """Neighbours whose first user stands at context 0 or 1, all else equal and at context 2."""
    rounds = config.plan().epochs[1].stop
    first, second = np.full(rounds, 2), np.full(rounds, 2)
    first[0], second[0] = 1, 0
    rewards = np.zeros(rounds)
    return RecordedUsers(contexts=first, rewards=rewards), RecordedUsers(contexts=second, rewards=rewards)


def test_a_context_canary_on_honest_code_is_consistent() -> None:
    """Neighbours that differ in the target's context: a learner finds nothing, as the target's action is in no view."""
    case = replace(CONFIG.cases()[0], neighbours=contexts_differ(CONFIG), score=None, gaussian=False)
    found = result_of(case, CONFIG, runs=4_000)
    assert found.verdict != "violation"
    assert found.epsilon_lower < 1
