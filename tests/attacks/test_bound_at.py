"""An audit's result answers at another significance: increasing, and the stored bound at the stored one."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audits import Settings, audit, when_refuted
from audits.bounds.guessing import guessing_bound, guessing_epsilon_at, leak_allowance
from audits.examples import CLAIM, HALF_NOISE, half_noise
from dpaudit import AuditResult, Claim, UnsupportedError
from dpaudit.model.audit_result import Counts
from mechanisms import Gaussian
from tests.cases import released_case

LEVELS = np.geomspace(1e-8, 0.9, 120)


def fixed() -> AuditResult:
    """A violation shown by the guessing bound."""
    return audit(half_noise, neighbours=(0.0, 1.0), claim=CLAIM, runs=2_000, rng=np.random.default_rng(0))


def gaussian() -> AuditResult:
    """An audit whose verdict rests on the declared Gaussian bound, at half of the significance."""
    noise = Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="replace_one")
    case = released_case(noise, 0.0, 1.0)
    claim = Claim(epsilon=1.2, delta=1e-5, neighbours="replace_one")
    return audit(case, claim=claim, runs=3_000, rng=np.random.default_rng(0), how=Settings(certified=1.1))


def anytime() -> AuditResult:
    """An anytime audit that stopped at a violation."""
    return audit(HALF_NOISE, claim=CLAIM, runs=2_000, rng=np.random.default_rng(0), stop=when_refuted)


def anytime_to_the_end() -> AuditResult:
    """An anytime audit of a claim that is true."""
    claim = replace(CLAIM, epsilon=3.0)
    return audit(HALF_NOISE, claim=claim, runs=600, rng=np.random.default_rng(0), stop=when_refuted)


@pytest.mark.parametrize("made", [fixed, gaussian, anytime, anytime_to_the_end])
def test_the_bound_increases_with_the_significance_and_is_the_stored_one_at_the_stored(
    made: Callable[..., Any],
) -> None:
    """120 significances; the result survives a trip to another process, and its JSON does not know the function."""
    result = pickle.loads(pickle.dumps(made()))  # noqa: S301 - our own bytes
    assert result.bound_at(significance=result.significance).epsilon == result.epsilon_lower
    epsilons = [result.bound_at(significance=float(level)).epsilon for level in LEVELS]
    assert epsilons == sorted(epsilons)
    assert epsilons[0] < epsilons[-1]
    assert result.bound_at(significance=0.01).assumption == result.assumption
    assert "epsilon_at" not in result.to_dict()


def test_leaks_of_delta_do_not_break_the_order_where_the_plain_bound_does() -> None:
    """200,000 runs at delta 1e-5, all guesses right: the plain bound decreases at a jump of the allowance."""
    counts = Counts(
        runs=200_000,
        guesses=2_000,
        correct=2_000,
        true_positives=1_000,
        false_positives=0,
        positives=100_000,
        negatives=100_000,
    )
    levels = np.geomspace(1e-6, 0.5, 200)
    plain = [guessing_bound(counts, 1e-5, float(level)).epsilon for level in levels]
    assert plain != sorted(plain)
    for stored in (1e-4, 0.01, 0.05):
        ordered = [guessing_epsilon_at(counts, 1e-5, stored, float(level)) for level in levels]
        assert ordered == sorted(ordered)
        below = levels <= stored
        assert all(a <= b for a, b in zip(np.array(ordered)[below], np.array(plain)[below], strict=True))
        assert guessing_epsilon_at(counts, 1e-5, stored, stored) == guessing_bound(counts, 1e-5, stored).epsilon
    assert leak_allowance(200_000, 1e-5, 1e-4)[0] > leak_allowance(200_000, 1e-5, 0.05)[0]


def test_a_result_made_by_hand_says_that_it_cannot_answer() -> None:
    """One clear error; a significance outside (0, 1) is another."""
    result = fixed()
    with pytest.raises(UnsupportedError, match="another significance"):
        replace(result, epsilon_at=None).bound_at(significance=0.01)
    with pytest.raises(ValueError, match="significance"):
        result.bound_at(significance=1.5)
