"""Every planted defect is noticed in the way its entry says, within twice the runs it needs, and no honest copy is."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from algorithms.lplr import Lplr
from algorithms.lplr.plan import Plan
from algorithms.lplr.run import run_protocol
from algorithms.problems import load
from audits import audit_case
from dpaudit import AuditCase, AuditResult, Claim, Sequential, Streams, Transcript, certify
from dpaudit.model.trace import admit
from tests.narrowing import present
from tests.papers.lplr.twins import CONFIG, TWINS, Twin, deep_flip

AUDITED = [twin for twin in TWINS if twin.case is not None]
HONEST_SIGNIFICANCE = 1e-8
PROBLEM = load("hard_family")(users=1e4)


def leaf_claim(twin: Twin) -> Claim:
    """The claim of one leaf; 10^-9 above it, for the last digits."""
    return Claim(epsilon=twin.epsilon * (1 + 1e-9), neighbours="replace_one")


def audit(case: AuditCase, twin: Twin, seed: int, significance: float = 0.05) -> AuditResult:
    """An audit with twice the runs a side that the closed forms ask for."""
    rng = np.random.default_rng(seed)
    return audit_case(case, leaf_claim(twin), runs=4 * twin.runs, rng=rng, significance=significance)


def ordinary_run(plan: Plan, n_runs: int = 8) -> Transcript:
    return run_protocol(plan, PROBLEM, Streams.spawn(np.random.default_rng(0)), n_runs)


@pytest.mark.parametrize("twin", AUDITED, ids=lambda twin: twin.name)
def test_a_twins_message_is_a_violation_of_its_leafs_claim(twin: Twin) -> None:
    """At significance 0.05, with twice the runs a side that its closed form asks for and a fixed seed."""
    assert audit(present(twin.case)(), twin, seed=3).verdict == "violation"


@pytest.mark.parametrize("twin", AUDITED, ids=lambda twin: twin.name)
def test_the_honest_message_under_the_same_attack_is_none(twin: Twin) -> None:
    """False alarms: 10^-8 a twin. What is caught, on the same runs, is the twin itself at significance 0.05."""
    assert audit(present(twin.honest)(), twin, seed=3, significance=HONEST_SIGNIFICANCE).verdict != "violation"


@pytest.mark.parametrize("twin", [t for t in TWINS if "trace" in t.caught], ids=lambda twin: twin.name)
def test_a_run_of_a_twin_is_not_admitted_by_the_declaration(twin: Twin) -> None:
    """One ordinary run releases other noise than declared."""
    assert any(
        f.rule == "DPA212" for f in admit(CONFIG.declaration(), ordinary_run(present(twin.plant)(CONFIG.plan())).trace)
    )


@pytest.mark.parametrize("twin", [t for t in TWINS if "condition" in t.caught], ids=lambda twin: twin.name)
def test_a_run_of_a_twin_reports_a_violated_condition(twin: Twin) -> None:
    """The steps of the device are tried on any record and any history, not only on those that came up."""
    run = ordinary_run(present(twin.plant)(CONFIG.plan()))
    assert "violated" in {condition.status for condition in run.conditions}


def test_an_honest_run_is_admitted_and_violates_nothing() -> None:
    """The same two looks find nothing on the repaired protocol."""
    run = ordinary_run(CONFIG.plan())
    assert not admit(CONFIG.declaration(), run.trace)
    assert {condition.status for condition in run.conditions} == {"checked"}


def test_users_on_two_layers_cost_twice_by_the_accountant() -> None:
    """B15: both messages of one user in sequence are refuted, one or the other certified."""
    declaration = CONFIG.declaration()
    both = Sequential(parts=declaration.parts)
    assert certify(both, CONFIG.claim(), conditions=CONFIG.conditions()).verdict == "refuted"
    assert certify(declaration, CONFIG.claim()).verdict == "certified"
    assert certify(both, CONFIG.claim(), conditions=CONFIG.conditions()).tight.epsilon.lower > 1.8


def test_the_largest_leaf_is_not_their_sum() -> None:
    """B22: a third is what each leaf costs; the message costs three of them."""
    third = replace(CONFIG.claim(), epsilon=1 / 3)
    assert certify(CONFIG.declaration(), third, conditions=CONFIG.conditions()).verdict == "refuted"


def test_a_bin_of_index_0_is_blind_to_noise_that_shrinks_with_the_index() -> None:
    """B14: the factor gamma^-k is 1 at k = 0, so that its audit must look at a deep bin."""
    assert CONFIG.plan().resolution.width(0) == 1
    twin = next(twin for twin in TWINS if twin.name == "B14")
    assert present(twin.case)().neighbours[0].features != CONFIG.cases()[1].neighbours[0].features
    (stage,) = (
        cell.cell_contents for cell in present(present(twin.case).__closure__) if cell.cell_contents is deep_flip
    )
    assert stage(CONFIG.plan()).bins[0].indices == (2,)


def test_the_catalogue_is_complete() -> None:
    """B1 to B22, each caught in some way, and each audited one beside an honest copy."""
    assert {twin.name.split()[0] for twin in TWINS} == {f"B{number}" for number in range(1, 23)}
    assert all(twin.caught for twin in TWINS)
    assert all((twin.case is None) == (twin.honest is None) for twin in TWINS)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_support_breaks_the_printed_update_within_400_runs_a_side_and_the_repaired_one_never(
    dimension: int,
) -> None:
    """Of twenty audits of 800 runs at epsilon 1 the printed message falls in 18 or more, the repaired one in none.

    An audit is missed where the 80 runs that choose the event happen to show hardly any impossible output. The honest
    score is 0 wherever both records are possible; at significance 0.05 a single alarm would have to be luck.
    """
    for variant in ("paper", "fixed"):
        made = Lplr(epsilon=1.0, horizon=10**6, dimension=dimension, actions=2, variant=variant)
        case = next(case for case in made.cases() if case.name == "lplr matrix")
        found = sum(
            audit_case(case, made.claim(), runs=800, rng=np.random.default_rng(seed)).verdict == "violation"
            for seed in range(20)
        )
        assert found >= 18 if variant == "paper" else found == 0


@pytest.mark.slow
def test_honest_leaves_raise_no_more_alarms_than_allowed() -> None:
    """Fifty audits of every leaf at significance 0.05; more alarms than the bound have probability below 1e-6."""
    for twin in AUDITED:
        if twin.runs <= 1_000:
            alarms = sum(audit(present(twin.honest)(), twin, seed).verdict == "violation" for seed in range(50))
            assert alarms <= binom.isf(1e-6, 50, 0.05)
