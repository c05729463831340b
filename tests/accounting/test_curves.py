"""Curves of a declaration: exact values, laws, brackets around independent truths, and broken twins that they catch."""

import math
from collections.abc import Callable
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtri
from scipy.stats import norm

from dpaudit import Certificate, Claim, Condition, Release, Repeat, Stated, Subsample, certify, verify
from dpaudit.accounting.additive_costs import squared_mu
from dpaudit.accounting.curves.gaussian_dp import _cell, mu_above
from dpaudit.accounting.curves.groups import chained, of_group
from dpaudit.accounting.curves.hockey_stick import HockeyStick, hockey_stick
from dpaudit.accounting.curves.renyi_divergence import renyi_of_loss
from dpaudit.accounting.curves.table import CurveKind, CurveTable
from dpaudit.accounting.curves.tails import tail_of_pair
from dpaudit.accounting.curves.trade_off import trade_off_bounds
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines.gaussian import gaussian_delta, mu_of_bounded
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import ApproximateLoss, Composition, GaussianLoss, LaplaceLoss, SampledGaussianLoss
from mechanisms import DiscreteGaussian, Gaussian, Laplace

UNIT = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
SAMPLED = Subsample(part=Release(label="sum", mechanism=UNIT), rate=0.01)


def certificate_of(declaration: Declaration, epsilon: float = 1.0) -> Certificate:
    """Return the certificate of a declaration at some claim."""
    return certify(declaration, Claim(epsilon=epsilon, delta=1e-5, neighbours="add_remove"))


def laplace(shift: float) -> Release:
    """Return one release with Laplace noise."""
    return Release(label="count", mechanism=Laplace(scale=1 / shift, l1_sensitivity=1.0, neighbours="add_remove"))


def exact_stick(loss: GaussianLoss | LaplaceLoss, points: int = 200) -> HockeyStick:
    """Return brackets of one loss."""
    form = Composition.of(loss)
    return hockey_stick(NormalForm(upper=(form,), lower=(form,)), violated=False, points=points)


def ends(table: CurveTable, name: str) -> tuple[float, float]:
    """Return both ends of a number that sums a curve up."""
    (found,) = (known for known in table.ranges if known.name == name)
    return found.lower, found.upper


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_the_trade_off_curve_of_a_gaussian_is_known(mu: float) -> None:
    """f(a) = Phi(Phi^-1(1 - a) - mu) (Dong, Roth and Su 2022, equation 6); the bracket holds it and is narrow."""
    levels = np.linspace(0.001, 0.999, 200)
    low, high = trade_off_bounds(exact_stick(GaussianLoss(mu=mu)), levels)
    truth = norm.cdf(norm.ppf(1 - levels) - mu)
    assert np.all(low <= truth)
    assert np.all(truth <= high)
    assert float((high - low).max()) < 2e-3


def test_the_trade_off_curve_of_randomised_response_has_its_corner() -> None:
    """For epsilon 1 the curve passes through (1 / (1 + e), 1 / (1 + e)), the corner of two lines."""
    stick = HockeyStick(epsilons=(0.0, 1.0), lower=(math.tanh(0.5), 0.0), upper=(math.tanh(0.5), 0.0))
    corner = 1 / (1 + math.e)
    low, high = trade_off_bounds(stick, np.array([corner, corner / 2]))
    assert low[0] == pytest.approx(corner, abs=1e-12)
    assert low[0] <= corner <= high[0] <= corner + 1e-12
    assert low[1] == pytest.approx(1 - math.e * corner / 2, abs=1e-12)


@pytest.mark.parametrize("shift", [0.2, 1.0, 4.0])
def test_chords_and_corners_hold_the_curve_between_them(shift: float) -> None:
    """At random places, of both signs, h of a Laplace release lies between the corners' curve and the chords."""
    loss, rng = LaplaceLoss(shift=shift), np.random.default_rng(5)
    stick = exact_stick(loss, 9)
    at = rng.uniform(-1.3 * shift, 1.3 * shift, 400)
    truth = np.array([loss.hockey_stick(e) for e in at])
    assert np.all(stick.above(at) >= truth - 1e-15)
    places, heights = stick.vertices()
    assert np.all(np.interp(np.exp(at), places, heights) <= truth + 1e-13)


def test_a_chord_from_below_is_caught() -> None:
    """Broken twin: joining the lower ends by chords is no lower bound of a convex curve."""
    loss = LaplaceLoss(shift=1.0)
    stick = exact_stick(loss, 5)
    at = np.linspace(0.05, 0.95, 50)
    truth = np.array([loss.hockey_stick(e) for e in at])
    assert np.any(np.interp(np.exp(at), np.exp(stick.epsilons), stick.lower) > truth + 1e-6)


