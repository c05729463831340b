"""Permute-and-flip: its law, its curve, and claims in rho that the curve alone does not refute."""

import json
import math

import mpmath
import numpy as np
import pytest

from dpaudit import Claim, Release, Repeat, certify, verify
from dpaudit.model.declaration import Filtered
from dpaudit.model.measures.claims import MuClaim, RenyiClaim, RhoClaim
from dpaudit.model.mechanism import Array
from mechanisms import PermuteAndFlip
from mechanisms.permute_and_flip import Scores

ORDERS = np.array([1.001, 1.5, 2.0, 8.0])

CHOICE = PermuteAndFlip(scale=1.0, linf_sensitivity=1.0, neighbours="replace_one")
RELEASE = Release(label="choice", mechanism=CHOICE)


@pytest.mark.parametrize("gap", [0.0, 0.7, 3.0])
def test_two_candidates_win_by_a_laplace_distribution_function_of_their_gap(gap: float) -> None:
    logs = CHOICE.log_density(np.arange(2), np.array([gap, 0.0]))
    assert np.exp(logs) == pytest.approx([1 - math.exp(-gap) / 2, math.exp(-gap) / 2], rel=1e-13)


def test_many_candidates_have_the_law_of_the_permutation() -> None:
    """Brute force: candidates in random order, each kept with probability e^(score - largest)."""
    scores = np.array([0.0, -0.3, -1.1, -2.0])
    kept = np.exp(scores - scores.max())
    exact = np.zeros(4)

    def walk(left: tuple[int, ...], weight: float) -> None:
        for i in left:
            share = weight / len(left)
            exact[i] += share * kept[i]
            walk(tuple(j for j in left if j != i), share * (1 - kept[i]))

    walk((0, 1, 2, 3), 1.0)
    assert np.exp(CHOICE.log_density(np.arange(4), scores)) == pytest.approx(exact, rel=1e-12)


def test_a_claim_of_rho_one_half_is_refuted_though_each_point_of_it_is_true() -> None:
    """Truth is .97442 at epsilon 2; the pair (0, 0) against (1, -1) shows .72753 of it."""
    certificate = certify(RELEASE, RhoClaim(rho=0.5, neighbours="replace_one"))
    assert certificate.verdict == "refuted"
    assert certificate.tight.rows[0].lower == pytest.approx(0.97442, abs=1e-5)
    assert verify(certificate.to_json()).accepted
    even = np.array([np.exp(CHOICE.log_density(np.arange(2), np.array(s))) for s in ((0.0, 0.0), (1.0, -1.0))])
    orders = np.linspace(1.001, 4, 3000)
    shown = [math.log(float((even[0] ** a * even[1] ** (1 - a)).sum())) / (a - 1) / a for a in orders]
    assert max(shown) == pytest.approx(0.72753, abs=1e-5)


def choice_of(epsilon: float, scores: Scores = "general") -> PermuteAndFlip:
    """Return permute-and-flip that costs so much."""
    moved = epsilon if scores == "monotone" else epsilon / 2
    return PermuteAndFlip(scale=1.0, linf_sensitivity=moved, neighbours="replace_one", scores=scores)


def largest_divergences(mechanism: PermuteAndFlip, rng: np.random.Generator, pairs: int) -> Array:
    """Return the largest Renyi divergences that random scores of 2 to 6 candidates show, one for each of ORDERS.

    A third of the pairs leads with all candidates in one data set or the other, as the worst pairs do.
    """
    monotone, most = mechanism.scores == "monotone", mechanism.linf_sensitivity
    found = np.zeros(len(ORDERS))
    for _ in range(pairs):
        candidates = int(rng.integers(2, 7))
        least = 0.0 if monotone else -most
        moves = rng.choice([least, most, rng.uniform(least, most)], candidates)
        first = rng.normal(0, rng.choice([0.1, 1.0]), candidates) if rng.random() < 0.7 else 0.0 * moves
        first -= moves * rng.choice([0.0, 1.0, rng.random()]) * (rng.random(candidates) < 0.7)
        logs = [mechanism.log_density(np.arange(candidates), scores) for scores in (first, first + moves)]
        for p, q in (logs, logs[::-1]):
            powers = [np.logaddexp.reduce(order * p + (1 - order) * q) / (order - 1) for order in ORDERS]
            found = np.maximum(found, powers)
    return found


@pytest.mark.parametrize(("epsilon", "scores"), [(0.6, "general"), (2.0, "general"), (2.0, "monotone")])
def test_no_scores_of_many_candidates_have_a_larger_divergence_than_two(epsilon: float, scores: Scores) -> None:
    """Random moves come within 4 % of the bound; that of 4 % less noise, or of equal scores alone, is exceeded."""
    found = largest_divergences(choice_of(epsilon, scores), np.random.default_rng(7), 500)
    for share, holds in ((1.0, True), (0.96, False)):
        tree = Release(label="choice", mechanism=choice_of(epsilon * share, scores))
        claim = RenyiClaim(renyi=tuple((order, 1.0) for order in ORDERS.tolist()), neighbours="replace_one")
        bounds = np.array([row.upper for row in certify(tree, claim).tight.rows])
        assert bool((found <= bounds * (1 + 1e-9)).all()) == holds


