"""Laplace noise under a Euclidean sensitivity: its largest loss is irrational, and bounded from both sides."""

import math
from fractions import Fraction
from itertools import product

import pytest

from dpaudit import Claim, Release, certify
from dpaudit.checks import meant
from dpaudit.model.losses import LaplaceLoss
from dpaudit.model.readings import Verdict
from dpaudit.verifier import verify
from mechanisms import BallLaplace

CASES = list(product((2, 3, 5, 7, 10, 50, 12_345), ((1.0, 1.0), (3.0, 2.0), (0.1, 0.3))))


def verdict_at(noise: BallLaplace, epsilon: float) -> Verdict:
    """The verdict on a pure claim."""
    return certify(Release(label="x", mechanism=noise), Claim(epsilon=epsilon, neighbours="replace_one")).verdict


def squared(dimension: int, sensitivity: float, scale: float) -> Fraction:
    """The square of the largest loss, which is a ratio."""
    return dimension * (meant(sensitivity) / meant(scale)) ** 2


@pytest.mark.parametrize(("dimension", "sizes"), CASES)
def test_the_loss_lies_above_the_root_and_what_is_attained_below(dimension: int, sizes: tuple[float, float]) -> None:
    """As decimals, against the exact square; the nearest float would lie on the wrong side in many cases."""
    noise = BallLaplace(dimension=dimension, l2_sensitivity=sizes[0], scale=sizes[1], neighbours="replace_one")
    above, ((each, times),) = noise.loss(), noise.attained_loss().parts
    assert isinstance(each, LaplaceLoss)
    truth = squared(dimension, *sizes)
    assert (times * each.exact) ** 2 < truth < above.exact**2
    assert above.exact / (times * each.exact) < 1 + Fraction(1, 2**50)


def test_the_nearest_float_would_often_be_on_the_wrong_side() -> None:
    """The broken twin: the root in floating point, as it was, certifies claims that are false by a last digit."""
    wrong = [d for d, sizes in CASES if meant(math.sqrt(d) * sizes[0] / sizes[1]) ** 2 < squared(d, *sizes)]
    assert len(wrong) >= 3


@pytest.mark.parametrize(("dimension", "sizes"), CASES[::2])
def test_a_pure_claim_beside_the_root_is_certified_only_if_it_is_true(
    dimension: int, sizes: tuple[float, float]
) -> None:
    """Three floats next to each other: never certified below the root, never refuted above it."""
    noise = BallLaplace(dimension=dimension, l2_sensitivity=sizes[0], scale=sizes[1], neighbours="replace_one")
    truth, near = squared(dimension, *sizes), noise.loss().shift
    for epsilon in (math.nextafter(near, 0), near, math.nextafter(near, 99), near * (1 - 1e-9)):
        verdict = verdict_at(noise, epsilon)
        assert verdict != ("certified" if meant(epsilon) ** 2 < truth else "refuted")


@pytest.mark.parametrize("dimension", [1, 2, 4, 7, 50])
def test_a_calibrated_one_is_certified_and_verified(dimension: int) -> None:
    """To its claim, at most a millionth more noise than needed."""
    for epsilon in (0.1, 0.7, 3.0):
        claim = Claim(epsilon=epsilon, neighbours="replace_one")
        noise = BallLaplace.calibrated(claim, dimension=dimension, l2_sensitivity=3.0)
        certificate = certify(Release(label="x", mechanism=noise), claim)
        assert certificate.verdict == "certified"
        assert verify(certificate.to_json()).complaints == ()
        assert noise.scale == pytest.approx(math.sqrt(dimension) * 3.0 / epsilon, rel=1e-6)