@pytest.mark.parametrize(
    ("declaration", "star"),
    [
        (laplace(1.0), 1.0300640),
        (Stated(epsilon=1.0, source="randomised response"), -2 * float(ndtri(1 / (1 + math.e)))),
        (Release(label="sum", mechanism=UNIT), 1.0),
        (SAMPLED, 1.0),
    ],
    ids=["laplace", "response", "gaussian", "sampled"],
)
def test_mu_star_is_known(declaration: Declaration, star: float) -> None:
    """Laplace noise and randomised response have it at epsilon 0; a sample does not lower it at all."""
    low, high = ends(certificate_of(declaration).curve("gdp"), "mu_star")
    assert high == pytest.approx(star, abs=2e-7)
    assert high >= star - 5e-8
    assert low <= star + 5e-8
    assert isinstance(declaration, Stated) or low == pytest.approx(star, abs=2e-7)


def test_mu_of_rare_steps_covers_the_event_that_each_shows_the_record() -> None:
    """The curve ends at 12 nats, and its last chord counted as covered by a tangent that falls below 0: 1.128."""
    shift, rate, times = 20.0, 1e-6, 2
    seen, unseen = (rate + (1 - rate) * math.exp(-shift)) / 2, math.exp(-shift) / 2
    shown = float(ndtri(seen**times) - ndtri(unseen**times))
    assert shown > 1.5
    steps = Repeat(part=Subsample(part=laplace(shift), rate=rate), times=times)
    assert certify(steps, Claim(mu=shown * 0.999, neighbours="add_remove")).verdict != "certified"


@pytest.mark.parametrize("largest", [1e-300, 1e-20, 1e-9, 1e-4, 0.999, 1.0, 5.0, 60.0])
def test_mu_of_a_small_bounded_loss_has_its_digits(largest: float) -> None:
    """From 1 / (1 + e^epsilon) it was 0 at 1e-17: mu = 0 was certified, and parts were free in a budget of mu."""
    with mpmath.workdps(400):
        tail = 1 / (1 + mpmath.exp(mpmath.mpf(repr(largest))))
        exact = 2 * mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * tail)
        assert exact <= mu_of_bounded(largest) <= exact * (1 + 1e-11)


def test_a_loss_too_small_for_one_and_e_to_it_has_a_mu() -> None:
    """The twin, 2 Phi^-1 of e^epsilon / (1 + e^epsilon) in floats, is 0."""
    assert -2 * ndtri(1 / (1 + math.exp(1e-20))) == 0
    cost = squared_mu(LaplaceLoss(shift=1e-20))
    assert cost is not None
    assert cost.amount > 0
    small = Release(label="count", mechanism=Laplace(scale=1e20, l1_sensitivity=1.0, neighbours="add_remove"))
    certificate = certify(Repeat(part=small, times=2), Claim(mu=0.0, neighbours="add_remove"))
    assert certificate.verdict != "certified"
    assert not verify(certificate.to_json()).complaints


def test_a_tangent_below_0_covers_no_chord() -> None:
    """The chord from (0, .2) to (1, 0) in epsilon needs a larger mu than its left end alone, which the twin gives."""
    needed, twin = _cell((0.0, 0.2, 1.0, 0.0)), mu_above(0.0, 0.2)
    middle = math.log((1 + math.e) / 2)
    assert gaussian_delta(needed, middle)[1] >= 0.1 > gaussian_delta(twin, middle)[1]


@pytest.mark.parametrize(("epsilon", "mu"), [(0.0, 0.0096), (1.0, 0.1878), (6.0, 0.5572)])
def test_mu_along_a_sampled_gaussian_grows_to_the_whole_one(epsilon: float, mu: float) -> None:
    """Rate .01, mu 1, one step: .0096 at 0, .1878 at 1, .5572 at 6; whoever reads mu at 0 alone is off by 100."""
    stick = hockey_stick(form_of(SAMPLED), violated=False, points=3, also=(epsilon,))
    place = stick.epsilons.index(epsilon)
    from_below, from_above = certificate_mu(stick, place)
    assert from_below == pytest.approx(mu, abs=1e-4)
    assert from_above == pytest.approx(mu, abs=1e-4)


def form_of(declaration: Declaration) -> NormalForm:
    """Return the normal form of a declaration."""
    from dpaudit import fold

    return fold(declaration, "add_remove")


