"""The tail of the privacy loss: against exact laws, both orders, and a post-processed output that attains the bound."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpaudit import Release, Repeat, Stated, Subsample, fold
from dpaudit.accounting.loss_tail import LossTail, loss_tail, tail_of_claim
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration
from mechanisms import Gaussian, Laplace, RandomisedResponse
from tests.narrowing import present

DEMO = Gaussian(stddev=1 / 0.26805112293774613, l2_sensitivity=1.0, neighbours="replace_one")


def tail_of(
    declaration: Declaration, epsilon: float = 1.0, delta: float = 1e-5, neighbours: Neighbours = "replace_one"
) -> LossTail:
    """Return the tail of a declaration."""
    return loss_tail(fold(declaration, neighbours), epsilon, delta)


def merged_tail(mu: float, epsilon: float) -> float:
    """Return P(A) of the largest half line A of N(mu, 1) with P(A) = e^epsilon Q(A): an output that only says A."""
    place = brentq(lambda z: norm.logsf(z - mu) - norm.logsf(z) - epsilon, -5, 40)
    return norm.sf(place - mu)


def test_the_demos_gaussian_exceeds_its_epsilon_sixteen_times_as_often_as_delta() -> None:
    """P(L > 1) is 1.612e-4 in the release itself, where delta is 1e-5: "except with probability delta" is false."""
    tail = tail_of(Release(label="sum", mechanism=DEMO))
    exact = norm.cdf(0.26805112293774613 / 2 - 1 / 0.26805112293774613)
    assert exact == pytest.approx(1.612e-4, rel=1e-3)
    assert exact <= present(tail.above_in_releases(1.0)) <= exact * (1 + 1e-9)
    assert present(tail.above_in_releases(1.0)) > 16 * 1e-5
    seldom = present(tail.exceeded_in_releases(1e-5))
    assert norm.cdf(0.26805112293774613 / 2 - seldom / 0.26805112293774613) == pytest.approx(1e-5, rel=1e-6)


@pytest.mark.parametrize("mu", [0.1, 0.26805, 0.5, 1.0])
@pytest.mark.parametrize("share", [0.5, 1.0, 2.0])
def test_what_is_computed_from_a_release_attains_the_bound(mu: float, share: float) -> None:
    """An output that says only whether L exceeds a threshold has the heavier tail of the bound, and none exceeds it."""
    epsilon = share * 3 * mu
    noise = Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="replace_one")
    tail = tail_of(Release(label="sum", mechanism=noise), epsilon)
    attained = merged_tail(mu, epsilon)
    assert attained <= tail.above(epsilon) <= attained * 1.01
    assert present(tail.above_in_releases(epsilon)) < attained


def test_the_tail_of_a_claim_is_attained_by_one_atom() -> None:
    """P = delta' on an atom with ratio e^(epsilon + t): the bound delta / (1 - e^-t), exactly."""
    epsilon, delta, excess = 1.0, 1e-5, math.log(2)
    mass = delta / (1 - math.exp(-excess))
    ratio = mass * math.exp(-epsilon - excess)
    assert mass - math.exp(epsilon) * ratio == pytest.approx(delta, rel=1e-12)
    assert mass <= tail_of_claim(delta, excess) <= mass * (1 + 1e-12)
    assert (tail_of_claim(0.0, 0.0), tail_of_claim(delta, 0.0), tail_of_claim(0.9, 0.1)) == (0.0, 1.0, 1.0)


def test_a_pure_claim_is_never_exceeded() -> None:
    """Laplace noise and randomised response keep their epsilon always, and may reach it."""
    for mechanism, epsilon in (
        (Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one"), 0.5),
        (RandomisedResponse(epsilon=0.5, neighbours="replace_one"), 0.5),
    ):
        tail = tail_of(Release(label="answer", mechanism=mechanism), epsilon, 0.0)
        assert tail.above(epsilon) == 0
        assert tail.above(epsilon * 0.9) > 0


def test_a_composition_of_randomised_responses_is_bounded_in_both_orders() -> None:
    """The exact law of five answers, by enumeration, lies below the bound at every epsilon."""
    declaration = Repeat(
        part=Release(label="answer", mechanism=RandomisedResponse(epsilon=0.5, neighbours="replace_one")), times=5
    )
    truth = 1 / (1 + math.exp(-0.5))
    for epsilon in (0.4, 1.0, 1.4, 2.0):
        tail = tail_of(declaration, epsilon, 1e-3)
        exact = sum(
            math.comb(5, hits) * truth**hits * (1 - truth) ** (5 - hits)
            for hits in range(6)
            if (2 * hits - 5) * 0.5 > epsilon
        )
        assert tail.above(epsilon) >= exact


def test_a_sampled_gaussian_is_bounded_in_both_orders() -> None:
    """Removing and adding have other tails; simulated losses of either stay below, and the delta is no bound."""
    rate, mu, epsilon = 0.2, 1.0, 0.5
    noise = Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="add_remove")
    declaration = Subsample(part=Release(label="sum", mechanism=noise), rate=rate, scheme="poisson")
    tail = tail_of(declaration, epsilon, 1e-2, "add_remove")
    rng = np.random.default_rng(7)
    drawn = rng.standard_normal(400_000)
    for values, sign in ((drawn + mu * (rng.random(400_000) < rate), 1), (drawn, -1)):
        loss = sign * np.log1p(rate * np.expm1(mu * values - mu**2 / 2))
        assert (loss > epsilon).mean() <= tail.above(epsilon) + 6 * math.sqrt(0.25 / 400_000)
        assert (loss > tail.exceeded_with(1e-2)).mean() <= 1e-2 + 6 * math.sqrt(1e-2 / 400_000)
    assert tail.single_gaussian is None


def test_an_adaptive_pair_can_have_a_heavier_tail_than_the_sum_of_gaussians() -> None:
    """Stopping once the loss is past epsilon doubles the tail nearly: the closed form is for one release alone."""
    total, steps, epsilon = 0.5, 200, 1.0
    rng = np.random.default_rng(3)
    step = total / math.sqrt(steps)
    increments = step**2 / 2 + step * rng.standard_normal((20_000, steps))
    stopped = (np.cumsum(increments, axis=1) > epsilon).any(axis=1).mean()
    closed = norm.cdf(total / 2 - epsilon / total)
    noise = Gaussian(stddev=1 / step, l2_sensitivity=1.0, neighbours="replace_one")
    tail = tail_of(Repeat(part=Release(label="step", mechanism=noise), times=steps), epsilon)
    assert tail.above_in_releases(epsilon) is None
    assert stopped > 1.4 * closed
    assert stopped <= tail.above(epsilon)


def test_the_smallest_exceeded_epsilon_is_that_of_its_points() -> None:
    """Of one point (epsilon, delta) it is epsilon - ln(1 - delta / p); with delta at p there is none."""
    tail = LossTail(points=((1.0, 1e-5),))
    assert tail.exceeded_with(2e-5) == pytest.approx(1 + math.log(2), rel=1e-12)
    assert tail.exceeded_with(1e-5) == math.inf
    assert tail.above(0.5) == 1.0


def test_something_taken_on_trust_has_the_tail_of_a_claim() -> None:
    """A stated part brings its epsilon and delta; the tail beyond them is that of the dominating pair's curve."""
    tail = tail_of(Stated(epsilon=0.5, delta=1e-6, source="a vendor"), 0.5 + math.log(2), 1e-5)
    assert float(Fraction(1, 10**6)) <= tail.above(0.5 + math.log(2)) <= 2.1e-6
