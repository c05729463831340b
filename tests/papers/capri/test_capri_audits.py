"""The audits of `audits` on CAPRI: honest code passes, every statistical twin is a violation."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from algorithms.capri import Capri
from audits import audit_case
from dpaudit import AuditCase, AuditResult
from tests.narrowing import present
from tests.papers.capri.twins import BENIGN, BROKEN, Twin, contexts_differ

CONFIG = Capri(model="joint", epsilon=1, delta=1e-5, horizon=1000)
RUNS = 40_000


def result_of(
    case: AuditCase, config: Capri, seed: int = 1, runs: int = RUNS, significance: float = 0.01
) -> AuditResult:
    return audit_case(
        case,
        claim=config.claim(),
        runs=runs,
        rng=np.random.default_rng(seed),
        significance=significance,
        certified=config.epsilon,
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


def test_a_context_canary_on_honest_code_is_consistent() -> None:
    """Neighbours that differ in the target's context: a learner finds nothing, as the target's action is in no view."""
    case = replace(CONFIG.cases()[0], neighbours=contexts_differ(CONFIG), score=None, gaussian=False)
    found = result_of(case, CONFIG, runs=4_000)
    assert found.verdict != "violation"
    assert found.epsilon_lower < 1


@pytest.mark.parametrize("twin", [t for t in BROKEN if "statistics" in t.caught], ids=lambda t: t.name)
def test_every_statistical_twin_is_a_violation(twin: Twin) -> None:
    """After 40,000 runs at significance 0.01 the bound exceeds the claim; 2,000 show noise that cancels."""
    config = replace(CONFIG, model=twin.model)
    assert result_of(present(twin.case)(config), config, runs=min(RUNS, 2 * twin.runs)).verdict == "violation"


@pytest.mark.parametrize("twin", BENIGN, ids=lambda t: t.name)
def test_no_benign_twin_is_a_violation(twin: Twin) -> None:
    """A harmless change stays consistent (a false alarm has probability 0.01 at most; the seed is fixed)."""
    config = replace(CONFIG, model=twin.model)
    assert result_of(present(twin.case)(config), config).verdict != "violation"


def test_printed_noise_hides_a_halved_sensitivity() -> None:
    """B1 under the printed noise doubles the loss and stays far below the claim: only its trace gives it away."""
    twin = next(t for t in BROKEN if t.name == "B1")
    config = replace(CONFIG, calibration="paper")
    found = result_of(present(twin.case)(config), config)
    assert found.verdict != "violation"
    assert found.epsilon_lower < 0.2


@pytest.mark.slow
def test_two_hundred_honest_audits_raise_no_more_alarms_than_allowed() -> None:
    """200 audits at significance 0.05; more alarms than the bound have probability below 1e-6 for honest code."""
    case = CONFIG.cases()[0]
    verdicts = [result_of(case, CONFIG, seed, runs=4_000, significance=0.05).verdict for seed in range(200)]
    assert sum(verdict == "violation" for verdict in verdicts) <= binom.isf(1e-6, 200, 0.05)
