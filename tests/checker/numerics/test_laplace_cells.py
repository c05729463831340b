"""Cells of Laplace noise in the checker: each mass is known relatively, however narrow its cell is."""

import mpmath
import numpy as np
import pytest

from dpaudit.verifier import shifts
from dpaudit.verifier.losses import Loss
from dpaudit.verifier.pairs import pair

SMALL: Loss = ("laplace", 0.00984)
SAMPLED: Loss = ("mixture", "laplace", ((0.0, 0.7), (1.5, 0.3)), ((0.0, 0.6), (0.4, 0.4)))
FAR: Loss = ("laplace", 60.0)


def exact_mass(law: shifts.Law, low: float, high: float) -> mpmath.mpf:
    """The difference of distribution functions, in 80 digits."""

    def below(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2

    ends = mpmath.mpf(low), mpmath.mpf(high)
    return mpmath.fsum(weight * (below(ends[1] - shift) - below(ends[0] - shift)) for shift, weight in law)


@pytest.mark.parametrize("loss", [SMALL, SAMPLED, FAR])
@pytest.mark.parametrize("count", [7, 2**16])
def test_a_cell_has_its_mass_within_its_error(loss: Loss, count: int) -> None:
    """Its error is a few units of the mass; the difference of two tails errs by 1e-8 of it, and is a broken twin."""
    at, *masses = shifts.cells(loss, count)
    _, *laws = shifts.sides(loss)
    z = np.linspace(*shifts.ends(loss), count + 1)
    differs = 0.0
    for (found, errors), law, grown in zip(masses, laws, (0.0 * at, at), strict=True):
        for i in np.linspace(0, count - 1, 7).astype(int):
            with mpmath.workdps(80):
                exact = exact_mass(law, z[i], z[i + 1]) * mpmath.exp(mpmath.mpf(grown[i]))
                tail = [mpmath.mpf(float(mpmath.exp(mpmath.log(exact_mass(law, -1e3, end))))) for end in z[i : i + 2]]
                twin = (tail[1] - tail[0]) * mpmath.exp(mpmath.mpf(grown[i]))
                assert abs(found[i + 1] - exact) <= errors[i + 1] <= 1e-13 * float(exact) + 1e-300
                differs = max(differs, float(abs(twin / exact - 1)))
    assert differs > 1e-13 or count < 2**16


def test_masses_of_small_shifts_add_up_under_both_laws() -> None:
    """Of nine steps of a thirty-fourth the rest under Q counts for a delta of 1e-9: 1e-10 of it was rounding."""
    held = pair(SMALL, 2**16)
    assert abs(float(held.masses.sum()) - 1) < 1e-12
    assert held.alone < 2e-12
