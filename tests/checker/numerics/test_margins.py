"""Margins of the checker: each bound holds the exact value, and lies beyond it by what the page on the checker says."""

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.checker.modules import checker

UNIT = 2.0**-53
GAUSSIAN: Any = ("gaussian", 1.3)
LAPLACE: Any = ("laplace", 0.9)
SAMPLE: Any = ("mixture", "gaussian", ((0.0, 0.75), (1.1, 0.25)), ((0.0, 1.0),))
BACK: Any = ("mixture", "gaussian", ((0.0, 1.0),), ((-1.1, 0.25), (0.0, 0.75)))
FOUND: Any = ("mixture", "laplace", ((0.0, 0.75), (0.8, 0.25)), ((0.0, 1.0),))


def tail(noise: str, z: Any) -> Any:
    """The mass of a noise above z, to 50 digits."""
    if noise == "gaussian":
        return mpmath.ncdf(-z)
    return mpmath.exp(-z) / 2 if z > 0 else 1 - mpmath.exp(z) / 2


def above(loss: Any, z: Any) -> tuple[Any, Any]:
    """The masses of both laws above an output, to 50 digits."""
    noise, *laws = checker("shifts").sides(loss)
    p, q = (mpmath.fsum(mpmath.mpf(w) * tail(noise, mpmath.mpf(z) - mpmath.mpf(s)) for s, w in law) for law in laws)
    return p, q


def below(loss: Any, z: Any) -> tuple[Any, Any]:
    """The masses below it."""
    noise, *laws = checker("shifts").sides(loss)
    p, q = (mpmath.fsum(mpmath.mpf(w) * tail(noise, mpmath.mpf(s) - mpmath.mpf(z)) for s, w in law) for law in laws)
    return p, q


def near(found: Any, exact: Any, relative: float = 1e-9) -> bool:
    """Whether numbers are others but for rounding; what is tiny is compared as closely."""
    return bool(np.all(abs(found - exact) <= relative * abs(exact)))


def units(loss: Any, z: float) -> float:
    """Relative: by how much a tail may be off, 64 + 16 z^2 units, z being the furthest argument of a normal tail."""
    noise, *laws = checker("shifts").sides(loss)
    furthest = max(abs(z - s) for law in laws for s, _ in law)
    return float(UNIT * (64 + 16 * furthest**2 * (noise == "gaussian")))


@pytest.fixture(autouse=True)
def _digits() -> Any:
    """Fifty digits."""
    with mpmath.workdps(50):
        yield


def test_a_closed_form_holds_the_exact_delta_with_its_margin_on_both_sides() -> None:
    """The delta of the event that is asked, less and more twice the error of its larger mass."""
    shifts, pairs = checker("shifts"), checker("pairs")
    for loss in (GAUSSIAN, LAPLACE, SAMPLE, BACK, FOUND):
        for epsilon in (-0.1, 0.0, 0.1, 0.19):
            p, q, off = (float(row[0]) for row in shifts.closed(loss, np.array([epsilon])))
            z = _output(loss, epsilon)
            over, under = above(loss, z)
            assert near(p, over)
            assert near(q, under * mpmath.exp(epsilon))
            assert near(off, units(loss, z) * p, 1e-6)
            low, high = pairs.plain(loss, epsilon)
            exact = over - mpmath.exp(epsilon) * under
            assert exact - 2.1 * off <= low <= exact - 1.9 * off
            assert exact + 1.9 * off <= high <= exact + 2.1 * off
    assert pairs.plain(GAUSSIAN, 60.0) == (0.0, 0.0)
    assert pairs.plain(LAPLACE, -0.95)[1] == 1.0 - math.exp(-0.95) + 2 * 64 * UNIT


def _output(loss: Any, epsilon: float) -> float:
    """The output that has a loss; a rounding of it moves the delta of its event by a square."""
    noise, one, two = checker("shifts").sides(loss)

    def density(law: Any, z: float) -> float:
        return math.fsum(w * math.exp(-((z - s) ** 2) / 2 if noise == "gaussian" else -abs(z - s)) for s, w in law)

    low, high = -20.0, 20.0
    for _ in range(70):
        middle = (low + high) / 2
        over = density(one, middle) > math.exp(epsilon) * density(two, middle)
        low, high = (low, middle) if over else (middle, high)
    return high


def test_the_masses_of_cells_hold_the_exact_ones_and_err_by_twice_their_smaller_tail() -> None:
    """Masses of Q are scaled by the loss of a cell's lower end; outer ones err as a tail, Laplace ones as products."""
    for loss in (GAUSSIAN, LAPLACE, SAMPLE, FOUND):
        at, *rows = checker("shifts").cells(loss, 12)
        first, last = checker("shifts").ends(loss)
        z = np.linspace(*((first - 9, last + 24) if "gaussian" in loss else (first, last)), 13)
        for law, (masses, errors) in enumerate(rows):
            over, under = [above(loss, x)[law] for x in z], [below(loss, x)[law] for x in z]
            grown = [mpmath.exp(float(a)) if law else mpmath.mpf(1) for a in at]
            assert near(masses[0], under[0] * grown[0], 1e-12)
            assert near(masses[-1], over[-1] * grown[-1], 1e-11)
            assert near(errors[0], units(loss, z[0]) * under[0] * grown[0])
            assert near(errors[-1], units(loss, z[-1]) * over[-1] * grown[-1])
            for i in range(12):
                upper = over[i] <= under[i + 1]
                exact = over[i] - over[i + 1] if upper else under[i + 1] - under[i]
                off = units(loss, z[i]) * over[i] if upper else units(loss, z[i + 1]) * under[i + 1]
                assert abs(masses[i + 1] - exact * grown[i]) <= errors[i + 1]
                one_part = UNIT * (64 + 4 * (last - first)) * exact  # Laplace cells are no difference of tails
                assert near(errors[i + 1], (one_part if "laplace" in loss else 2 * off) * grown[i], 1e-6)


def test_losses_of_cells_grow_and_are_those_of_their_ends() -> None:
    for loss in (GAUSSIAN, LAPLACE, SAMPLE, BACK, FOUND):
        at = checker("shifts").cells(loss, 64)[0]
        assert (np.diff(at) >= 0).all()
        low, high = checker("pairs").reach(loss)
        assert (low, high) == (pytest.approx(at[0], rel=1e-9), pytest.approx(at[-1], rel=1e-9))


