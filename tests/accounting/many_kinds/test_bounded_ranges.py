"""Several choices of a bounded range: Renyi divergences of the range prove less than the law that dominates each."""

import math
from collections import Counter

import mpmath
import numpy as np
import pytest

from dpaudit import Claim, Release, Repeat, Sequential, certify, verify
from dpaudit.engines.bounded_range import RANGE
from dpaudit.engines.renyi import ranged_moment
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import Composition, GaussianLoss
from dpaudit.model.measures.claims import RhoClaim
from dpaudit.verifier.curve import Worst
from dpaudit.verifier.moments import log_moments
from dpaudit.verifier.numerics.ranges import adaptive
from mechanisms import Exponential, Gaussian, Laplace


def choices(epsilon: float, times: int) -> Repeat:
    """Choices of one epsilon, one after another."""
    noise = Exponential(epsilon=epsilon, linf_sensitivity=1.0, neighbours="replace_one")
    return Repeat(part=Release(label="choice", mechanism=noise), times=times)


def claimed(epsilon: float, delta: float) -> Claim:
    """A claim about replaced data."""
    return Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")


@pytest.mark.parametrize(
    ("epsilon", "times", "delta", "attained", "proved"),
    [
        (0.1, 100, 1e-6, 2.2508, 2.2512),
        (1.0, 100, 1e-6, 34.8582, 34.8662),
        (0.02, 1000, 1e-9, 1.787, 1.7889),
        (0.5, 10, 1e-6, 3.57939, 3.57992),
    ],
)
def test_adaptive_choices_are_known_from_both_sides(
    epsilon: float, times: int, delta: float, attained: float, proved: float
) -> None:
    """A strategy attains the lower end, no strategy exceeds the upper one, and the checker confirms both."""
    certificate = certify(choices(epsilon, times), claimed(proved, delta))
    assert certificate.verdict == "certified"
    assert attained <= certificate.tight.epsilon.lower <= certificate.tight.epsilon.upper <= proved
    assert verify(certificate.to_json()).accepted


@pytest.mark.parametrize(("epsilon", "times"), [(0.3, 1), (1.0, 2), (2.5, 3), (6.0, 2)])
@pytest.mark.parametrize("at", [0.0, 0.3, 1.7])
def test_a_dense_search_over_strategies_lies_inside(epsilon: float, times: int, at: float) -> None:
    """The recursion with 400 splits at each step, by itself: no grid of ratios, 12 digits."""

    def best(x: float, left: int) -> float:
        if not left:
            return max(0.0, 1 - x)
        whole, splits = math.expm1(epsilon), np.linspace(0.0, epsilon, 400 if left < 2 else 30)
        u = (math.exp(epsilon) - np.exp(splits)) / whole
        if left == 1:
            ends = np.maximum(0.0, 1 - x * np.exp(-splits)), np.maximum(0.0, 1 - x * np.exp(epsilon - splits))
            return float((u * ends[0] + (1 - u) * ends[1]).max())
        moved = ((x * math.exp(-t), x * math.exp(epsilon - t)) for t in splits)
        return max(
            float(s) * best(a, left - 1) + float(1 - s) * best(b, left - 1) for s, (a, b) in zip(u, moved, strict=True)
        )

    held = Composition.of(Exponential(epsilon=epsilon, linf_sensitivity=1.0, neighbours="replace_one").attained_loss())
    found = RANGE.delta(held * times, at)
    exact = best(math.exp(at), times)
    assert found.lower * 0.99 - 1e-12 <= exact <= found.upper * (1 + 1e-12) + 1e-15
    low, high = adaptive(epsilon, times, at, 2e8)
    assert low <= found.upper * (1 + 1e-12)
    assert max(found.lower, exact) <= high * (1 + 1e-12)
    assert high <= found.upper * (1 + 1e-4) + 1e-15


def test_two_adaptive_choices_exceed_two_that_are_fixed() -> None:
    """Two choices of 1 at epsilon .3: .2058683, and .2025903 with splits fixed in advance."""
    loss = Exponential(epsilon=1.0, linf_sensitivity=1.0, neighbours="replace_one").attained_loss()
    found = RANGE.delta(Composition.of(loss) * 2, 0.3)
    assert 0.2058682 <= found.lower <= found.upper <= 0.205874


@pytest.mark.parametrize(("epsilon", "rho"), [(0.1, 0.00124982643), (1.0, 0.1233015615), (8.0, 4.92290754)])
def test_the_rho_of_a_choice_is_known_from_both_sides(epsilon: float, rho: float) -> None:
    """To 1e-6 on both sides, one choice or several, and both are confirmed."""
    for times in (1, 7):
        claim = RhoClaim(rho=rho * times * (1 + 1e-6), neighbours="replace_one")
        certificate = certify(choices(epsilon, times), claim)
        ((end,),) = (certificate.tight.rows,)
        assert certificate.verdict == "certified"
        assert end.upper <= end.lower * (1 + 1e-6)
        assert verify(certificate.to_json()).accepted
        below = certify(choices(epsilon, times), RhoClaim(rho=rho * times * (1 - 1e-6), neighbours="replace_one"))
        assert below.verdict == "refuted"
        assert verify(below.to_json()).accepted


def test_monotone_utilities_have_half_the_range() -> None:
    """A monotone choice of 2 is certified where one of 1 is, and an uneven pair attains its curve."""
    noise = Exponential(epsilon=2.0, linf_sensitivity=1.0, neighbours="add_remove", utilities="monotone")
    certificate = certify(Release(label="choice", mechanism=noise), Claim(epsilon=1.0, neighbours="add_remove"))
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted
    lower = certificate.delta_at(0.5).lower
    assert lower == pytest.approx((math.exp(0.5) - math.exp(0.25)) ** 2 / math.expm1(1.0), rel=1e-9)


