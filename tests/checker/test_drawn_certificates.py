"""Honest random certificates are accepted: none is rejected, and few are beyond the checker."""

from collections import Counter

import pytest

import dpaudit
from dpaudit.model.node_kinds import NODES
from mechanisms import NAMES
from tests.checker.drawn_certificates import EXAMPLES, KINDS, SECONDS, Drawn, outcome_of, outcomes

FEW = range(16)
MENDED = (
    8_200_082,
    8_200_117,
    8_200_204,
    8_300_024,
    8_300_694,
    8_300_771,
    8_302_215,
    8_700_302,
    9_000_263,
)
"""Certificates that were unconfirmed: alternatives, secret steps, larger curves, sums of few atoms, whole numbers."""


def wrong(found: list[Drawn]) -> list[Drawn]:
    """Return what must never be: a rejection or a crash."""
    return [one for one in found if one.outcome in ("rejected", "crashed", "over time")]


def test_few_random_honest_certificates_are_unconfirmed_and_none_is_rejected() -> None:
    found = [outcome_of(seed) for seed in FEW[1:8]]
    counts = Counter(one.outcome for one in found)
    assert wrong(found) == []
    assert counts["unconfirmed"] <= 1, [one.told for one in found if one.outcome == "unconfirmed"]
    assert counts["accepted"] >= len(found) / 2
    assert max(one.seconds for one in found) < SECONDS


@pytest.mark.parametrize("seed", MENDED)
def test_a_certificate_that_was_unconfirmed_is_accepted(seed: int) -> None:
    assert outcome_of(seed).outcome == "accepted"


@pytest.mark.slow
def test_of_three_thousand_none_is_rejected_and_two_in_a_hundred_are_unconfirmed() -> None:
    found = [one for one in outcomes(3000) if one.outcome not in ("refused", "not drawn in time")]
    assert wrong(found) == []
    assert sum(one.outcome == "unconfirmed" for one in found) <= 0.02 * len(found)


def test_every_node_and_every_mechanism_is_drawn() -> None:
    assert set(KINDS) == set(NODES)
    assert {example.name for example in EXAMPLES} == set(NAMES)


def test_a_crash_of_the_accountant_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: a certificate that cannot be made."""

    def broken(*given: object) -> object:
        raise OverflowError("too large")

    monkeypatch.setattr(dpaudit, "certify", broken)
    assert {outcome_of(seed).outcome for seed in list(FEW)[:6]} <= {"crashed", "refused"}
    assert "crashed" in {outcome_of(seed).outcome for seed in list(FEW)[:6]}
