"""Audits of claims in rho, mu, Renyi divergences and points of a profile: refuted as they are, and never by chance."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from scipy.stats import binom

from audits import Settings, audit
from audits.bounds.gaussian import gaussian_epsilon
from audits.bounds.one_event import shown_by
from audits.bounds.renyi_region import RhoTradeOff
from audits.decision.other_measures import judged_by_event
from dpaudit import Claim, implied_claim, schemas
from dpaudit.errors import UnsupportedError
from dpaudit.model.audit_result import Counts
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim
from dpaudit.model.mechanism import Array
from dpaudit.wording.audits import audit_meaning

NEIGHBOURS: Any = "replace_one"
HALF = RhoClaim(rho=0.5, neighbours=NEIGHBOURS)
OF_THE_SUM: tuple[MeasuredClaim, ...] = (
    HALF,
    MuClaim(mu=1.0, neighbours=NEIGHBOURS),
    RenyiClaim(renyi=((2.0, 1.0), (8.0, 4.0)), neighbours=NEIGHBOURS),
    ProfileClaim(profile=((1.0, 0.1270), (2.0, 0.0210)), neighbours=NEIGHBOURS),
)
"""Claims that hold with equality for a sum with Gaussian noise of its own size."""


def permuted_and_flipped(scores: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """Permute-and-flip of scale 1: the largest of scores with exponential noise.

    The pair of the audits shows a rho of .7275, and its own is .9744.
    """
    noisy = np.asarray(scores, dtype=float) + rng.exponential(1.0, size=(n_runs, len(scores)))
    return noisy.argmax(axis=1).astype(float)


@dataclass(frozen=True)
class Sum:
    """A sum on a grid, so that last bits say nothing, with Gaussian noise."""

    stddev: float

    def __call__(self, value: float, rng: np.random.Generator, n_runs: int) -> Array:
        return np.round((value + rng.normal(0, self.stddev, n_runs)) * 64) / 64


def audited(function: Any, pair: Any, claim: Claim, seed: int, runs: int = 8_000) -> Any:
    """The audit of a function on one pair."""
    rng = np.random.default_rng(seed)
    return audit(function, neighbours=pair, claim=claim, runs=runs, rng=rng, how=Settings(control_runs=0))


def test_a_false_rho_of_permute_and_flip_is_refuted_in_its_own_measure() -> None:
    """Every (epsilon, delta) that rho = .5 implies is true; the event .5 against .0677 is not allowed by rho = .5."""
    results = [audited(permuted_and_flipped, ((0.0, 0.0), (1.0, -1.0)), HALF, seed) for seed in range(10)]
    assert sum(result.verdict == "violation" for result in results) >= 9
    found = next(result for result in results if result.verdict == "violation")
    assert found.exceeds_claim
    assert found.epsilon_lower < found.claimed_epsilon
    assert "rho of at least" in audit_meaning(found)
    assert "An event has probability of at least" in audit_meaning(found)
    validator = Draft202012Validator(schemas.load("report")["$defs"]["audit"], registry=_registry())
    validator.validate(found.to_dict())


def _registry() -> Any:
    """The schemas that an audit's schema refers to."""
    from referencing import Resource

    held = [schemas.load(name) for name in ("audit", "certificate")]
    return Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in held)


@pytest.mark.parametrize("claim", OF_THE_SUM, ids=lambda claim: str(claim.measure))
def test_a_claim_with_half_the_noise_it_needs_is_refuted(claim: MeasuredClaim) -> None:
    """With stddev .5 in place of 1 each claim is far from true, and its own numbers say so."""
    result = audited(Sum(0.5), (0.0, 1.0), claim, 0, runs=6_000)
    assert result.verdict == "violation"
    assert result.tested.refuted
    assert result.claim is claim


@pytest.mark.parametrize("claim", OF_THE_SUM, ids=lambda claim: str(claim.measure))
def test_an_honest_claim_is_not_refuted(claim: MeasuredClaim) -> None:
    """Code that keeps its claim with equality; the audit does not say more than that it saw no violation."""
    for seed in range(3):
        assert audited(Sum(1.0), (0.0, 1.0), claim, seed, runs=4_000).verdict in ("not_refuted", "inconclusive")