def test_what_a_checked_pair_moves_at_once_has_no_free_choice() -> None:
    """Of two choices that one pair moves together nobody said how uneven each is: the even pair counts."""
    noise = Exponential(epsilon=1.0, linf_sensitivity=1.0, neighbours="replace_one")
    both = Sequential(parts=tuple(Release(label=label, mechanism=noise) for label in ("one", "two")))
    named = Condition(
        kind="attained", about=("one", "two"), text="A replay saw one pair move both by as much.", status="checked"
    )
    certificate = certify(both, claimed(2.0, 0.0), conditions=(named,))
    assert certificate.delta_at(0.3).lower < 0.2025903
    assert verify(certificate.to_json()).accepted


@pytest.mark.parametrize(("span", "power"), [(1e-9, 1e9), (1e-9, 3e8), (1e-6, 1e6), (1e-3, 1e6), (300.0, 1e-6)])
def test_a_moment_of_a_small_range_at_a_large_order_has_its_digits(span: float, power: float) -> None:
    """A power of 1e9 multiplied what rounding leaves of logarithms: the divergence lay 1e-5 below the truth.

    So far off is the twin, which takes the logarithms of both terms of a quotient near 1.
    """
    s = mpmath.mpf(power)
    with mpmath.workdps(60):
        e = mpmath.exp(mpmath.mpf(span))
        best = s * (e - e**-s) / ((1 + s) * (1 - e**-s))
        exact = mpmath.log(((e - best) * best**s + (best - 1) * (best / e) ** s) / (e - 1))
    powers = np.array([power])
    for found in (ranged_moment(span, powers), log_moments(("range", span), powers)):
        assert float(found[0]) == pytest.approx(float(exact), rel=1e-12, abs=1e-14)
    if (span, power) == (1e-9, 1e9):
        b, excess = -math.expm1(-power * span), math.expm1(span)
        shares = math.log(excess + b) - math.log1p(power)
        twin = power * (shares + math.log(power) - math.log(b)) + shares - math.log(excess)
        assert twin < float(exact) * (1 - 5e-6)


@pytest.mark.parametrize("power", [1e-5, 0.3, 1.0, 7.0, 400.0])
@pytest.mark.parametrize("span", [1e-3, 0.1, 2.0, 30.0])
def test_the_moment_of_a_range_is_that_of_its_worst_two_ends(power: float, span: float) -> None:
    """No loss t with t - span exceeds it, one reaches it, and it is at most that of rho = span^2 / 8."""
    found = float(ranged_moment(span, np.array([power]))[0])
    with mpmath.workdps(40):
        e, s = mpmath.exp(mpmath.mpf(span)), mpmath.mpf(power)
        ends = [1 + (e - 1) * (mpmath.mpf(n) / 400) for n in range(401)]
        moments = [((e - x) * x**s + (x - 1) * (x / e) ** s) / (e - 1) for x in ends]
        best = s * (e - e**-s) / ((1 + s) * (1 - e**-s))
        exact = mpmath.log(((e - best) * best**s + (best - 1) * (best / e) ** s) / (e - 1))
        assert 1 <= best <= e
        assert mpmath.log(max(moments)) <= exact * (1 + mpmath.mpf("1e-30"))
    assert found == pytest.approx(float(exact), rel=1e-11, abs=1e-14)
    assert found <= power * (1 + power) * span**2 / 8 * (1 + 1e-9) + 1e-15


def test_choices_beside_noise_are_proved_and_confirmed() -> None:
    """Gaussian and Laplace noise beside choices of two kinds: less than without the range, and verified."""
    noises = (
        Gaussian(stddev=8.0, l2_sensitivity=1.0, neighbours="replace_one"),
        Laplace(scale=20.0, l1_sensitivity=1.0, neighbours="replace_one"),
    )
    releases = [Release(label=noise.name, mechanism=noise) for noise in noises]
    parts: list[Declaration] = [choices(0.1, 60), choices(0.2, 20), *releases]
    certificate = certify(Sequential(parts=tuple(parts)), claimed(3.0, 1e-6))
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted
    assert certificate.tight.epsilon.lower < certificate.tight.epsilon.upper


def test_no_other_loss_has_a_range() -> None:
    loss = Exponential(epsilon=1.0, linf_sensitivity=1.0, neighbours="replace_one").loss()
    assert RANGE.covers(Composition.of(loss) * 2)
    assert not RANGE.covers(Composition.of(GaussianLoss(mu=1.0)) * 2)


@pytest.mark.parametrize("lost", [0.001, 0.05, 0.3])
def test_the_checker_counts_what_is_lost_beside_a_choice_once(lost: float) -> None:
    """Mass on one side and one choice: lost + (1 - lost) h, h being the curve of the range; twice is more."""
    span, epsilon = 1.0, 0.2
    beside = ("discrete", ((0.0, 1 - lost),), lost, lost)
    low, high = Worst([Counter({beside: 1, ("range", span): 1})]).delta(epsilon)
    curve = (math.exp(span / 2) - math.exp(epsilon / 2)) ** 2 / (math.exp(span) - 1)
    even = math.exp(span / 2) / (1 + math.exp(span / 2)) - math.exp(epsilon) / (1 + math.exp(span / 2))
    assert lost + (1 - lost) * curve <= high * (1 + 1e-9)
    assert low == pytest.approx(lost + (1 - lost) * even, rel=1e-6)