@pytest.mark.parametrize("epsilon", [0.5, 1e-4, *(pytest.param(size, marks=pytest.mark.slow) for size in (2.0, 8.0))])
def test_rho_is_the_divergence_of_two_candidates_at_the_worst_gap(epsilon: float) -> None:
    """By the root of a derivative in 30 digits; both sides are within a millionth, or a millionth of the value."""
    with mpmath.workdps(30):

        def apart(x: mpmath.mpf) -> mpmath.mpf:
            p, q = 1 - mpmath.exp(-x) / 2, mpmath.exp(x - epsilon) / 2
            return p * mpmath.log(p / q) + (1 - p) * mpmath.log((1 - p) / (1 - q))

        ends = epsilon * 0.05, epsilon * 0.6
        worst = mpmath.findroot(lambda x: mpmath.diff(apart, x), ends, solver="anderson")
        truth = float(apart(worst))
    tree = Release(label="choice", mechanism=choice_of(epsilon))
    for rho, verdict in ((truth * 1.001, "certified"), (truth * 0.999, "refuted")):
        certificate = certify(tree, RhoClaim(rho=rho, neighbours="replace_one"))
        (row,) = certificate.tight.rows
        assert row.lower <= truth <= row.upper
        assert row.upper - row.lower < 2e-6 * max(1.0, truth)
        assert certificate.verdict == verdict
        assert verify(certificate.to_json()).accepted


def test_the_checker_confirms_no_end_beyond_the_worst_gap() -> None:
    """The ends of 97 % of the epsilon, or of the equal scores alone, are none of this choice."""
    honest = certify(RELEASE, RhoClaim(rho=1.0, neighbours="replace_one"))
    for upper in (0.97, 0.7275309):
        altered = json.loads(honest.to_json())
        altered["tight"]["rho"] = {"lower": 0.7, "upper": upper}
        assert not verify(json.dumps(altered)).accepted
    altered = json.loads(honest.to_json())
    altered["tight"]["rho"]["lower"] = 0.98
    assert not verify(json.dumps(altered)).accepted


def test_a_single_choice_attains_the_laplace_curve_at_every_point() -> None:
    for epsilon in (0.0, 0.5, 1.3):
        certificate = certify(RELEASE, Claim(epsilon=epsilon, delta=0.5, neighbours="replace_one"))
        assert certificate.delta_at(epsilon).lower == pytest.approx(-math.expm1((epsilon - 2) / 2), rel=1e-9)
        assert verify(certificate.to_json()).accepted


@pytest.mark.parametrize("times", [1, 3])
def test_repeated_choices_are_confirmed_in_each_measure(times: int) -> None:
    """A single choice has the curve of Laplace noise, several have one pair's product: both sides say the same."""
    many = Repeat(part=RELEASE, times=times)
    for claim in (
        Claim(epsilon=3.0, delta=1e-3, neighbours="replace_one"),
        RhoClaim(rho=3.0, neighbours="replace_one"),
        MuClaim(mu=1.0, neighbours="replace_one"),
        RenyiClaim(renyi=((2.0, 1.0),), neighbours="replace_one"),
    ):
        assert verify(certify(many, claim).to_json()).accepted


def test_monotone_scores_cost_half() -> None:
    noise = PermuteAndFlip(scale=1.0, linf_sensitivity=1.0, neighbours="add_remove", scores="monotone")
    certificate = certify(Release(label="choice", mechanism=noise), Claim(epsilon=1.0, neighbours="add_remove"))
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted


def test_a_choice_sharper_than_any_float_tells_is_refused_by_name_and_the_sharpest_one_is_certified() -> None:
    """e^-745 is the smallest float; at epsilon 769 half of the pair had no logarithm."""
    with pytest.raises(ValueError, match="an epsilon of at most 700, and it makes 800"):
        choice_of(800.0)
    certificate = certify(
        Release(label="choice", mechanism=choice_of(699.0)), RhoClaim(rho=0.5, neighbours="replace_one")
    )
    assert certificate.verdict == "refuted"
    assert verify(certificate.to_json()).accepted


def test_a_budget_over_a_choice_is_checked_whose_noise_could_vanish() -> None:
    """The slack is looked for with next to no noise, which a choice does not take."""
    rounds = Filtered(parts=(RELEASE,), rho=0.05)
    certificate = certify(rounds, Claim(epsilon=1.2, delta=1e-2, neighbours="replace_one"))
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted
