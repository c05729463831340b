"""Black boxes on a sample: the amplified budget is never below its theorem's, however small the rate or the delta."""

import mpmath
import pytest

from dpaudit import Repeat, Stated, Subsample, fold

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
