"""Renyi divergences and rho of a replaced record on a Poisson sample, beside 40 digits."""

from typing import Any, Literal
from unittest.mock import PropertyMock

import mpmath
import pytest

from dpaudit import Claim, Release, Subsample, certify, verify
from dpaudit.accounting.curves import mixture_moments
from dpaudit.accounting.curves.measures import rho_between
from dpaudit.accounting.curves.renyi_divergence import renyi_of_loss
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.model.losses import Composition, MixtureLoss
from mechanisms import Gaussian, Laplace

Noise = Literal["gaussian", "laplace"]
CASES: list[tuple[Noise, float, float, float]] = [
    ("gaussian", 1.0, 0.1, 2.0),
    ("gaussian", 1.0, 0.1, 8.0),
    ("gaussian", 0.3, 1e-6, 1.5),
    ("gaussian", 2.0, 0.9, 3.3),
    ("laplace", 1.0, 0.1, 2.0),
    ("laplace", 3.0, 1e-6, 12.5),
    ("laplace", 0.2, 0.7, 1.1),
]


def opposed(noise: Noise, move: float, rate: float) -> MixtureLoss:
    """The pair of a record and its opposite, each in the sample with probability `rate`."""
    rest = 1 - rate
    return MixtureLoss(above=((0.0, rest), (move, rate)), below=((-move, rate), (0.0, rest)), noise=noise)


def truth(loss: MixtureLoss, order: float) -> mpmath.mpf:
    """The divergence as an integral, of a convex function that is nowhere negative."""

    def law(side: Any, z: mpmath.mpf) -> mpmath.mpf:
        rows = ((w, abs(z - s) if loss.noise == "laplace" else (z - s) ** 2 / 2) for s, w in side)
        scale = 2 if loss.noise == "laplace" else mpmath.sqrt(2 * mpmath.pi)
        return mpmath.fsum(w * mpmath.exp(-x) / scale for w, x in rows)

    def convex(z: mpmath.mpf) -> mpmath.mpf:
        p, q = law(loss.above, z), law(loss.below, z)
        return p**order * q ** (1 - order) - q - order * (p - q)

    move = loss.above[-1][0]
    places = sorted({-60.0, -14.0, -6.0, -2 * move, -move, 0.0, move, 2 * move, 6.0, 14.0, order * move + 14, 60.0})
    return mpmath.log1p(mpmath.quad(convex, places)) / (order - 1)


@pytest.mark.parametrize(("noise", "move", "rate", "order"), CASES)
def test_both_sides_hold_the_divergence_of_a_replaced_record(
    noise: Noise, move: float, rate: float, order: float
) -> None:
    """Order 2 of deviation 1 at rate .1 is .0408, where a record that is in the sample for certain has 4."""
    loss = opposed(noise, move, rate)
    with mpmath.workdps(40):
        exact = truth(loss, order)
    low, high = renyi_of_loss(loss, order)
    assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9)
    assert high - low <= 1e-5 * high


def rho(loss: MixtureLoss) -> float:
    """What is proved of rho."""
    once = (Composition.of(loss),)
    return float(rho_between(NormalForm(upper=once, lower=once))[1])


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.6])
def test_rho_is_that_of_shifts_of_equal_rank(rate: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to a rate of one half the laws mix pairs one move apart; beyond, a part of them is two moves apart.

    The broken twin takes one move at every rate, and at rate .6 some divergence over its order is larger.
    """
    loss = opposed("gaussian", 1.0, rate)
    assert rho(loss) == pytest.approx(0.5 if rate <= 0.5 else 2.0, rel=1e-6)
    shown = max(renyi_of_loss(loss, order)[0] / order for order in (1.1, 1.5, 2.0, 4.0, 8.0))
    assert shown <= rho(loss)
    monkeypatch.setattr(MixtureLoss, "furthest", PropertyMock(return_value=1.0))
    assert (shown > rho(loss)) == (rate > 0.5)


@pytest.mark.parametrize(
    "claim",
    [
        Claim(renyi=[(2.0, 0.05)], neighbours="replace_one"),
        Claim(rho=0.5, neighbours="replace_one"),
        Claim(mu=1.01, neighbours="replace_one"),
    ],
)
@pytest.mark.parametrize(
    "noise",
    [
        Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove"),
        Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove"),
    ],
)
def test_the_checker_confirms_the_amplified_numbers(claim: Claim, noise: Gaussian | Laplace) -> None:
    found = certify(Subsample(part=Release(label="sum", mechanism=noise), rate=0.1), claim)
    assert found.verdict == "certified"
    assert verify(found.to_json()).accepted


def test_what_cancels_beside_order_one_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """At rate .001 the terms of the moment cancel to 1e-13 of each; the twin counts no rounding, and is too large."""
    loss, order = opposed("gaussian", 1.0, 0.001), 1 + 1e-7
    with mpmath.workdps(40):
        exact = float(truth(loss, order))
    least, most = mixture_moments.mixture_log_moment(loss, order)
    assert least <= exact * (order - 1) <= most
    monkeypatch.setattr(mixture_moments, "_LOST", 0.0)
    least, _ = mixture_moments.mixture_log_moment.__wrapped__(loss, order)
    assert least > exact * (order - 1)
