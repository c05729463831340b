"""The bound of a finished audit at another significance is that of its counts, at the share that decides."""

from dataclasses import replace

import numpy as np
import pytest

from audits import audit
from audits.bounds.guessing import guessing_bound
from audits.examples import CLAIM, half_noise
from benchmarks.other_significance import epsilon_at


def test_the_bound_is_that_of_the_counts_and_keeps_the_share_of_the_significance() -> None:
    """At the audit's own significance it is the stored bound; the twin that forgets the share shows too much."""
    result = audit(half_noise, neighbours=(0.0, 1.0), claim=CLAIM, runs=2_000, rng=np.random.default_rng(0))
    assert epsilon_at(result, result.significance) == pytest.approx(result.epsilon_lower)
    assert epsilon_at(result, 1e-6) < result.epsilon_lower
    half = guessing_bound(result.counts, result.delta, result.significance / 2)
    shared = replace(result, bounds=(half,), bound=half.name, epsilon_lower=half.epsilon)
    forgetful = guessing_bound(result.counts, result.delta, result.significance).epsilon
    assert epsilon_at(shared, shared.significance) == half.epsilon < forgetful


def test_what_a_replay_shows_holds_at_its_own_significance_alone() -> None:
    """Below it nothing is known."""
    result = audit(half_noise, neighbours=(0.0, 1.0), claim=CLAIM, runs=400, rng=np.random.default_rng(0))
    seen = replace(guessing_bound(result.counts, result.delta, 1e-9), name="replay", epsilon=2.0)
    told = replace(result, bounds=(seen,), bound="replay", epsilon_lower=2.0)
    assert (epsilon_at(told, 0.01), epsilon_at(told, 1e-10)) == (2.0, 0.0)
