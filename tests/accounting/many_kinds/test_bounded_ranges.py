"""Several choices of a bounded range: Renyi divergences of the range prove less than the law that dominates each."""

import json
import math
from typing import Any

import mpmath
import numpy as np
import pytest

from dpaudit import Claim, Release, Repeat, Sequential, certify, verify
from dpaudit.engines.renyi import RANGED, ranged_moment
from dpaudit.model.certificate import digest_of
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import Composition, GaussianLoss
from mechanisms import Exponential, Gaussian, Laplace


def choices(epsilon: float, times: int) -> Repeat:
    """Choices of one epsilon, one after another."""
    noise = Exponential(epsilon=epsilon, linf_sensitivity=1.0, neighbours="replace_one")
    return Repeat(part=Release(label="choice", mechanism=noise), times=times)


def claimed(epsilon: float, delta: float) -> Claim:
    """A claim about replaced data."""
    return Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")


@pytest.mark.parametrize(
    ("epsilon", "times", "delta", "proved"),
    [(0.1, 100, 1e-6, 2.40020), (1.0, 100, 1e-6, 36.3631), (0.02, 1000, 1e-9, 1.87960), (0.5, 10, 1e-6, 3.63235)],
)
def test_choices_compose_by_their_range(epsilon: float, times: int, delta: float, proved: float) -> None:
    """The numbers of the range's Renyi divergences; the checker confirms each, and rho alone gives more."""
    certificate = certify(choices(epsilon, times), claimed(proved * 1.0001, delta))
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.upper == pytest.approx(proved, rel=1e-5)
    assert verify(certificate.to_json()).accepted
    rho = times * epsilon**2 / 8
    orders = 1 + np.geomspace(1e-3, 1e6, 20_000)
    by_rho = orders * rho + (math.log(1 / delta) + (orders - 1) * np.log1p(-1 / orders) - np.log(orders)) / (orders - 1)
    assert proved < by_rho.min()


def test_a_smaller_end_is_not_accepted() -> None:
    """Twin: what the range does not prove is said by hand."""
    data: dict[str, Any] = json.loads(certify(choices(0.1, 100), claimed(2.41, 1e-6)).to_json())
    data["tight"]["epsilon"]["upper"] = 2.35
    data["tight"]["delta"]["upper"] = 7e-7
    data["reasons"][0] = data["reasons"][0].replace("2.4002", "2.35").replace("2.41", "2.41")
    del data["digest"]
    assert not verify(json.dumps(data | {"digest": digest_of(data)})).accepted


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


def test_one_choice_keeps_its_own_curve() -> None:
    """A single release has an exact curve, and no other loss a range."""
    loss = Exponential(epsilon=1.0, linf_sensitivity=1.0, neighbours="replace_one").loss()
    assert not RANGED.covers(Composition.of(loss))
    assert RANGED.covers(Composition.of(loss) * 2)
    assert not RANGED.covers(Composition.of(GaussianLoss(mu=1.0)) * 2)
