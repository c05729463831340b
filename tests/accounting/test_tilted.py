"""The tilted engine: its transform errs less than is proved, many steps have narrow brackets, twins are caught."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from dpaudit.engines import TILTED, transform
from dpaudit.engines.tilted import engine
from dpaudit.errors import InternalError
from dpaudit.model.losses import (
    ApproximateLoss,
    Composition,
    GaussianLoss,
    LaplaceLoss,
    SampledGaussianLoss,
)
from dpaudit.model.mechanism import Array

UNIT = 2.0**-53
MIXED = Composition.of(GaussianLoss(mu=0.5), LaplaceLoss(shift=0.3), ApproximateLoss(epsilon=0.2, delta=1e-9)) * 20


def exact_root(k: int, size: int) -> Any:
    with mp.workdps(40):
        return mp.expjpi(mpf(-2 * k) / size)


@pytest.mark.parametrize("size", [8, 64, 4096, 1 << 17])
def test_each_root_of_unity_is_within_its_stated_error(size: int) -> None:
    table = transform.roots(size)
    for k in np.random.default_rng(size).integers(0, size, 200):
        assert abs(mpc(table[k].real, table[k].imag) - exact_root(int(k), size)) <= 6 * UNIT


@pytest.mark.parametrize("size", [4, 8, 32, 128, 256])
def test_the_transform_and_its_inverse_err_less_than_proved(size: int) -> None:
    rng = np.random.default_rng(size)
    values = rng.dirichlet(np.full(size, 0.05))
    entries = transform.spectrum(values)
    bound = transform.relative_error(size) * float(values.sum())
    with mp.workdps(40):
        for j in range(size // 2 + 1):
            truth = mp.fsum(mpf(float(v)) * exact_root(j * k % size, size) for k, v in enumerate(values))
            assert abs(mpc(entries[j].real, entries[j].imag) - truth) <= bound
    back = np.abs(transform.signal(entries) - values).max()
    assert back <= 2 * (bound + transform.relative_error(size) * 2 / size * float(np.abs(entries).sum()))


def test_a_wrong_root_of_unity_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken twin: one root in 64 is wrong by 1e-13."""
    kept = transform.roots

    def wrong(size: int) -> Array:
        table = kept(size).copy()
        table[1::64] *= 1 + 1e-13
        return table

    monkeypatch.setattr(transform, "roots", wrong)
    with pytest.raises(AssertionError):
        test_each_root_of_unity_is_within_its_stated_error(64)


@pytest.mark.parametrize(
    ("rate", "sigma", "times", "truth"), [(0.01, 1.0, 10_000, 6.1877124), (0.02, 1.3, 3000, 4.43936)], ids=["a", "b"]
)
def test_ten_thousand_sampled_steps_are_bracketed_to_two_in_a_hundred_thousand(
    rate: float, sigma: float, times: int, truth: float
) -> None:
    bracket = TILTED.epsilon(Composition.of(SampledGaussianLoss(mu=1 / sigma, rate=rate)) * times, 1e-5)
    assert bracket.lower <= truth + 5e-6
    assert truth - 5e-6 <= bracket.upper
    assert bracket.upper - bracket.lower <= 2e-5 * bracket.upper


@pytest.mark.parametrize(("side", "changed"), [("dominated", "others"), ("dominating", "masses")])
def test_a_part_understated_by_a_hundred_thousandth_is_caught(
    side: str, changed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken twins: too little under Q for the lower side, or under P for the upper one, and the two sides cross."""
    kept = getattr(engine, side)

    def understated(cells: Any, width: float) -> Any:
        grid = kept(cells, width)
        return replace(grid, **{changed: getattr(grid, changed) * (1 - 1e-5)})

    TILTED.epsilon(MIXED, 1e-6)
    monkeypatch.setattr(engine, side, understated)
    with pytest.raises(InternalError, match="is empty"):
        TILTED.epsilon(MIXED, 1e-6)


@pytest.mark.parametrize("composition", [MIXED, Composition.of(SampledGaussianLoss(mu=1.0, rate=0.01)) * 1000])
def test_bounds_at_many_epsilons_are_those_at_each_of_them(composition: Composition) -> None:
    """From above, by the sums over knots that are shared; never below what the transform proves from below."""
    curves = engine.curves_near(composition, 1.0)
    assert curves is not None
    lower, upper = curves
    epsilons = np.random.default_rng(7).permutation(
        np.append(np.linspace(0.0, 12.0, 120), [0.0, 1e-12, 1.0, 1.0, 60.0])
    )
    many = upper.deltas(epsilons)
    for epsilon, delta in zip(epsilons.tolist(), many.tolist(), strict=True):
        assert lower.delta(epsilon) <= delta
        assert upper.delta(epsilon) == pytest.approx(delta, rel=1e-6, abs=1e-250), epsilon