@pytest.mark.parametrize("claim", OF_THE_SUM, ids=lambda claim: str(claim.measure))
def test_the_region_of_a_claim_is_refuted_with_its_significance_at_most(claim: MeasuredClaim) -> None:
    """20,000 audits of an event on the edge of the region: no more refutations than .05 allows (error 1e-9)."""
    low, high = _edge(claim)
    rng, runs, size, level = np.random.default_rng(7), 20_000, 1_000, 0.05
    hits, alarms = rng.binomial(size, high, runs), rng.binomial(size, low, runs)
    refuted = 0
    for true, false in {(int(t), int(f)) for t, f in zip(hits, alarms, strict=True) if t * 1.0 > f}:
        counts = _counts(true, false, size)
        if judged_by_event(claim, counts, 0.5, level).refuted:
            refuted += int(((hits == true) & (alarms == false)).sum())
    assert refuted <= binom.ppf(1 - 1e-9, runs, level)


def test_a_claim_of_four_fifths_is_refuted_on_the_same_edge() -> None:
    """The broken twin: on the edge of rho = .5 the claim rho = .3 falls in nearly all audits."""
    low, high = _edge(HALF)
    weaker = RhoClaim(rho=0.3, neighbours=NEIGHBOURS)
    counts = _counts(round(1_000 * high), round(1_000 * low), 1_000)
    assert judged_by_event(weaker, counts, 1e-5, 0.01).refuted
    assert not judged_by_event(HALF, counts, 1e-5, 0.01).refuted


def _edge(claim: MeasuredClaim) -> tuple[float, float]:
    """An event that the claim just allows."""
    if isinstance(claim, RhoClaim):
        low = 0.3
        return low, float(RhoTradeOff(rho=claim.rho)(np.asarray(low))) - 1e-3
    low, high = 0.3, 0.3
    while all(
        float(value[0]) <= limit
        for value, (_, limit) in zip(shown_by(claim, np.array([high]), np.array([low])), claim.rows, strict=True)
    ):
        high += 1e-4
    return low, high - 1e-4


def _counts(hits: int, alarms: int, size: int) -> Counts:
    """Counts of an event with so many hits and alarms."""
    return Counts(
        runs=2 * size, guesses=0, correct=0, true_positives=hits, false_positives=alarms, positives=size, negatives=size
    )


def test_an_epsilon_that_follows_is_never_below_what_a_gaussian_release_of_the_claim_has() -> None:
    """The translation steers and weighs; it is above the epsilon of the release that meets the claim."""
    for claim in OF_THE_SUM[:3]:
        for delta in (1e-2, 1e-5, 1e-9):
            assert implied_claim(claim, delta).epsilon >= gaussian_epsilon(1.0, delta) * (1 - 1e-9)
    assert implied_claim(OF_THE_SUM[1], 1e-5).epsilon == pytest.approx(4.377178, abs=1e-5)
    assert implied_claim(HALF, 1e-6).epsilon == pytest.approx(5.2215, abs=2e-4)
    assert implied_claim(OF_THE_SUM[3]).epsilon == 2.0


def test_a_profile_below_the_smallest_of_its_deltas_and_a_delta_of_zero_are_refused() -> None:
    with pytest.raises(ValueError, match=r"delta=0\.001"):
        implied_claim(OF_THE_SUM[3], 1e-3)
    with pytest.raises(UnsupportedError, match="bounds no epsilon"):
        implied_claim(HALF, 0.0)


def test_an_event_shows_its_own_divergence_at_each_order() -> None:
    """d_a of the coins (.5, .0677): at order 2 ln(.25/.0677 + .25/.9323); of mu the difference of the quantiles."""
    b, q = np.array([0.5]), np.array([0.0677])
    two = RenyiClaim(renyi=((2.0, 1.0),), neighbours=NEIGHBOURS)
    expected = max(
        math.log(b[0] ** 2 / q[0] + (1 - b[0]) ** 2 / (1 - q[0])),
        math.log(q[0] ** 2 / b[0] + (1 - q[0]) ** 2 / (1 - b[0])),
    )
    assert shown_by(two, b, q)[0][0] == pytest.approx(expected, rel=1e-9)
    assert shown_by(HALF, b, q)[0][0] == pytest.approx(0.7273, abs=1e-4)
    assert shown_by(HALF, q, b)[0][0] == 0.0
