"""A single release is bracketed at the width of rounding, and calibrated noise is certified."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from mpmath import mp, mpf

from dpaudit import Claim, NormalForm, Release, Stated, UnsupportedError, bracket_delta, bracket_epsilon, certify, fold
from dpaudit.engines import CLOSED, DEFAULT, ENGINES, QUICK, UPPERS
from dpaudit.engines.single import single_delta
from dpaudit.model import losses
from dpaudit.model.bracket import smallest_epsilon
from dpaudit.model.losses.composed import SimpleLoss
from dpaudit.model.losses.sampled_gaussian import SampledOrder
from dpaudit.model.losses.sampled_ratios import absent
from dpaudit.model.mechanism import Array
from mechanisms.discrete_gaussian import DiscreteGaussian
from mechanisms.discrete_laplace import DiscreteLaplace
from mechanisms.exponential import Exponential
from mechanisms.laplace import Laplace
from mechanisms.randomised_response import RandomisedResponse

LOSSES = (
    *(losses.LaplaceLoss(shift=shift) for shift in (1e-12, 1e-3, 0.7, 30.0, 1200.0)),
    *(
        losses.ApproximateLoss(epsilon=e, delta=d)
        for e, d in ((0.3, 0.0), (2.0, 1e-9), (40.0, 0.1), (800.0, 0.0), (0.0, 0.1))
    ),
    *(RandomisedResponse(epsilon=e, categories=5).loss() for e in (1e-6, 0.4, 30.0, 700.0)),
    *(
        losses.SampledGaussianLoss(mu=mu, rate=rate, order=order)
        for mu in (0.05, 1.0, 6.0)
        for rate in (1e-4, 0.1, 0.9)
        for order in ("remove", "add")
    ),
    losses.DiscreteLoss(atoms=((0.5, 1.0),), reverse_infinite_mass=-math.expm1(-0.5)),
)


def normal_tail(x: Array) -> Any:
    return mp.erfc(x / mp.sqrt(2)) / 2


def truth(loss: losses.Loss, epsilon: float) -> Any:
    """Return delta(epsilon) with many digits, from the laws of the two outputs."""
    with mp.workdps(120):
        e = mpf(epsilon)
        match loss:
            case losses.LaplaceLoss(shift=shift):
                return max(mpf(0), 1 - mp.exp((e - mpf(shift)) / 2))
            case losses.ApproximateLoss(epsilon=own, delta=delta):
                up, down = 1 / (1 + mp.exp(-mpf(own))), 1 / (1 + mp.exp(mpf(own)))
                return mpf(delta) + (1 - mpf(delta)) * (up - mp.exp(e) * down if epsilon < own else 0)
            case losses.DiscreteLoss(atoms=atoms, infinite_mass=mass):
                return mpf(mass) + mp.fsum(mpf(p) * max(mpf(0), 1 - mp.exp(e - mpf(v))) for v, p in atoms)
            case losses.SampledGaussianLoss(mu=mu, rate=rate, order=order):
                m, q = mpf(mu), mpf(rate)
                level = mp.exp(e) if order == "remove" else mp.exp(-e)
                if level <= 1 - q:
                    return mpf(0)
                x = mp.log((level - 1 + q) / q) / m + m / 2
                if order == "remove":
                    mixed, plain = (1 - q) * normal_tail(x) + q * normal_tail(x - m), normal_tail(x)
                    return mixed - mp.exp(e) * plain
                mixed, plain = (1 - q) * normal_tail(-x) + q * normal_tail(m - x), normal_tail(-x)
                return plain - mp.exp(e) * mixed


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_single_loss_is_bracketed_at_the_width_of_rounding(loss: SimpleLoss) -> None:
    """At small, ordinary and extreme epsilons, and beside the largest loss, the exact delta is inside."""
    composition = losses.Composition.of(loss)
    top = loss.supremum if math.isfinite(loss.supremum) else 50.0
    points = {0.0, 1e-9, top / 3, top * 0.999, math.nextafter(top, 0), top, top * (1 + 1e-15), 2 * top}
    for epsilon in points:
        low, high = single_delta(loss, epsilon)
        exact = truth(loss, epsilon)
        assert low <= exact <= high, epsilon
        if exact > 1e-9 and epsilon <= 0.999 * top:
            assert high - low <= 1e-11 * high, epsilon
    for delta in (1e-9, 1e-3, 0.2):
        bracket = CLOSED.epsilon(composition, delta)
        if math.isfinite(bracket.upper) and bracket.upper > 0:
            assert truth(loss, bracket.upper) <= delta
        if 0 < bracket.lower < math.inf:
            assert truth(loss, math.nextafter(bracket.lower, 0)) >= delta
        for engine in ENGINES:
            if engine.covers(composition):
                bracket = bracket.intersect(engine.epsilon(composition, delta))


CALIBRATED = {
    "laplace": lambda claim: Laplace.calibrated(claim, l1_sensitivity=1.0),
    "response": RandomisedResponse.calibrated,
    "response of five": lambda claim: RandomisedResponse.calibrated(claim, categories=5),
    "discrete_laplace": lambda claim: DiscreteLaplace.calibrated(claim, l1_sensitivity=2),
}
CLAIMS = ((0.1, 1e-9), (1.0, 1e-5), (1.0, 0.0), (4.0, 0.1), (0.0, 1e-6), (30.0, 1e-3))
SLOWER = {
    "discrete_gaussian": lambda claim: DiscreteGaussian.calibrated(claim, l2_sensitivity=1),
    "exponential": lambda claim: Exponential.calibrated(claim, linf_sensitivity=1.0),
}


@pytest.mark.parametrize(
    ("build", "epsilon", "delta"),
    [
        *(pytest.param(build, *claim, id=f"{name}-{claim}") for name, build in CALIBRATED.items() for claim in CLAIMS),
        *(pytest.param(build, 1.0, 1e-5, id=name) for name, build in SLOWER.items()),
    ],
)
def test_calibrated_noise_is_certified(build: Callable[..., Any], epsilon: float, delta: float) -> None:
    """What `calibrated` returns for a claim gets a certificate for that claim, at delta 0 and above it."""
    claim = Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")
    assert certify(Release(label="release", mechanism=build(claim)), claim).verdict == "certified"


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 20.0, 30.0, 36.0, 40.0, 100.0, 700.0])
@pytest.mark.parametrize("categories", [3, 5, 1000])
def test_the_loss_of_a_response_exists_up_to_its_largest_epsilon(epsilon: float, categories: int) -> None:
    """Probabilities of the three losses are those of the report to 1e-14, the lie's included."""
    response = RandomisedResponse(epsilon=epsilon, categories=categories)
    found = dict(response.loss().atoms)
    total = 1 + (categories - 1) * mp.exp(-mpf(epsilon))
    assert abs(found[-epsilon] / (mp.exp(-mpf(epsilon)) / total) - 1) <= 1e-13
    assert abs(found[epsilon] * total - 1) <= 1e-14


