"""The largest loss of pure releases on a sample, and of black boxes: the known sum, and never below the theorem's."""

import json
import math
from decimal import Decimal, localcontext

import mpmath
import pytest

from dpaudit import Claim, Release, Repeat, Stated, Subsample, bracket_delta, bracket_epsilon, certify, fold
from dpaudit.model.losses import LaplaceLoss, SampledLoss
from dpaudit.verifier import verify
from mechanisms import Laplace, RandomisedResponse
from tests.accounting.amplification.named_pairs import NAMED


def sampled(mechanism: Laplace | RandomisedResponse, rate: float, times: int) -> Repeat:
    """A release on a Poisson sample, so many times."""
    part = Release(label="answer", mechanism=mechanism)
    return Repeat(part=Subsample(part=part, rate=rate), times=times)


@pytest.mark.parametrize("times", [1, 3, 40])
@pytest.mark.parametrize(("scale", "rate"), [(2.0, 0.1), (0.5, 0.01), (10.0, 0.9)])
def test_epsilon_at_delta_zero_is_the_known_sum(scale: float, rate: float, times: int) -> None:
    """Laplace noise: the claim next above the sum is certified and verified, the one next below it refuted."""
    truth = times * math.log1p(rate * math.expm1(1 / scale))
    tree = sampled(Laplace(scale=scale, l1_sensitivity=1.0, neighbours="add_remove"), rate, times)
    for factor, verdict in ((1 + 1e-9, "certified"), (1 - 1e-9, "refuted")):
        found = certify(tree, Claim(epsilon=truth * factor, neighbours="add_remove"))
        assert found.verdict == verdict
        assert truth * (1 - 1e-11) <= found.tight.epsilon.lower <= truth <= found.tight.epsilon.upper * (1 + 1e-15)
        assert found.tight.epsilon.upper <= truth * (1 + 1e-12)
        checked = verify(found.to_json())
        assert not checked.complaints, checked
        assert checked.accepted or verdict == "refuted", checked


@pytest.mark.parametrize(("end", "factor"), [("lower", 1 + 1e-6), ("upper", 1 - 1e-6)])
def test_an_end_beyond_the_largest_loss_is_no_longer_confirmed(end: str, factor: float) -> None:
    """The broken twins: a lower end above the sum, and an upper end below it."""
    tree = sampled(Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove"), 0.1, 3)
    data = json.loads(certify(tree, Claim(epsilon=0.3, neighbours="add_remove")).to_json())
    data["tight"]["epsilon"][end] *= factor
    assert not verify(json.dumps(data)).accepted


def test_a_sampled_response_has_the_same_form() -> None:
    """Randomised response of epsilon 1 on a set of a fifth of all records, one of them replaced."""
    mechanism = RandomisedResponse(epsilon=1.0, categories=2)
    part = Subsample(part=Release(label="answer", mechanism=mechanism), rate=0.2, scheme="without_replacement")
    found = certify(Repeat(part=part, times=2), Claim(epsilon=0.6, neighbours="replace_one"), conditions=(NAMED,))
    truth = 2 * math.log1p(0.2 * math.expm1(1.0))
    assert found.verdict == "certified"
    assert found.tight.epsilon.lower == pytest.approx(truth, rel=1e-11)
    assert found.tight.epsilon.upper == pytest.approx(truth, rel=1e-11)


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize("rate", [1e-300, 1e-9, 0.3, 0.5, 0.9999, 1 - 2.0**-53])
@pytest.mark.parametrize("shift", [1e-6, 0.3, 7.0, 120.0, 690.0])
def test_the_bound_is_above_sixty_digits(order: str, rate: float, shift: float) -> None:
    """Both orders, where the sum is tiny, near one half and next to one."""
    loss = SampledLoss(inside=((LaplaceLoss(shift=shift), 1),), rate=rate)
    with localcontext() as context:
        context.prec = 400
        share, moved = Decimal(repr(rate)), (Decimal(shift) * (1 if order == "remove" else -1)).exp()
        known = (1 - share + share * moved).ln() * (1 if order == "remove" else -1)
    found = Decimal((loss if order == "remove" else loss.reversed()).supremum)
    assert known <= found <= known * (1 + Decimal("1e-12")) + Decimal("1e-299")


def test_a_tiny_sample_is_not_known_from_below() -> None:
    """At rate 1e-300 the bound on the largest loss is 1e-300 too large, so that no lower end may rest on it."""
    part = Release(label="answer", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove"))
    found = certify(Subsample(part=part, rate=1e-300), Claim(epsilon=2e-300, neighbours="add_remove"))
    assert found.verdict != "refuted"
    assert found.tight.epsilon.lower <= 1e-300 * math.expm1(1.0) <= found.tight.epsilon.upper


def test_a_stated_part_on_a_sample_is_known_atom_by_atom() -> None:
    """From ln(1 + q (e^epsilon - 1)) on delta is q times the stated one: no knots lie between."""
    rate, epsilon, delta = 60 / 2185, 0.0014713809817, 3.4e-10
    part = Subsample(part=Stated(epsilon=epsilon, delta=delta, source="a vendor"), rate=rate)
    largest = math.log1p(rate * math.expm1(epsilon))
    found = bracket_delta(fold(part, "add_remove"), largest * (1 + 1e-9))
    assert found.upper == pytest.approx(rate * delta, rel=1e-12)
    assert bracket_epsilon(fold(part, "add_remove"), 1.01 * rate * delta).upper == pytest.approx(largest, rel=1e-6)
    far = Subsample(part=Stated(epsilon=800.0, delta=delta, source="a vendor"), rate=rate)
    assert bracket_delta(fold(far, "add_remove"), 1.0).upper >= rate * -math.expm1(1.0 - 800.0)


CASES = [
    (1.0, 1e-12, 1e-9, 1),
    (0.5, 1e-15, 1e-3, 10**6),
    (3.0, 0.0, 1e-12, 1),
    (1e-8, 1e-9, 0.3, 7),
    (5.0, 1e-6, 0.9, 2),
]


@pytest.mark.parametrize(("epsilon", "delta", "rate", "times"), CASES)
def test_the_amplified_budget_is_rounded_up(epsilon: float, delta: float, rate: float, times: int) -> None:
    """ln(1 + q (e^epsilon - 1)) and q delta of the whole part: Balle, Barthe and Gaboardi (2018), Theorem 8."""
    part = Repeat(part=Stated(epsilon=epsilon / times, delta=delta, source="x"), times=times)
    (found,) = fold(Subsample(part=part, rate=rate), "add_remove").upper
    ((loss, _),) = found.parts
    with mpmath.workdps(60):
        whole = times * mpmath.mpf(epsilon / times)
        grown = mpmath.log1p(mpmath.mpf(rate) * mpmath.expm1(whole))
        lost = mpmath.mpf(rate) * (1 - (1 - mpmath.mpf(delta)) ** times)
        assert grown <= mpmath.mpf(loss.supremum) <= grown * (1 + mpmath.mpf("1e-12"))
        assert lost * (1 - mpmath.mpf("1e-15")) <= mpmath.mpf(loss.infinite_mass) <= lost * (1 + mpmath.mpf("1e-9"))
