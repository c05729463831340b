"""PUCB and LDP-OBI: certified exactly, admitted by their declaration, attacked by their likelihood, and learning."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from algorithms.ldp_obi import LdpObi
from algorithms.problems import load
from algorithms.pucb import Pucb
from audits import Settings, audit
from dpaudit import Streams, certify
from dpaudit.model.trace import admit

PROBLEM = load("tabular_mixture")()
CONFIGS = (Pucb(epsilon=1.0, episodes=8, steps=3), LdpObi(epsilon=1.0, episodes=8, steps=3))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.name)
def test_the_noise_is_exactly_what_the_claim_needs(config: Pucb | LdpObi) -> None:
    """Certified, and the proved epsilon is the claimed one."""
    certificate = certify(config.declaration(), config.claim(), conditions=config.conditions())
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.lower == pytest.approx(1.0, abs=1e-9)
    assert (
        certify(config.declaration(), replace(config.claim(), epsilon=0.999), conditions=config.conditions()).verdict
        == "refuted"
    )


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.name)
def test_a_run_is_admitted_and_its_audit_consistent(config: Pucb | LdpObi) -> None:
    """The trace is what is declared; 4,000 runs of the likelihood ratio stay below the claim (1%; fixed seed)."""
    run = config.run(PROBLEM, Streams.spawn(np.random.default_rng(0)), 4)
    assert not admit(config.declaration(), run.trace)
    assert {c.status for c in run.conditions} == {"checked"}
    case = config.cases(PROBLEM)[0]
    found = audit(case, claim=config.claim(), runs=4_000, rng=np.random.default_rng(1), how=Settings(certified=1.0))
    assert found.verdict != "violation"
    assert found.epsilon_lower < 1


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.name)
def test_with_little_noise_both_learn(config: Pucb | LdpObi) -> None:
    """At epsilon 10^6 and a tenth of the bonus the last policy loses less than a tenth of what uniform play loses."""
    long = replace(config, epsilon=1e6, episodes=1000, bonus_scale=0.1, planning_period=10)
    run = long.run(PROBLEM, Streams.spawn(np.random.default_rng(0)), 10)
    uniform = np.full((1, *PROBLEM.mdp.shape), 1 / PROBLEM.mdp.shape[2])
    assert run.arrays["gap"].mean() < 0.1 * (PROBLEM.mdp.optimum() - PROBLEM.mdp.policy_values(uniform)[0])


def test_half_the_noise_is_refuted() -> None:
    """A twin that forgets that a replaced user moves two cells keeps twice the claim only."""
    config = CONFIGS[1]
    tree: Any = config.declaration()
    leaves = tuple(replace(leaf, mechanism=leaf.mechanism.scaled(0.5)) for leaf in tree.part.parts)
    assert (
        certify(
            replace(tree, part=replace(tree.part, parts=leaves)), config.claim(), conditions=config.conditions()
        ).verdict
        == "refuted"
    )