def test_atoms_of_cells_weigh_at_least_what_both_laws_have_and_their_errors() -> None:
    """The total under P exceeds 1 by the errors; under Q, what no atom has is stated; the curve is that of the ends.

    Laplace noise, of whose laws neither has anything alone, states nothing: a relative 1e-12 is added later.
    """
    pairs, shifts = checker("pairs"), checker("shifts")
    for loss in (GAUSSIAN, LAPLACE, SAMPLE, FOUND):
        held = pairs.pair(loss, 256)
        at, (p, p_off), (q, q_off) = shifts.cells(loss, 256)
        total = mpmath.fsum(map(float, held.masses)) + held.lost
        assert 0.8 * p_off.sum() <= total - 1 <= 1.2 * p_off.sum() + 1e-15
        assert held.lost == (float(p[-1] + p_off[-1]) if "gaussian" in loss else 0.0)
        reached = math.fsum(np.exp(-held.at) * held.masses)
        alone = max(0.0, 1 - reached) + 1e-12 if "gaussian" in loss else 0.0
        assert held.alone == pytest.approx(alone, abs=3e-13)
        assert "gaussian" in loss or reached >= 1 - 5e-13
        for epsilon in held.at[:: len(held.at) // 5]:
            delta = sum(above(loss, _output(loss, float(epsilon)))[i] * (1, -math.exp(epsilon))[i] for i in (0, 1))
            gained = float(np.maximum(0.0, -np.expm1(epsilon - held.at)) @ held.masses) + held.lost
            assert delta * (1 - 1e-12) <= gained <= delta + 1e-3 * float(np.ptp(held.at)) / 8 + 1e-12
        if loss == LAPLACE:
            kept = reached - math.fsum(q[1:-1] * np.exp(-at[:-1])) - p[0] * math.exp(-at[0]) - p[-1] * math.exp(-at[-1])
            error = math.fsum(q_off[1:-1] * np.exp(-at[:-1]))
            assert -1.5 * error <= kept - p_off[0] * math.exp(-at[0]) - p_off[-1] * math.exp(-at[-1]) <= -0.5 * error
        known = q > 2 * q_off
        for found, exact, side in (
            (held.p, p, -1),
            (held.p_high, p, 1),
            (held.q, q * np.exp(held.told - np.hstack((held.at[0], held.at[:-1], held.at[-1]))), 1),
            (held.q_low, q * np.exp(held.told - np.hstack((held.at[0], held.at[:-1], held.at[-1]))), -1),
        ):
            off = (p_off if found is held.p or found is held.p_high else q_off / q * exact)[known]
            moved = (side * (found - exact))[known]
            assert ((0.9 * off <= moved) & (moved <= 1.1 * off)).all()


def _three() -> Any:
    """Atoms and labels of which every row differs from the others."""
    rows = np.array([[0.2, 0.3, 0.1], [0.21, 0.34, 0.13], [0.25, 0.38, 0.19], [0.17, 0.23, 0.08]])
    p, q, p_high, q_low = rows
    return checker("pairs").Pair(
        np.array([-1.21, 0.4, 1.37]), np.array([0.2, 0.45, 0.3]), 0.07, 0.11,
        np.array([-0.83, 0.29, 1.61]), p, q, p_high, q_low,
    )  # fmt: skip


def test_a_lattice_keeps_both_laws_of_atoms_and_labels_and_errs_to_its_side() -> None:
    """A label keeps its mass under P at two knots, by its place; that of Q is e^knot times as heavy in store."""
    pairs, held, step = checker("pairs"), _three(), 0.25
    found = pairs.cut(held, step)
    knots = (found.first + np.arange(found.rows.shape[1])) * step
    assert knots[0] <= -1.21 - step / 2
    assert knots[-1] >= 1.61
    upper, p, q, p_high, q_low = found.rows
    assert near(upper.sum(), held.masses.sum() * (1 + 1e-12), 1e-14)
    assert near(upper @ np.exp(-knots), held.masses @ np.exp(-held.at) * (1 + 1e-12), 1e-14)
    for row, given, side in ((p, held.p, -1), (p_high, held.p_high, 1)):
        assert near(row.sum(), given.sum() * (1 + side * 1e-12), 1e-14)
        assert near(row @ knots, given @ held.told, 1e-11)
    for row, given, side in ((q, held.q, 1), (q_low, held.q_low, -1)):
        assert near(row @ np.exp(-knots), given @ np.exp(-held.told) * (1 + side * 1e-12), 1e-14)
        assert near(row @ (knots * np.exp(-knots)), given @ (held.told * np.exp(-held.told)), 1e-11)
    assert found.lost == held.lost
    rare = held._replace(p=np.array([0.2, 1e-70, 0.1]), told=np.array([-81.0, 0.29, 1.61]))
    assert near(pairs.cut(rare, step).rows[1].sum(), 0.1, 1e-9)
    deep = pairs.cut(held._replace(at=np.array([-1e5, 0.4, 1.37])), step)
    assert deep.first * step >= -80 - 2 * step


def test_what_lies_beyond_a_lattice_counts_as_lost_and_labels_there_stand_at_its_end() -> None:
    """From above the mass of the furthest atom is lost; from below its label is named by the last knot."""
    pairs, held = checker("pairs"), _three()._replace(at=np.zeros(3), told=np.zeros(3))
    lost = pairs.cut(held._replace(at=np.array([0.0, 1.0, 2.0**22])), 1.0).lost
    assert held.lost + held.masses[2] <= lost <= (held.lost + held.masses[2]) * (1 + 1e-9)
    told = pairs.cut(held._replace(told=np.array([0.0, 1.0, 2.0**22])), 1.0)
    assert told.lost == held.lost
    assert near(told.rows[1].sum(), held.p.sum(), 1e-9)
    assert near(told.rows[1][-4:].sum(), held.p[2], 1e-9)


def test_what_is_capped_keeps_both_laws_on_its_side() -> None:
    """Labels above the cap keep their mass under Q, which is never rounded to nothing."""
    pairs, held = checker("pairs"), _three()
    found = pairs.capped(held, 0.5)
    assert (found.at <= 0.5).all()
    assert near(found.lost, held.lost + held.masses[held.at > 0.5].sum(), 1e-9)
    assert near(found.q * np.exp(-found.told), held.q * np.exp(-held.told), 1e-9)
    assert (found.q * np.exp(-found.told) >= held.q * np.exp(-held.told) * (1 - 1e-15)).all()
    assert pairs.capped(held, 2.0) is held


def test_what_only_one_law_has_is_rounded_up() -> None:
    alone = checker("pairs")._alone
    masses = np.array([0.25, 0.5])
    assert alone(np.array([0.0, 1.0]), masses) == 1 - (0.25 + 0.5 * math.exp(-1.0)) + 1e-12
    assert alone(np.array([-1.0, 0.0]), masses) == 1e-12
    assert checker("pairs")._under_q(np.array([-3.0, 1.0]), masses) == pytest.approx([1.0, 0.5 / math.e])
    assert checker("pairs")._under_q(np.zeros(1), np.zeros(1))[0] <= 1e-319


def test_a_map_keeps_every_mass_and_rounds_it_to_its_side_by_a_part_in_ten_thousand_millions() -> None:
    """(1 - rate) Q + rate P against Q: losses, masses, what is lost, and the four rows of labels."""
    held, rate = _three(), 0.3
    found = checker("pairs")._mapped(held, rate)
    q = held.masses * np.exp(-held.at)
    exact = np.append(rate * held.masses + (1 - rate) * q, (1 - rate) * held.alone) * (1 + 1e-10)
    assert near(found.masses, exact, 1e-13)
    assert near(found.at, np.append(np.log1p(rate * np.expm1(held.at)), math.log(1 - rate)), 1e-12)
    assert (found.lost, found.alone) == (rate * held.lost, 0.0)
    told = np.log1p(rate * np.expm1(held.told))
    assert near(found.told, told, 1e-12)
    moved, shrunk = np.exp(told - held.told), np.exp(-held.told)
    rows = (
        (found.p, rate * held.p + (1 - rate) * held.q_low * shrunk, -1),
        (found.q, held.q * moved, 1),
        (found.p_high, rate * held.p_high + (1 - rate) * held.q * shrunk, 1),
        (found.q_low, held.q_low * moved, -1),
    )
    for row, law, side in rows:
        assert near(row, law * (1 + side * 1e-10), 1e-13)
    deep = held._replace(told=np.array([-81.0, 0.29, 1.61]))
    assert len(checker("pairs")._mapped(deep, rate).told) == len(checker("pairs")._back(deep).told) == 2


def test_the_other_order_and_an_average_keep_every_mass() -> None:
    pairs, held = checker("pairs"), _three()
    back = pairs._back(held)
    assert back.at == pytest.approx(-held.at)
    assert back.masses == pytest.approx(held.masses * np.exp(-held.at))
    assert (back.lost, back.alone) == (held.alone, held.lost)
    shrunk = np.exp(-held.told)
    for found, given in zip(back[4:], (-held.told, held.q_low, held.p_high, held.q, held.p), strict=True):
        assert found == pytest.approx(given if found is back.told else given * shrunk)
    both = pairs._averaged([(0.3, held), (0.7, back)])
    assert (both.lost, both.alone) == pytest.approx((0.3 * 0.07 + 0.7 * 0.11, 0.3 * 0.11 + 0.7 * 0.07))
    for i in (1, 5, 6, 7, 8):
        assert both[i] == pytest.approx(np.concatenate([0.3 * held[i], 0.7 * back[i]]))
    for i in (0, 4):
        assert both[i] == pytest.approx(np.concatenate([held[i], back[i]]))


def test_a_finite_loss_has_its_masses_to_thirteen_digits_on_either_side() -> None:
    atoms = ((-0.4, 0.3), (0.7, 0.6))
    held = checker("pairs").pair(("discrete", atoms, 0.1, 0.2), 64)
    masses = np.array([0.3, 0.6])
    assert near(held.masses, masses * (1 + 1e-13), 1e-15)
    assert (held.lost, held.alone) == (0.1, 0.2)
    for row, side in ((held.p, -1), (held.q, 1), (held.p_high, 1), (held.q_low, -1)):
        assert near(row, masses * (1 + side * 1e-13), 1e-15)
    for epsilon in (-1.0, 0.0, 0.5):
        low, high = checker("pairs").plain(("discrete", atoms, 0.1, 0.2), epsilon)
        exact = mpmath.fsum(p * -mpmath.expm1(mpmath.mpf(epsilon) - v) for v, p in atoms if v > epsilon)
        assert 5e-13 * exact <= exact - low <= 2e-12 * exact + 5e-13
        assert 5e-13 * exact <= high - exact <= 2e-12 * exact + 5e-13


def test_the_rounding_of_losses_is_that_of_their_largest_size() -> None:
    """Sixteen units of the furthest loss in closed form; of mixed laws 128 times that and 8 more."""
    blur, reach = checker("pairs").blur, checker("pairs").reach
    finite = ("discrete", ((-2.0, 0.4), (0.7, 0.6)), 0.0, 0.0)
    assert blur(finite) == UNIT * 16 * 2.0
    assert blur(GAUSSIAN) == UNIT * 16 * max(map(abs, reach(GAUSSIAN)))
    for made in (SAMPLE, ("average", ((1.0, finite),)), ("map", ((finite, 1),), 0.5, "remove")):
        assert blur(made) == UNIT * 128 * (max(map(abs, reach(made))) + 8)


def _losses(*atoms: tuple[float, float]) -> Any:
    """A finite loss as atoms and labels."""
    return checker("pairs").pair(("discrete", atoms, 0.0, 0.0), 64)


CROSSING = (((-0.5, 0.4), (0.5, 0.4 * math.exp(0.5))), ((-1.0, 0.2), (0.125, 0.5), (1.0, 0.2 * math.e)))
"""Atoms of two losses whose curves cross, but for their sum."""


def test_a_choice_has_at_each_knot_at_least_the_larger_curve_and_below_at_most() -> None:
    pairs = checker("pairs")
    one, two = ([(v, p / math.fsum(m for _, m in law)) for v, p in law] for law in CROSSING)
    found = pairs._chosen([(_losses(*one), 0.0), (_losses(*two), 0.0)], 64, pairs._largest)
    for epsilon in np.arange(-1.0, 1.0, 1 / 8):
        exact = max(math.fsum(p * -math.expm1(epsilon - v) for v, p in law if v > epsilon) for law in (one, two))
        high = float(np.maximum(0.0, -np.expm1(epsilon - found.at)) @ found.masses) + found.lost
        assert exact <= high <= exact + 1e-3
        inside = found.told > epsilon
        low = float((found.p - found.q * np.exp(epsilon - found.told))[inside].sum())
        assert exact - 0.03 <= low <= exact
    assert (found.q is found.p, found.p_high.tolist(), found.q_low.any()) == (True, [1.0] * len(found.p), False)


def test_the_atoms_of_a_choice_are_those_of_its_option_and_err_where_options_change() -> None:
    """Cells without an atom show it: they are empty, but for that between two options: 2 n units of the tail above."""
    pairs = checker("pairs")
    laws = [[(v, p / math.fsum(m for _, m in law)) for v, p in law] for law in CROSSING]
    found = pairs._chosen([(_losses(*laws[1]), 0.0)], 64, pairs._largest)
    step = float(found.at[1] - found.at[0])
    assert near(step, 2 / 64)
    for at, mass in zip(found.at.tolist()[1:], found.masses.tolist()[1:], strict=True):
        held = math.fsum(p for v, p in laws[1] if abs(v - at) < 1e-9)
        assert held <= mass <= held * (1 + 1e-11)
    assert found.alone == pytest.approx(1 - math.fsum(p * math.exp(-v) for v, p in laws[1]), abs=1e-9)
    both = [(_losses(*law), 0.0) for law in laws]
    mixed = pairs._chosen(both, 64, lambda tails, at: (np.abs(at - 0.25) < step / 4).astype(int))
    apart = np.abs(mixed.at[:, None] - [v for law in laws for v, _ in law]).min(axis=1) > step / 2
    raised = mixed.at[apart & (mixed.masses > 0)]
    assert len(raised) <= 4  # on both sides of the change
    assert (np.abs(raised - 0.25) <= 1.01 * step).all()
    assert (mixed.masses >= 0).all()


def test_the_labels_of_a_choice_have_the_curve_of_its_options_but_for_roundings() -> None:
    """Two options whose curves cross: the curve of the labels is below the larger one everywhere, and close to it."""
    pairs = checker("pairs")
    options = [[(-1.0, 0.3), (1.0, 0.7)], [(-1.5, 0.18), (0.2, 0.1), (0.6, 0.72)]]
    found = pairs._chosen([(_losses(*law), 0.0) for law in options], 2**10, pairs._largest)
    for epsilon in np.linspace(-2.0, 1.5, 701):
        curve = max(math.fsum(max(0.0, p * -math.expm1(epsilon - v)) for v, p in law) for law in options)
        labels = math.fsum(np.maximum(0.0, found.p - found.q * np.exp(epsilon - found.told)).tolist())
        assert curve - 2e-5 <= labels <= curve
    assert (np.diff(found.told) <= 0).all()


def test_a_label_of_less_mass_than_floats_hold_shows_nothing() -> None:
    """Two thousand choices on a sample: at 6,327 nats a label had 7e-322, above an upper bound of 0."""
    loss = ("map", ((("range", 3.220410049934041), 1986),), 0.013846711057866437, "remove")
    with np.errstate(all="ignore"):
        low, high = checker("pairs").plain(loss, 6327.540105111484)
    assert low <= high


def test_a_choice_of_a_loss_that_is_too_large_for_exponentials_counts_it_as_lost() -> None:
    pairs = checker("pairs")
    for largest, lost in ((599.0, 0.0), (601.0, 0.5), (5e4, 0.5)):
        options = [(_losses((-0.1, 0.5), (largest, 0.5)), 0.0), (_losses((0.0, 1.0)), 0.0)]
        found = pairs._chosen(options, 64, pairs._largest)
        assert found.lost == pytest.approx(lost, abs=1e-9)
        assert len(found.at) > (1 if lost else 64)


def _summed(tilts: tuple[float, ...] = (-2.0, -0.7, 0.5, 3.0), first: int = -9, size: int = 32) -> tuple[Any, Any]:
    """Two measures on a lattice, and the law of three of one and two of the other."""
    measures = [(-2, np.array([0.1, 0.0, 0.3, 0.2, 0.4]), 3), (0, np.array([0.6, 0.5]), 2)]
    window = checker("sums").Window(first, size, 0.25)
    return measures, checker("sums").summed(measures, 0.8, window, np.array(tilts))


def _moments(tilt: float) -> list[tuple[Any, int]]:
    """Sums of masses times e^(tilt l), and how often each is met."""
    measures = _summed()[0]
    return [
        (mpmath.fsum(m * mpmath.exp(mpmath.mpf(tilt) * (first + i) / 4) for i, m in enumerate(masses.tolist())), n)
        for first, masses, n in measures
    ]


def _error(measures: list[tuple[int, Any, int]], theta: float, size: int) -> float:
    """The error of each mass by the formula of the page, on knots a quarter apart."""
    places = size // 2 + 1
    unit = 4000 * float(np.finfo(np.longdouble).eps) * math.log2(size) + 8 * UNIT
    sizes, count, product = np.ones(places), np.zeros(places), np.ones(places, complex)
    for first, masses, n in measures:
        at = first + np.arange(len(masses))
        weights = masses * np.exp(theta * at / 4)
        turned = np.exp(-2j * np.pi * np.outer(np.arange(places), at) / size) @ (weights / weights.sum())
        turned = np.where(np.abs(turned) < 1e-14, 0.0, turned)
        sizes *= (np.abs(turned) + 2 * unit) ** n
        count += n * unit / (np.abs(turned) + 2 * unit)
        product *= turned**n
    return float(2 / size * ((sizes * np.minimum(count, 1.0)).sum() + unit * np.abs(product).sum()))


def test_a_sum_on_a_lattice_is_the_exact_convolution_within_its_error() -> None:
    """Exact sums of products, and the error by the formula of the page: paths of roundings, met as often as stated."""
    measures, law = _summed()
    exact: dict[int, Any] = {0: mpmath.mpf(1)}
    for first, masses, n in measures:
        for _ in range(n):
            grown: dict[int, Any] = {}
            for at, held in exact.items():
                for i, m in enumerate(masses.tolist()):
                    grown[at + first + i] = grown.get(at + first + i, mpmath.mpf(0)) + held * m
            exact = grown
    whole = mpmath.fprod(moment**n for moment, n in _moments(0.8))
    assert near(law.log_moment, mpmath.log(whole), 1e-14)
    for i, mass in enumerate(law.masses):
        weighted = exact.get(i - 9, 0) * mpmath.exp(mpmath.mpf(0.8) * (i - 9) / 4) / whole
        assert abs(mass - weighted) <= law.error
    assert near(law.error, _error(measures, 0.8, 32), 1e-7)
    reach = 0.25 * np.array([2, 1])
    relative = UNIT * (64 + 3 * (64 + 8 * 3.8 * reach[0]) + 2 * (64 + 8 * 3.8 * reach[1]))
    assert near(law.relative, relative, 1e-9)


def test_coefficients_that_vanish_have_an_error_all_the_same() -> None:
    """Two equal masses have none at the highest frequency: it is known to twice the error of a transform."""
    sums = checker("sums")
    for size, masses, n in ((2, [0.5, 0.5], 1), (4, [0.25, 0.25, 0.25, 0.25], 1), (4, [0.25, 0.25, 0.25, 0.25], 3)):
        measures = [(0, np.array(masses), n)]
        law = sums.summed(measures, 0.0, sums.Window(0, size, 0.25), np.array([-1.0, 1.0]))
        assert near(law.error, _error(measures, 0.0, size), 1e-9)


def test_what_lies_outside_of_a_window_is_bounded_by_the_best_tilt_of_its_side() -> None:
    """Chernoff's bound at the lowest knot inside and at the first above, more by the relative error."""
    _, law = _summed(first=-5, size=12)

    def bound(tilts: tuple[float, ...], end: float) -> Any:
        whole = mpmath.fprod(moment**n for moment, n in _moments(0.8))
        ways = [
            mpmath.fprod(m**n for m, n in _moments(0.8 + t)) / whole * mpmath.exp(-mpmath.mpf(t) * end) for t in tilts
        ]
        return min(1, *ways)

    for found, exact in ((law.below, bound((-2.0, -0.7), -1.25)), (law.above, bound((0.5, 3.0), 1.75))):
        assert exact <= found <= exact * (1 + 2 * law.relative + 1e-15)
        assert near(found, exact * (1 + law.relative), 3e-16)
    assert 0.01 < law.above < 0.9
    assert 0.01 < law.below < 0.9
    sides = [_summed(first=first)[1].below for first in (-7, -6, -5)]
    assert sides[:2] == [0.0, 0.0]
    assert sides[2] > 0
    assert _summed((0.5,))[1].below == 0.0
    assert _summed((0.5,), first=-5)[1].below == pytest.approx(1.0)


def test_the_growth_of_a_measure_leaves_empty_knots_out() -> None:
    found = checker("sums").growth(np.array([0.0, 1.0, 900.0]), np.array([0.5, 0.25, 0.0]), np.array([0.0, 2.0, -1.0]))
    assert near(found, np.log(0.5 + 0.25 * np.exp([0.0, 2.0, -1.0])), 1e-14)


def test_powers_are_exact_and_none_is_one() -> None:
    power, base = checker("sums")._power, np.array([1.5, -2.0])
    for n in range(9):
        assert power(base, n).tolist() == [1.5**n, (-2.0) ** n]


def _law(log_moment: float, relative: float, above: float, below: float, *masses: float) -> Any:
    """A law with an absolute error of a thousandth."""
    return checker("sums").Law(log_moment, np.array(masses), 1e-3, relative, below, above)


def _lattice(first: int = -2, size: int = 6) -> Any:
    """A sum on a lattice whose numbers all differ."""
    held = object.__new__(checker("curve")._Sum)
    held.theta, held.window = 1.25, checker("sums").Window(first, size, 0.5)
    held.at = (first + np.arange(6)) * 0.5
    held.over = _law(0.3, 1e-9, 0.011, 0.013, -0.2, 0.1, 0.25, 0.3, 0.05, 0.02)
    held.p = _law(0.29, 2e-9, 0.007, 0.005, 0.08, 0.1, 0.24, 0.28, -0.1, 0.04)
    held.q = _law(0.31, 3e-9, 0.017, 0.019, 0.1, -0.1, 0.06, 0.05, 0.03, 0.01)
    held.beyond, held.blind = 0.15, False
    return held


def test_the_scale_of_a_sum_is_moved_to_its_side_by_the_error_of_everything() -> None:
    """The relative error of the law, and 2^-50 times the size, 100, the exponent and theta times the furthest."""
    held = _lattice(-900, 1000)
    for side, epsilon in ((1, 3.0), (-1, -40.0)):
        off = 1e-13 + 2.0**-50 * (1000 + 100 + 70 + 1.25 * (abs(epsilon) + 450))
        found = held._scale(_law(-70.0, 1e-13, 0, 0), epsilon, side)
        assert near(mpmath.log(found) + 70 + 1.25 * epsilon, side * off, 0.02)
    assert held._scale(_law(900.0, 0.0, 0, 0), 0.0, 1) == math.exp(700.0)


def test_an_upper_bound_of_a_sum_counts_all_that_may_be_missing() -> None:
    held = _lattice()
    for epsilon in (-1.3, -1.0, 0.3, 1.9, 2.4):
        scale = math.exp(0.3 - 1.25 * epsilon)
        inside = math.fsum(
            max(0.0, mass + 1e-3) * math.exp(-1.25 * (at - epsilon)) * -math.expm1(epsilon - at)
            for at, mass in zip(held.at, held.over.masses, strict=True)
            if at > epsilon
        )
        outside = 0.011 * math.exp(-1.25 * max(0.0, 2.0 - epsilon)) + (0.013 if epsilon < -1.0 else 0.0)
        for lost in (0.1, 0.2):
            exact = min(1.0, scale * (inside + outside) + max(0.0, 0.15 - lost))
            assert near(held.upper(epsilon, lost), exact, 1e-8)
            assert held.upper(epsilon, lost) >= exact
    assert held.upper(-600.0, 0.0) == 1.0


def test_a_lower_bound_of_a_sum_is_the_best_test_less_all_that_may_be_wrapped() -> None:
    held = _lattice()
    for epsilon in (-0.9, 0.0, 0.3, 0.6):
        p, q = (math.exp(moment - 1.25 * epsilon) for moment in (0.29, 0.31))
        tests = []
        for s in held.at[held.at - epsilon > -1 / 2.25]:
            rows = [
                (max(0.0, a - 1e-3), max(0.0, b + 1e-3), math.exp(-1.25 * (at - epsilon)), math.exp(epsilon - at))
                for at, a, b in zip(held.at, held.p.masses, held.q.masses, strict=True)
                if at >= s
            ]
            over = math.fsum(a * weight for a, _, weight, _ in rows) - 0.012 * math.exp(-1.25 * (s - epsilon))
            under = math.fsum(b * w * x for _, b, w, x in rows) + 0.017 * math.exp(-2.25 * (2.0 - epsilon))
            tests.append(p * over - q * under)
        assert max(tests) > 0.01
        assert near(held.lower(epsilon), max(tests), 1e-7)
        assert held.lower(epsilon) < max(tests)
    held.q = _law(9.0, 3e-9, 0.017, 0.019, *held.q.masses)
    assert held.lower(5.0) == held.lower(-600.0) == held.lower(0.3) == 0.0


def _curve(finite: Any, supremum: float, lost: float) -> Any:
    """A curve with these bounds on its finite part."""
    held = object.__new__(checker("curve")._Curve)

    def inside(epsilon: float, width: float) -> Any:
        return finite

    held.supremum, held.lost, held.told, held._finite = supremum, lost, lost, inside
    return held


def test_what_is_lost_is_known_to_thirteen_digits_and_nothing_is_lost_below_the_smallest_number() -> None:
    low, high = _curve((0.125, 0.25), 2.0, 0.25).delta(1.0)
    assert near(0.375 - low, 0.25e-13, 1e-2)
    assert near(high - 0.5, 0.25e-13, 1e-2)
    for epsilon in (2.0, 3.0):
        low, high = _curve((0.125, 0.25), 2.0, 0.25).delta(epsilon)
        assert 0.25 - 3e-14 <= low < 0.25 < high <= 0.25 + 3e-14
    assert _curve((0.0, 0.0), 2.0, 0.0).delta(1.0) == (0.0, 0.0)
    assert _curve((0.0, 1e-310), 2.0, 0.0).delta(1.0)[1] >= 1e-305
    assert _curve((0.0, 0.8), 2.0, 0.25).delta(1.0)[1] == 1.0
    assert _curve((0.5, 0.8), 2.0, 1.0).delta(1.0) == (1 - 1e-13, 1.0)


def test_next_to_the_largest_loss_all_are_at_their_largest() -> None:
    """Three Laplace losses and two finite ones: the product of their tails, less and more a few parts in 10^12."""
    curve = checker("curve")._Curve({("laplace", 0.4): 3, ("discrete", ((-0.7, 0.3), (0.3, 0.7)), 0.0, 0.0): 2})
    largest = curve.supremum
    assert near(largest, 1.8, 1e-12)

    def all_above(gap: Any) -> Any:
        return (1 - mpmath.exp(-mpmath.mpf(gap) / 2) / 2) ** 3 * mpmath.mpf(0.7) ** 2

    for gap in (1e-2, 1e-5):
        low, high = curve._at_the_end(largest - gap, largest - gap)
        g = mpmath.mpf(largest) - (largest - gap)
        upper, lower = (1 - mpmath.exp(-g)) * all_above(g), (1 - mpmath.exp(-g * (1 - 1e-6))) * all_above(g * 1e-6 / 5)
        assert 0.9e-12 * upper <= high - upper <= 3e-12 * upper
        assert 0.9e-12 * lower <= lower - low <= 3e-12 * lower
        before, after = curve._at_the_end(largest - gap, largest - gap / 2)
        assert near(after, high, 1e-14)
        assert before < 0.6 * low
    assert curve._at_the_end(largest + 1e-5, largest + 1e-5)[0] == 0.0
    assert curve._at_the_end(0.0, 0.0)[1] <= 1.0
    low, high = curve._all_above(0.1)
    exact = all_above(0.1)
    off = 3 * 64 * UNIT + 2e-13
    assert 0.9 * off * exact <= exact - low <= 1.2 * off * exact
    assert 0.9 * off * exact <= high - exact <= 1.2 * off * exact


def test_the_gap_to_the_largest_loss_is_rounded_to_its_side() -> None:
    """Up by a part in 10^12 from above; of each loss a millionth of its share from below."""
    curve = checker("curve")._Curve({("laplace", 0.4): 5})
    asked: list[float] = []

    def all_above(gap: float) -> tuple[float, float]:
        asked.append(gap)
        return 0.5, 0.5

    curve._all_above = all_above
    curve._at_the_end(1.5, 1.75)
    assert near(asked[0], (curve.supremum - 1.75) * 1e-6 / 5)
    assert 0.5e-12 <= asked[1] / (curve.supremum - 1.5) - 1 <= 2e-12


def test_a_finite_loss_at_the_very_place_of_a_gap_is_counted() -> None:
    curve = checker("curve")._Curve({("discrete", ((0.25, 0.5), (0.75, 0.5)), 0.0, 0.5): 1})
    assert curve._all_above(0.5)[1] == 1.0
    assert near(curve._all_above(0.499)[1], 0.5, 1e-12)


def _spread_rows() -> list[tuple[Any, int]]:
    """Masses on knots, and how often they are met."""
    return [(np.array([0.1, 0.5, 0.0, 0.4]), 2), (np.array([0.7, 0.2, 0.1]), 1)]


def _convolved(rows: list[tuple[Any, int]]) -> list[float]:
    """The exact law of a sum, but for 15 digits."""
    found = np.ones(1)
    for row, n in rows:
        for _ in range(n):
            found = np.convolve(found, row)
    return [float(x) for x in np.append(found, np.zeros(16 - len(found)))]


def test_the_law_of_a_sum_at_each_knot_is_bounded_by_the_best_of_several_tilts() -> None:
    """From above the least of the bounds, from below the largest, each off by what its sum says."""
    pairs, sums = checker("pairs"), checker("sums")
    exact = np.array(_convolved(_spread_rows()))
    ways = np.geomspace(1.0, 40.0, 6) / 16
    for side in (1, -1):
        found, top = pairs._power(_spread_rows(), 16, side, {0.3, -0.2})
        bounds, tops = [], []
        for theta in (0.3, -0.2):
            law = sums.summed([(0, row, n) for row, n in _spread_rows()], theta, sums.Window(0, 16, 1.0), ways)
            room = law.error if side > 0 else -law.error - law.above
            scale = np.exp(law.log_moment + side * law.relative - theta * np.arange(17))
            bounds.append(np.maximum(law.masses + room, 0.0) * scale[:-1])
            tops.append(law.above * scale[-1])
        expected = np.minimum(*bounds) if side > 0 else np.maximum(*bounds)
        assert (side * (found - exact) >= 0).all()
        assert near(found, expected, 1e-12)
        assert near(top, min(tops), 1e-12)


def test_masses_between_knots_are_split_so_that_their_mean_stays() -> None:
    found = checker("pairs")._spread(np.array([0.0, 1.25, 3.5]), np.array([0.2, 0.4, 0.8]))
    assert found == pytest.approx([0.2, 0.3, 0.1, 0.4, 0.4])


def test_labels_of_secret_steps_are_ratios_of_a_lower_and_an_upper_law() -> None:
    """Two of three steps have the record's: the first law is at most the exact one, the second at least."""
    pairs, values = checker("pairs"), np.array([0.0, 1.25, 3.5])
    rows = [np.array(row) for row in ([0.2, 0.3, 0.4], [0.3, 0.4, 0.2], [0.25, 0.35, 0.45], [0.28, 0.38, 0.17])]
    p, q, p_high, q_low = (pairs._spread(values, row) for row in rows)
    for order, first, second in (
        ("remove", [(p, 2), (q_low, 1)], [(q, 3)]),
        ("add", [(q_low, 3)], [(p_high, 2), (q, 1)]),
    ):
        one, two = np.array(_convolved(first)), np.array(_convolved(second))
        wide = np.array([-900.0, 900.0])
        label, held, same, ones, none = pairs._counted(values, rows, (3, 2), order, (16, {0.3, -0.2}), wide)
        assert len(label) == 16
        inside = one > 0
        assert (held <= np.maximum(one, 1e-319)).all()
        assert (one - held < 1e-6)[inside].all()
        assert (held / np.exp(label) >= two * (1 - 1e-12))[inside].all()
        assert near(held[inside] / np.exp(label[inside]), two[inside], 1e-8)
        assert (ones.tolist(), none.any()) == ([1.0] * 16, False)
        assert (same >= held).all()
        assert np.allclose(same, held, rtol=1e-15, atol=1e-319)
        narrow = np.array([-900.0, 0.0])
        told, kept, scaled, *_ = pairs._counted(values, rows, (3, 2), order, (16, {0.3, -0.2}), narrow)
        assert told.max() == 0
        assert np.array_equal(kept, held)
        assert near(scaled[inside] / np.exp(told[inside]), same[inside] / np.exp(label[inside]), 1e-9)
        ends = np.sort(label[inside])[[1, -2]]
        fewer = pairs._counted(values, rows, (3, 2), order, (16, {0.3, -0.2}), ends)[0]
        assert np.sort(fewer) == pytest.approx(np.sort(np.minimum(label[label >= ends[0]], ends[1])))
        assert {*ends.tolist()} <= {*fewer.tolist()}


def test_inner_labels_leave_out_what_is_rounded_away() -> None:
    held = _three()
    shrunk, rows = checker("pairs")._inner_labels(held._replace(q=np.array([0.21, 0.0, 0.13])))
    kept = np.array([0, 2])
    assert shrunk == pytest.approx(np.exp(-held.told[kept]))
    weighted = (held.p[kept], held.q[kept] * shrunk, held.p_high[kept], held.q_low[kept] * shrunk)
    for row, expected in zip(rows, weighted, strict=True):
        assert row == pytest.approx(expected)


def test_a_secret_step_takes_all_that_it_leaves_out_for_told_apart() -> None:
    """Ratios above the cap, what lies above the knots, and knots that hold rounding; in the other order, the same."""
    pairs = checker("pairs")
    inner = pairs.Pair(
        np.array([-0.5, 0.8, 3.0, 9.0]), np.array([0.3, 0.4, 1e-10, 2e-12]), 0.05, 0.06,
        np.array([-0.5, 0.8]), *(np.array(row) for row in ([0.3, 0.4], [0.3, 0.4], [0.3, 0.4], [0.3, 0.4])),
    )  # fmt: skip
    real, steps, size = pairs._power, 3, 4096
    x, q = np.exp(inner.at), inner.masses * np.exp(-inner.at)
    cap = x[2]
    mean, square = (float((np.minimum(x, cap) ** power * q).sum()) for power in (1, 2))
    room = min(steps * cap, steps * mean + 3 * cap + 14 * math.sqrt(steps * (square - mean * mean)))
    g = room / (size - 2 * (steps + 1))

    def power(*given: Any) -> Any:
        return real(*given)[0], 0.001

    for order in ("remove", "add"):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(pairs, "_power", power)
            found = pairs._allocated(inner, steps, size, order)
        spread = _upper(np.minimum(x, cap) / g, q, inner.alone)
        over = real([(spread, steps)], size, 1, {25.0 / size, 1.0 / size, 0.0})[0]
        lost = 0.05 + (x[3] - cap) * q[3] * 1.001 + 0.001 * size * g / steps * (order == "remove")
        sides = (found.lost, found.alone) if order == "remove" else (found.alone, found.lost)
        assert near(sides[0], lost, 1e-13)
        means = np.exp(found.at if order == "remove" else -found.at)
        law = found.masses / (means if order == "remove" else 1.0)
        first = round(means[0] * steps / g)  # the knots below weigh less than 1e-16
        assert first >= 1
        assert means[0] == pytest.approx(first * g / steps)
        assert sides[1] == pytest.approx(over[:first].sum(), rel=1e-6)
        whole = float(q.sum() + inner.alone) ** steps + 0.001 * (order == "add")
        assert math.fsum(law) + sides[1] == pytest.approx(whole, rel=1e-5)
        assert (np.diff(means) > 0).all()


@pytest.mark.parametrize("alone", [0.0, 1e-12, 1e-10, 1e-3])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_secret_steps_are_above_the_delta_by_all_outcomes_in_both_orders(alone: float, steps: int) -> None:
    """Outputs that only the other law has are met never, once or often; the bound is close to what is counted out."""
    pairs = checker("pairs")
    p = np.array([0.2, 0.5, 0.3])
    q = np.array([0.5, 0.4, 0.1]) * (1 - alone)
    inner = pairs.Pair(np.log(p / q), p, 0.0, alone, np.log(p / q), p, q, p, q)
    ratios, masses = np.append(p / q, 0.0), np.append(q, alone)
    rows = list(itertools.product(range(4), repeat=steps))
    mean = np.array([ratios[list(row)].mean() for row in rows])
    under_q = np.array([masses[list(row)].prod() for row in rows])
    for order, sign in (("remove", 1.0), ("add", -1.0)):
        found = pairs._allocated(inner, steps, 2**14, order)
        for epsilon in (0.0, 0.1, 0.3, 0.6, 2.0):
            gain = mean - math.exp(epsilon) if sign > 0 else 1 - math.exp(epsilon) * mean
            truth = math.fsum(under_q * np.maximum(gain, 0.0))
            bound = math.fsum(found.masses * np.maximum(-np.expm1(epsilon - found.at), 0.0)) + found.lost
            assert truth * (1 - 1e-12) <= bound <= truth * 1.001 + 1e-12 + 2 * (steps * alone) ** 2


def _upper(at: Any, masses: Any, alone: float) -> Any:
    """Masses on knots, with what the other law has alone at 0."""
    found = checker("pairs")._spread(at, masses * (1 + 1e-10))
    found[0] += alone
    return found


def test_several_secret_places_are_bounded_by_one_in_each_block() -> None:
    """From above two places of four are both of the places of one step out of two."""
    pairs, finite = checker("pairs"), ("discrete", ((-0.3, 0.4), (0.5, 0.6)), 0.0, 0.0)
    found = pairs.pair(("allocated", ((finite, 2),), 5, "remove", 2), 2**10)
    block = pairs.pair(("allocated", ((finite, 4),), 2, "remove"), 2**10)
    for mine, other in zip(found[:4], block[:4], strict=True):
        assert np.array_equal(mine, other)


def test_a_choice_that_can_fail_in_one_option_holds_the_larger_delta() -> None:
    """The part of each option that is told for certain is counted, less what the choice is known to lose."""
    one, two = ("discrete", ((-0.4, 0.3), (0.7, 0.5)), 0.2, 0.1), ("discrete", ((-0.9, 0.2), (1.2, 0.75)), 0.05, 0.1)
    for epsilon in (0.0, 0.3, 0.6, 0.9):
        low, high = checker("pairs").plain(("choice", frozenset([one, two])), epsilon)
        exact = max(math.fsum(-p * math.expm1(epsilon - v) for v, p in o[1] if v > epsilon) + o[2] for o in (one, two))
        assert near(low, max(0.0, exact - 0.2), 1e-11) if exact > 0.2 else low <= 1e-12
        assert near(high, exact - 0.2, 1e-11) if exact > 0.2 + 1e-9 else abs(high) <= 1e-12


def test_many_atoms_are_seen_as_few_with_the_same_mass_and_mean() -> None:
    """For a first look only; few are left as they are, and the spread of a weighted law is that of its atoms."""
    curve, pairs = checker("curve"), checker("pairs")
    at = np.linspace(-0.7, 2.3, 5001) ** 3
    masses = np.exp(-np.abs(at)) / 700
    held = _three()._replace(at=at, masses=masses)
    found, weights = curve._merged(held, 4096)
    assert len(found) == 1025
    assert near(weights.sum(), masses.sum(), 1e-12)
    assert near(weights @ found, masses @ at, 1e-12)
    assert near(weights @ found**2, masses @ at**2, 1e-3)
    assert curve._merged(_three(), 4096)[0] is not found
    assert curve._merged(_three(), 4096)[1].tolist() == _three().masses.tolist()
    at, masses, theta = _three().at, _three().masses, 0.7
    weighted = masses * np.exp(theta * at) / (masses @ np.exp(theta * at))
    variance, gaps = curve._spread(at, masses, theta)
    assert near(variance, weighted @ (at - weighted @ at) ** 2, 1e-12)
    assert near(gaps, weighted[1] * (at[1] - at[0]) ** 2 + weighted[2] * (at[2] - at[1]) ** 2, 1e-12)
    rows = ((2**14, 1.0, 2**14), (2**14, 1e-3, 2**11), (2**14, 0.2, 2**14), (2**14, 0.1, 2**13), (2**14, 1e-30, 2**10))
    assert [pairs._coarser(cells, weight) for cells, weight, _ in rows] == [expected for *_, expected in rows]


def test_a_zeroed_record_keeps_the_mass_of_the_other_law_but_for_its_rounding() -> None:
    """256 units of (1 + z^2) times the mass beyond it are taken off each cell of the other law."""
    integers, (mu, rate) = checker("integers"), (1.0, 0.3)
    z = np.concatenate(([-np.inf], 1.5 * mu + np.arange(0, mu + 14, 1 / 256), [np.inf]))
    p, q = integers._cells(z, (2 * mu, mu), rate)
    whole = integers.zeroed(mu, rate)[1][1]
    assert math.fsum(m for _, m in whole[1]) + whole[2] == pytest.approx(math.fsum(p), abs=1e-14)
    kept = math.fsum(m * math.exp(-v) for v, m in whole[1])
    margin = math.fsum(256 * UNIT * (1 + z[1:-2] ** 2) * np.cumsum(p[::-1])[::-1][1:-1])
    assert 0.3 * margin <= math.fsum(q[:-1]) - kept <= 0.7 * margin
    for i in (*range(0, 40, 3), 2000, 3000):
        x, y = z[i : i + 2]
        for law, move in ((p, 2 * mu), (q, mu)):
            tails = [
                (1 - rate) * mpmath.ncdf(mpmath.mpf(float(t))) + rate * mpmath.ncdf(mpmath.mpf(float(t)) - move)
                for t in (max(x, -60.0), y)
            ]
            assert near(law[i], tails[1] - tails[0], 1e-9)
