"""Verdicts on random declarations over small explicit systems, whose truth over all pairs is enumerated."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpaudit import certify
from dpaudit.certification.evidence import evidence_on
from dpaudit.model.condition import Condition
from tests.accounting.systems import System, claim_of, conditions_of, draw


def judged(seed: int, believe: Callable[..., tuple[Condition, ...]] = conditions_of) -> tuple[System, Any, str]:
    """Return a system's kind, whether its claim holds, and what the evidence says of it."""
    rng = np.random.default_rng([15, seed])
    system = draw(rng)
    cost, pair = system.truth()
    claim, holds = claim_of(system, cost, float(np.exp(rng.uniform(-1.1, 1.1))))
    evidence = evidence_on(system.declaration(), claim, believe(system, pair))
    said = "refuted" if evidence.refutes(claim) else "certified" if evidence.meets(claim) else "not_proved"
    return system, holds, said


def counted(seeds: range, believe: Callable[..., tuple[Condition, ...]] = conditions_of) -> Counter[tuple[Any, str]]:
    """Return how often each answer was given to claims that hold and to claims that do not."""
    return Counter((holds, said) for _, holds, said in (judged(seed, believe) for seed in seeds))


def wrong(counts: Counter[tuple[Any, str]]) -> int:
    """Return how many claims were refuted that hold, and certified that do not."""
    return counts[True, "refuted"] + counts[False, "certified"]


@pytest.mark.parametrize("number", [200, pytest.param(10_000, marks=pytest.mark.slow)], ids=["some", "ten thousand"])
def test_no_verdict_on_an_enumerated_system_is_wrong(number: int) -> None:
    """Never refuted when the claim holds, never certified when it fails; not proved in a tenth of the cases at most."""
    counts = counted(range(number))
    assert wrong(counts) == 0
    undecided = counts[True, "not_proved"] + counts[False, "not_proved"]
    assert undecided <= number / 10, counts
    assert min(counts[True, "certified"], counts[False, "refuted"]) > number / 5


def test_believing_that_every_pair_moves_everything_refutes_true_claims() -> None:
    """The broken twin: a common pair is taken for granted where a replay has not seen one."""
    everything = (Condition(kind="attained", status="checked"),)
    found = (judged(seed, lambda system, pair: everything) for seed in range(400))
    assert any(holds and said == "refuted" for _, holds, said in found)


@pytest.mark.parametrize("seed", range(12))
def test_a_certificate_gives_the_verdict_of_its_evidence(seed: int) -> None:
    """The same words in a whole certificate, witnesses included."""
    rng = np.random.default_rng([15, seed])
    system = draw(rng)
    cost, pair = system.truth()
    claim, holds = claim_of(system, cost, float(np.exp(rng.uniform(-1.1, 1.1))))
    certificate = certify(system.declaration(), claim, conditions=conditions_of(system, pair))
    assert certificate.verdict != ("refuted" if holds else "certified")
    assert certificate.witnesses
    assert certificate.verdict == judged(seed)[2]
