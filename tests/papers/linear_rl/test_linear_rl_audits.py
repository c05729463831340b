"""Audits of honest UCRL-VTR and LSVI-UCB: measured mu is the predicted one, verdicts are consistent."""

import math
from dataclasses import replace

import numpy as np
import pytest

from algorithms.lsvi_ucb import LsviUcb
from algorithms.lsvi_ucb import canaries as batch_canaries
from algorithms.lsvi_ucb import cases as batch_cases
from algorithms.lsvi_ucb.planning import BatchDomain
from algorithms.ucrl_vtr import UcrlVtr
from audits import Settings, audit
from mechanisms.symmetric_gaussian import Symmetry
from tests.papers.linear_rl.predicted import batches_mu, mixture_mu, scores_of, separation

UCRL = UcrlVtr(model="joint", epsilon=1, delta=1e-5, episodes=8, steps=3, dimension=2)
LSVI = LsviUcb(epsilon=1, delta=1e-5, episodes=16, steps=3, dimension=2, least_batches=4)
RUNS = 6_000


@pytest.mark.parametrize("model", ["joint", "local"])
@pytest.mark.parametrize(
    ("bonus", "symmetry"),
    [
        ("hoeffding", "half"),
        ("hoeffding", "sqrt2"),
        ("bernstein", "half"),
        pytest.param("bernstein", "sqrt2", marks=pytest.mark.slow),
    ],
)
def test_the_measured_mu_of_ucrl_vtr_is_the_predicted_one(model: str, bonus: str, symmetry: Symmetry) -> None:
    """Within two standard errors at this seed (4.6% of seeds are outside); "half" is predicted to lose all it may."""
    config = replace(UCRL, model=model, bonus=bonus, symmetry=symmetry)
    case, plan = config.cases()[0], config.plan()
    predicted = mixture_mu(plan.regressions, case.neighbours, 4 if model == "joint" else 1)
    shift, error = separation(*scores_of(case, RUNS, seed=4))
    assert abs(shift - predicted) <= 2 * error
    if symmetry == "half":
        assert predicted == pytest.approx(0.268051, rel=1e-5)


def test_the_measured_mu_of_lsvi_ucb_is_the_predicted_one() -> None:
    """At the worst angle, at opposite and at orthogonal features: within two standard errors at this seed."""
    plan = LSVI.plan()
    domain = BatchDomain.of(batch_cases.audit_problem(LSVI))
    worst = batch_canaries.canaries(plan, 2)
    for cosine in (batch_canaries.worst_cosine(plan), -1.0, 0.0):
        features = worst[1].features.copy()
        features[:] = (cosine, math.sqrt(1 - cosine**2))
        pair = (worst[0], replace(worst[1], features=features))
        shift, error = separation(*scores_of(batch_cases.billboard_case(plan, domain, pair), RUNS, seed=1))
        assert abs(shift - batches_mu(plan, cosine)) <= 2 * error


@pytest.mark.parametrize("config", [UCRL, replace(UCRL, model="local"), LSVI], ids=("joint", "local", "batched"))
def test_honest_code_is_consistent_in_every_view(config: UcrlVtr | LsviUcb) -> None:
    """Verdicts of `audits` on each case: consistent in white-box views, never a violation (1% a case)."""
    for case in config.cases():
        found = audit(case, claim=config.claim(), runs=6_000, rng=np.random.default_rng(1), how=Settings(certified=1.0))
        assert found.verdict != "violation"
        assert found.epsilon_lower <= 1


def test_others_who_react_to_the_billboard_do_not_add_to_the_loss() -> None:
    """Adaptive inputs: with a bonus so small that policies follow the noise, the ratio still measures the same mu."""
    config = replace(UCRL, bonus_scale=1e-3, shift_scale=1e-2)
    case = config.cases()[0]
    shift, error = separation(*scores_of(case, RUNS, seed=2))
    assert abs(shift - 0.268051) <= 3 * error
    views = case.run(case.neighbours[0], np.random.default_rng(0), 200)["others"]
    assert views[:, -1].std(axis=0).max() > 0.1