def test_smallest_epsilon_returns_only_what_it_has_tested() -> None:
    """A curve that stays above delta gives infinity, a step gives a point beyond it."""
    assert smallest_epsilon(lambda epsilon: 0.5, 0.1) == math.inf
    found = smallest_epsilon(lambda epsilon: 0.5 if epsilon < 3 else 0.0, 0.1)
    assert found == 3.0


def test_engines_that_cover_nothing_are_named() -> None:
    """Asking only for the composition of pure parts refuses a Gaussian in words."""
    form = fold(Stated(epsilon=1.0, source="a supplier"), "add_remove")
    gaussian = NormalForm(upper=(losses.Composition.of(losses.GaussianLoss(mu=1.0)),), lower=form.lower)
    with pytest.raises(UnsupportedError, match="tilted covers this composition"):
        bracket_epsilon(gaussian, 1e-5, DEFAULT.by("tilted"))


def test_a_certain_answer_is_refuted_beside_anything_else() -> None:
    """A loss that is infinite for certain, alone, three times or next to noise: delta is 1, and no epsilon will do."""
    certain = losses.Composition.of(losses.DiscreteLoss(atoms=(), infinite_mass=1.0, reverse_infinite_mass=1.0))
    for held in (certain, certain * 3, certain + losses.Composition.of(losses.LaplaceLoss(shift=1.0)) * 5):
        form = NormalForm(upper=(held,), lower=(held,))
        assert bracket_epsilon(form, 1e-5).lower == math.inf
        assert bracket_delta(form, 1.0).lower == 1.0


def test_the_worst_alternative_counts_for_every_set_of_engines_wherever_it_stands() -> None:
    """The smaller of two losses first or last: all engines, those for searches, and any others that are asked agree."""
    small, large = (
        losses.Composition.of(losses.LaplaceLoss(shift=0.5)) * 3,
        losses.Composition.of(DiscreteLaplace(scale=2.0, l1_sensitivity=3, neighbours="replace_one").loss()) * 3,
    )
    some = (("tilted",), ("closed", "renyi"), ("closed", "tilted"))
    for precision in (DEFAULT, QUICK, UPPERS, *(DEFAULT.by(*names) for names in some)):
        uppers = [
            bracket_delta(NormalForm(upper=order, lower=order), 1.0, precision).upper
            for order in ((small, large), (large, small), (large,))
        ]
        assert uppers[0] == uppers[1] == uppers[2]
        assert uppers[0] > bracket_delta(NormalForm(upper=(small,), lower=(small,)), 1.0, precision).upper


@pytest.mark.parametrize("rate", [1e-60, 1e-20, 1e-9, 0.3])
@pytest.mark.parametrize("mu", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("order", ["remove", "add"])
def test_rare_shifts_keep_what_they_take_from_the_heaviest_one(mu: float, rate: float, order: SampledOrder) -> None:
    """Both ends of a mixture bracket the sampled Gaussian loss; beside a weight that rounds to 1 it is as narrow."""
    sampled = losses.SampledGaussianLoss(mu=mu, rate=rate, order=order)
    removed = losses.MixtureLoss(above=((0.0, absent(rate)), (mu, rate)), below=((0.0, 1.0),))
    mixed = removed if order == "remove" else removed.reversed()
    for epsilon in (0.0, rate / 3, rate, 0.1 * min(mu, 1.0)):
        (low, high), (least, most) = single_delta(mixed, epsilon), single_delta(sampled, epsilon)
        assert max(low, least) <= min(high, most), epsilon
        if most > max(1e-3 * rate, 1e-70):
            assert high - low <= 1e-9 * high, epsilon


def test_weights_as_floats_hide_a_rare_shift() -> None:
    """The broken twin: what a record takes from the weight of its absence is lost where both weights are 1."""
    removed = losses.MixtureLoss(above=((0.0, absent(1e-20)), (1.0, 1e-20)), below=((0.0, 1.0),))
    by_floats = sum(math.erfc((0.5 - shift) / math.sqrt(2)) / 2 * w for shift, w in ((0.0, 1.0 - 1.0), (1.0, 1e-20)))
    assert by_floats > 1.5 * single_delta(removed, 0.0)[1]
