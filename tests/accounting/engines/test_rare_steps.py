"""Many steps on rare samples, and many secret steps: brackets that stay narrow far out, from few knots."""

import pytest

from dpaudit import Release, Repeat, Subsample, bracket_epsilon, fold
from dpaudit.engines.pairs.derived import pair_above, pair_below
from dpaudit.model.losses import AllocatedLoss, GaussianLoss
from mechanisms import Gaussian


@pytest.mark.parametrize(
    ("rate", "stddev", "steps", "delta", "width"),
    [(1e-3, 1.0, 10**5, 1e-5, 1e-4), (1e-3, 1.0, 10**6, 1e-5, 4e-4), (4.07e-5, 0.614, 10**5, 1.1e-10, 1.5e-3)],
)
def test_a_bracket_of_many_steps_on_rare_samples_is_narrow(
    rate: float, stddev: float, steps: int, delta: float, width: float
) -> None:
    """Cells of one loss are as narrow as its frequent small values ask, though its rare ones reach far."""
    noise = Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="add_remove")
    step = Subsample(part=Release(label="gradient", mechanism=noise), rate=rate, scheme="poisson")
    found = bracket_epsilon(fold(Repeat(part=step, times=steps), "add_remove"), delta)
    assert 0 < found.upper - found.lower <= width * found.upper


def test_a_thousand_secret_steps_keep_a_delta_of_1e_12_on_both_sides() -> None:
    """One tilt lost a tenth of the lower bound there, and slopes of up to 60 counted 1e-12 as infinite."""
    steps = AllocatedLoss(inside=((GaussianLoss(mu=0.5), 1),), steps=1000, order="remove")
    above, below = pair_above(steps, 1e-3, 1e-20), pair_below(steps, 1e-3, 1e-20)
    assert above.infinite < 1e-16
    high, low = above.delta_above(0.1), below.delta_below(0.1)
    assert 5e-12 < low <= high < 1.01 * low
