"""Odometers: readings that hold at every moment at once, against the worst adaptive analyst."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpaudit import Claim, Release, Stated
from dpaudit.budgets.filters import Refusal, advanced_filter
from dpaudit.budgets.odometers import Odometer, mixture_boundary
from dpaudit.errors import DeclarationError
from mechanisms import Gaussian
from tests.narrowing import as_a

STEP = 0.25


def stated(epsilon: float, delta: float = 0.0) -> Stated:
    return Stated(epsilon=epsilon, delta=delta, source="a vendor")


def normal(mu: float) -> Release:
    return Release(label="sum", mechanism=Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="replace_one"))


def worst_failure(start: Odometer, menu: tuple[tuple[int, float], ...], rho: float) -> float:
    """The largest probability, over adaptive analysts who spend at most `rho`, that a loss ever exceeds its reading.

    Exact: parts are leaky randomised responses with losses in whole steps, chosen by the losses seen so far.
    """
    known: dict[tuple[Odometer, int], float] = {}

    def value(odometer: Odometer, loss: int) -> float:
        if loss * STEP > odometer.reading:
            return 1.0
        if (odometer, loss) not in known:
            best = 0.0
            for steps, delta in menu:
                after = odometer.spend(stated(steps * STEP, delta))
                if isinstance(after, Odometer) and after.spent.amount <= rho:
                    after = replace(after, events=0)
                    up = (1 - delta) / (1 + math.exp(-steps * STEP))
                    down = (1 - delta) / (1 + math.exp(steps * STEP))
                    odds = up * value(after, loss + steps) + down * value(after, loss - steps)
                    best = max(best, delta + odds)
            known[odometer, loss] = best
        return known[odometer, loss]

    return value(start, 0)


@pytest.mark.parametrize("delta", [0.5, 0.1])
@pytest.mark.parametrize("tuned_to", [0.05, 0.5, 5.0])
def test_no_adaptive_analyst_makes_a_loss_exceed_its_reading_too_often(delta: float, tuned_to: float) -> None:
    start = Odometer(delta=delta, neighbours="replace_one", mass=0.02, tuned_to=tuned_to)
    assert worst_failure(start, ((1, 0.0), (2, 0.01), (3, 0.0)), rho=0.75) <= delta + 0.02


def failure_over_time(boundary: Callable[[float], float], epsilon: float, parts: int) -> float:
    """The probability that `parts` equal randomised responses ever exceed `boundary(rho)`, by forward recursion."""
    up = 1 / (1 + math.exp(-epsilon))
    alive = np.zeros(2 * parts + 1)
    alive[parts] = 1.0
    losses = epsilon * np.arange(-parts, parts + 1)
    failed = 0.0
    for part in range(1, parts + 1):
        moved = np.zeros_like(alive)
        moved[1:] += up * alive[:-1]
        moved[:-1] += (1 - up) * alive[1:]
        beyond = losses > boundary(part * epsilon**2 / 2)
        failed += float(moved[beyond].sum())
        moved[beyond] = 0.0
        alive = moved
    return failed


def test_a_bound_for_one_moment_fails_when_it_is_read_at_all_of_them_and_the_odometer_does_not() -> None:
    """The twin reads rho + 2 sqrt(rho ln(1/delta)), which is right at any one time, after each of 4000 parts."""
    delta, parts, epsilon = 0.4, 4000, 0.02

    def one_moment(rho: float) -> float:
        return rho + 2 * math.sqrt(rho * math.log(1 / delta))

    assert failure_over_time(one_moment, epsilon, parts) > 1.2 * delta
    assert failure_over_time(lambda rho: mixture_boundary(rho, delta, 0.1), epsilon, parts) <= delta


def test_a_reading_never_falls_and_never_exceeds_the_sum_of_the_largest_losses() -> None:
    odometer = Odometer(delta=1e-6, neighbours="replace_one")
    assert odometer.reading == 0.0
    last, total = 0.0, Fraction(0)
    for size in (0.05, 0.0125, 0.025, 0.001) * 100:
        odometer = as_a(Odometer, odometer.spend(stated(size)))
        total += Fraction(size)
        assert last <= odometer.reading <= math.nextafter(float(total), math.inf)
        last = odometer.reading
    assert odometer.reading < float(total)


def test_the_price_of_reading_at_all_times_is_small_where_the_odometer_is_tuned_and_grows_slowly() -> None:
    """Beside the root for one moment: 1.35 times at the tuned rho, 1.7 times at 1000 times as much."""
    for delta in (1e-3, 1e-6, 1e-9):
        for rho, most in ((0.1, 1.35), (100.0, 1.7), (1e-4, 9.0)):
            root = 2 * math.sqrt(rho * math.log(1 / delta))
            assert 1.0 < (mixture_boundary(rho, delta, 0.1) - rho) / root < most


@pytest.mark.parametrize("rho", [1e-3, 0.1, 40.0])
@pytest.mark.parametrize("delta", [0.3, 1e-6])
def test_at_the_boundary_the_mixture_of_supermartingales_has_reached_one_over_delta(rho: float, delta: float) -> None:
    """The mean over s = |N(0, 1/g)| of exp(s (L - rho) - s^2 rho), by quadrature: between 1/delta and 2/delta."""
    tail = 2 * math.log(1 / delta)
    g = 2 * 0.1 / (tail + math.log(1 + tail))
    excess = mixture_boundary(rho, delta, 0.1) - rho
    s = np.linspace(0, excess / (2 * rho + g) + 12 / math.sqrt(2 * rho + g), 400_001)
    weights = 2 * math.sqrt(g / (2 * math.pi)) * np.exp(s * excess - s**2 * rho - g * s**2 / 2)
    assert 1 / delta <= float(np.trapezoid(weights, s)) <= 2 / delta


def test_gaussian_parts_are_read_by_the_boundary_alone() -> None:
    odometer = Odometer(delta=1e-6, neighbours="replace_one").spend(normal(0.1)).spend(stated(0.1))
    assert odometer.spent_epsilon is None
    assert odometer.reading == pytest.approx(mixture_boundary(0.005 + 0.1 * math.tanh(0.05), 1e-6, 0.1), rel=1e-9)
    assert odometer.spend(stated(0.2)).spent_epsilon is None


def test_a_refused_part_leaves_the_odometer_as_it_was() -> None:
    odometer = Odometer(delta=1e-6, neighbours="replace_one", mass=1e-8)
    before = replace(odometer)
    refusal = odometer.spend(stated(0.1, 1e-7))
    assert isinstance(refusal, Refusal)
    assert "mass" in refusal.reason
    assert odometer == before
    assert isinstance(odometer.spend(stated(0.1, 1e-8)), Odometer)


def test_a_part_for_other_neighbours_is_an_error_and_so_is_an_impossible_odometer() -> None:
    with pytest.raises(DeclarationError, match="neighbours"):
        Odometer(delta=1e-6, neighbours="add_remove").spend(normal(0.1))
    with pytest.raises(ValueError, match="delta"):
        Odometer(delta=0.0, neighbours="replace_one")
    with pytest.raises(ValueError, match="tuned_to"):
        Odometer(delta=0.1, neighbours="replace_one", tuned_to=0.0)


def test_a_filter_is_tighter_than_an_odometer_that_stops_at_the_same_epsilon() -> None:
    claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    full = float(advanced_filter(claim).limit.amount)
    assert mixture_boundary(full, claim.delta, full) > claim.epsilon