def certificate_mu(stick: HockeyStick, place: int) -> tuple[float, float]:
    """Return both sides of mu at one knot."""
    from dpaudit.accounting.curves.gaussian_dp import mu_above, mu_below

    epsilon = stick.epsilons[place]
    return mu_below(epsilon, stick.lower[place]), mu_above(epsilon, stick.upper[place])


def renyi_by_integral(stick: Callable[[float], float], other: Callable[[float], float], order: float) -> float:
    """Return the divergence from both curves: 1 + a (a - 1) int (e^((a-1)e) delta(e) + e^(-a e) delta'(e)) de."""
    inside = quad(lambda e: math.exp((order - 1) * e) * stick(e) + math.exp(-order * e) * other(e), 0, 60, limit=400)[0]
    return math.log1p(order * (order - 1) * inside) / (order - 1)


def test_the_sampled_gaussian_has_its_divergence_both_ways() -> None:
    """Rate .1, mu 1, order 3: .0317123003, by the closed form and by the integral of the curves."""
    loss = SampledGaussianLoss(mu=1.0, rate=0.1, order="remove")
    low, high = renyi_of_loss(loss, 3.0)
    assert low <= 0.0317123003 + 5e-11
    assert high >= 0.0317123003 - 5e-11
    assert high - low < 1e-11
    integral = renyi_by_integral(loss.hockey_stick, loss.reversed().hockey_stick, 3.0)
    assert integral == pytest.approx(0.0317123003, abs=2e-9)


@pytest.mark.parametrize("shift", [0.1, 1.0, 3.0])
def test_rho_of_laplace_noise_is_its_limit_at_order_one(shift: float) -> None:
    """rho = x - 1 + e^-x, seen from both sides."""
    with mpmath.workdps(40):
        x = mpmath.mpf(repr(shift))
        truth = float(x + mpmath.expm1(-x))
    low, high = ends(certificate_of(laplace(shift)).curve("zcdp"), "rho")
    assert low <= truth * (1 + 1e-12)
    assert truth <= high <= truth * (1 + 1e-5)
    assert low >= truth * (1 - 1e-5)


def test_rho_of_a_sampled_bounded_loss_is_at_most_that_of_its_largest_loss() -> None:
    """50 steps of Laplace noise at rate .01 have .0073; the twin, what the whole releases have, is 18.4."""
    largest = math.log1p(0.01 * math.expm1(1.0))
    box = 50 * largest * math.tanh(largest / 2)
    steps = Repeat(part=Subsample(part=laplace(1.0), rate=0.01), times=50)
    certificate = certify(steps, Claim(rho=box * (1 + 1e-6), neighbours="add_remove"))
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted
    assert 50 * math.exp(-1) > 2000 * box


def test_rho_of_a_sample_is_that_of_the_whole() -> None:
    """Ten sampled steps of mu 1: rho is 10 / 2; no order shows amplification in the supremum."""
    low, high = ends(certificate_of(Repeat(part=SAMPLED, times=10)).curve("zcdp"), "rho")
    assert low == pytest.approx(5.0, rel=1e-11)
    assert low <= 5.0 <= high


@pytest.mark.parametrize("mu", [0.26805, 1.0, 3.0])
def test_the_tail_of_a_gaussian_is_known(mu: float) -> None:
    """P(L > epsilon) = Phi(mu / 2 - epsilon / mu); at mu .26805 and epsilon 1 it is 1.612e-4."""
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        truth = float(norm.cdf(mu / 2 - epsilon / mu))
        low, high = tail_of_pair(Composition.of(GaussianLoss(mu=mu)), epsilon)
        assert low <= truth <= high <= truth * (1 + 1e-3) + 1e-12
        assert low >= truth * (1 - 1e-3) - 1e-12


def test_the_tail_of_many_sampled_steps() -> None:
    """Rate .01, mu 1, 10^4 steps, removed: P(L > 6.187) = 4.06e-5, four times the delta of 1e-5 there."""
    steps = Composition.of(SampledGaussianLoss(mu=1.0, rate=0.01, order="remove")) * 10_000
    low, high = tail_of_pair(steps, 6.187)
    assert low <= 4.06e-5 <= high
    assert high - low <= 0.06 * high


def test_two_records_of_a_laplace_release_are_one_of_twice_the_shift() -> None:
    """Laplace .5 twice is Laplace 1: .3296799540 at epsilon .2, never less, and by the group's own form exactly."""
    single = exact_stick(LaplaceLoss(shift=0.5), 200)
    twice = chained(single, single)
    for epsilon, bound in zip(twice.epsilons, twice.upper, strict=True):
        truth = LaplaceLoss(shift=1.0).hockey_stick(epsilon)
        assert truth <= bound <= truth + 2e-4
    assert LaplaceLoss(shift=1.0).hockey_stick(0.2) == pytest.approx(0.3296799540, abs=2e-10)
    table = certificate_of(laplace(0.5), epsilon=0.2).curve("group")
    for epsilon, low, high in table.rows:
        assert high == pytest.approx(LaplaceLoss(shift=1.0).hockey_stick(epsilon), abs=1e-12)
        assert low <= LaplaceLoss(shift=0.5).hockey_stick(epsilon) + 1e-12


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_group_of_gaussian_records_is_never_below_the_truth(size: int) -> None:
    """Records that share a query move it `size` mu; the chain's bound holds that, and doubling mu only is caught."""
    found = of_group(exact_stick(GaussianLoss(mu=0.4)), size)
    for epsilon, bound in zip(found.epsilons, found.upper, strict=True):
        assert bound >= GaussianLoss(mu=0.4 * size).hockey_stick(epsilon) * (1 - 1e-9)


def test_what_is_only_stated_has_no_lower_side() -> None:
    """Somebody else's claim bounds from above alone."""
    certificate = certificate_of(Stated(epsilon=0.5, delta=1e-6, source="a vendor"))
    assert set(certificate.curve("renyi").column("upper")) == {math.inf}
    assert set(certificate.curve("tail").column("lower")) == {0.0}
    assert ends(certificate.curve("gdp"), "mu_star")[1] == math.inf


def test_a_violated_condition_leaves_no_upper_side() -> None:
    """With a condition seen violated nothing is proved from above, of any curve."""
    whole = certificate_of(laplace(1.0))
    violated = Condition(kind="sensitivity", about=("count",), status="violated")
    broken = Certificate(
        **{name: getattr(whole, name) for name in Certificate.__dataclass_fields__ if name != "conditions"},
        conditions=(violated,),
    )
    assert set(broken.curve("tradeoff").column("lower")) == {0.0}
    assert set(broken.curve("renyi").column("upper")) == {math.inf}
    assert ends(broken.curve("zcdp"), "rho")[1] == ends(broken.curve("gdp"), "mu_star")[1] == math.inf
    assert set(broken.curve("tail").column("upper")) == {1.0}
    assert set(broken.curve("group").column("upper")) == {1.0}


def test_brackets_must_be_in_order() -> None:
    """A curve without two knots, or with a bracket upside down, cannot be made."""
    with pytest.raises(ValueError, match="Expected brackets"):
        HockeyStick(epsilons=(0.0,), lower=(0.1,), upper=(0.1,))
    good = exact_stick(LaplaceLoss(shift=1.0), 4)
    with pytest.raises(ValueError, match="Expected brackets"):
        replace(good, lower=good.upper, upper=tuple(0.0 for _ in good.upper))


def test_order_one_has_no_divergence_here() -> None:
    """Orders at or below 1 are refused in one line."""
    with pytest.raises(ValueError, match="above 1"):
        renyi_of_loss(ApproximateLoss(epsilon=1.0), 1.0)


@pytest.mark.parametrize("kind", ["group", "tradeoff"])
def test_a_curve_has_as_many_rows_as_points_and_no_other_bounds(kind: CurveKind) -> None:
    certificate = certificate_of(laplace(0.5), epsilon=0.2)
    few, many = (certificate.curve(kind, points=points) for points in (3, 60))
    assert (len(few.rows), len(many.rows)) == (3, 60)
    assert few.rows[-1][0] == many.rows[-1][0]
    assert few.rows[-1][1:] == pytest.approx(many.rows[-1][1:], abs=1e-3)


def test_rho_of_a_curve_is_that_of_the_certificate() -> None:
    """The atoms of discrete Gaussian noise lack what lies far out; its rho is a theorem's all the same."""
    noise = DiscreteGaussian(stddev=2.0, l2_sensitivity=1, neighbours="replace_one")
    certificate = certify(Release(label="n", mechanism=noise), Claim(rho=0.125, neighbours="replace_one"))
    rho = certificate.curve("zcdp").ranges[0]
    assert certificate.verdict == "certified"
    assert rho.upper == 0.125
    assert rho.lower == pytest.approx(0.125, rel=1e-6)
    assert certificate.curve("renyi").column("upper")[2] == pytest.approx(2 * 0.125)
