"""Statistics of a study: intervals, visibility, dominance and exponents, against rows whose truth is known."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpaudit.study.cells import Cell, RowKey
from dpaudit.study.certified import Certified
from dpaudit.study.contrasts import against_floors, dominances
from dpaudit.study.exponents import epsilon_exponents, horizon_exponents, jackknife, slope_of
from dpaudit.study.intervals import paired, student
from dpaudit.study.measured import Measured
from dpaudit.study.rows import Known, Row, rows_of
from dpaudit.study.study import Role, Study
from dpaudit.study.study_file import study_of
from tests.study.conftest import SMALL

_STUDY = study_of(Path("small.toml"), SMALL)
_POINT = Certified(epsilon=1.0, model="central", unit="one", verdict="certified")
_KNOWN = Known(certified=_POINT, config="")


def _row(
    label: str,
    samples: list[float],
    *,
    role: Role = "private",
    horizon: int = 1000,
    uniform: float = 100.0,
    **certified: Any,
) -> Row:
    held = {name: getattr(_POINT, name) for name in _POINT.__dataclass_fields__} | certified
    return Row(
        label=label, name="capri", family="f", role=role, epsilon=held["epsilon"], horizon=horizon,
        certified=Certified(**held) if role == "private" else Certified(why="outside"), config="",
        samples=tuple(samples), uniform=(uniform,) * len(samples), myopic=(math.nan,) * len(samples),
        regret=student(samples, 0.05), lost=math.nan, measured=(),
    )  # fmt: skip


def test_the_interval_is_students() -> None:
    """Ends agree with an independent program, and the interval covers as often as it says (2,000 draws, 9 errors)."""
    values = [1.0, 2.0, 4.0, 8.0]
    interval = student(values, 0.05)
    ends = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert (interval.lower, interval.upper) == pytest.approx(ends, rel=1e-12)
    rng = np.random.default_rng(0)
    draws = 2000
    held = [student(list(rng.normal(size=5)), 0.2) for _ in range(draws)]
    covered = sum(line.lower <= 0 <= line.upper for line in held)
    assert abs(covered / draws - 0.8) < 6.2 * math.sqrt(0.16 / draws)  # a false alarm in 1e-9
    assert abs(covered / draws - 0.7) > 6.2 * math.sqrt(0.21 / draws)  # an interval at 0.3 would be caught


def test_pairing_removes_what_two_rows_share() -> None:
    """Problems that differ a hundredfold leave a constant difference exact."""
    shared = [1.0, 10.0, 100.0]
    gap = paired([value + 2 for value in shared], shared, 0.05)
    assert (gap.lower, gap.upper) == pytest.approx((2.0, 2.0))


def test_learning_is_visible_only_below_half_of_uniform_play_and_clearly_below_every_floor() -> None:
    """A share of one half is needed, an interval below the best floor, and a blind run of the same algorithm."""
    blind = _row("blind", [45.0, 46.0, 44.0, 45.5], role="floor")
    rows = {
        "learns": _row("learns", [10.0, 11.0, 9.0, 10.0]),
        "slightly": _row("slightly", [60.0, 61.0, 59.0, 60.0]),
        "like the blind one": _row("like the blind one", [45.2, 45.9, 44.1, 45.4]),
        "noisy": _row("noisy", [1.0, 90.0, 2.0, 80.0]),
    }
    said = {line.row.label: line.visible for line in against_floors(_STUDY, (*rows.values(), blind))}
    assert said == {"learns": "yes", "slightly": "no", "like the blind one": "no", "noisy": "no"}
    assert against_floors(_STUDY, (rows["learns"],))[0].visible == "no blind floor"
    bonus_alone = _row("bonus alone", [45.0, 46.0, 44.0, 45.0])
    (against,) = against_floors(_STUDY, (bonus_alone, _row("uniform only", [99.0] * 4, role="floor")))
    assert against.visible == "yes", "without its own blind floor the exploration bonus looks like learning"


def test_dominance_needs_epsilon_model_and_a_clear_difference() -> None:
    """Less regret dominates at an epsilon not larger and a model not weaker only; local covers central."""
    good, bad = [10.0, 11.0, 9.0, 10.0], [50.0, 51.0, 49.0, 52.0]

    def found(**changed: Any) -> int:
        return len(dominances(_STUDY, (_row("good", good, **changed), _row("bad", bad))))

    assert found() == 1
    assert found(model="local") == 1
    assert found(model="joint") == 0
    assert found(epsilon=2.0) == 0
    assert found(why="no certificate: the claim is refuted") == 0
    assert not dominances(_STUDY, (_row("good", good), _row("bad", [10.5, 10.6, 9.5, 10.2])))


def test_exponents_of_known_curves() -> None:
    """A root in T has power 1/2, an inverse in epsilon power -1, and short or fixed ranges have none."""
    horizons = (10**3, 10**4, 10**5, 10**6)
    curve = [_row("a", [s * h**0.5 for s in (0.9, 1.0, 1.1)], horizon=h, uniform=1e9) for h in horizons]
    (power,) = horizon_exponents(_STUDY, tuple(curve), ())
    assert power.slope == pytest.approx(0.5)
    assert power.lower <= 0.5 <= power.upper
    assert power.root == pytest.approx(1.0)
    (short,) = horizon_exponents(_STUDY, tuple(curve[:3]), ())
    assert short.why.startswith("not in range")
    front = tuple(_row("b", [s / e + 3 for s in (0.9, 1.0, 1.1)], epsilon=e) for e in (0.1, 0.2, 0.4))
    ceiling = _row("none", [3.0, 3.0, 3.0], role="ceiling")
    (inverse,) = epsilon_exponents(_STUDY, (*front, ceiling))
    assert inverse.slope == pytest.approx(-1.0)
    assert epsilon_exponents(_STUDY, front)[0].why == "no run of the same algorithm without noise"
    assert math.isnan(slope_of([1.0, 2.0], [0.0, 1.0]))


def test_the_envelope_takes_the_worst_gap_at_each_horizon() -> None:
    """Two problems whose fixed gaps give bounded regret have the power 1/2 where the gap is chosen against them."""
    horizons = (10**3, 10**4, 10**5, 10**6)
    factors = tuple(10 ** (-i / 3) for i in range(13))
    study = Study(
        settings=_STUDY.settings.__class__(
            name="e", horizons=horizons, problems=(0, 1), runs=1, gap_factors=factors, delta=1e-5
        ),
        problem={}, contenders=_STUDY.contenders,
    )  # fmt: skip
    measured = tuple(
        Measured(cell=Cell(label="tight", epsilon=1.0, horizon=h, problem=p, gap_factor=s), uniform=1e9,
                 regret=(min(s * h, (1 + p) / s),))
        for h in horizons for p in (0, 1) for s in factors
    )  # fmt: skip
    known: dict[RowKey, Known] = {("tight", 1.0, h): _KNOWN for h in horizons}
    rows = rows_of(study, measured, known)
    assert {row.regret.mean for row in rows} == {1.5}
    (power,) = horizon_exponents(study, rows, measured)
    assert power.fit == "worst-gap envelope"
    assert power.slope == pytest.approx(0.5, abs=0.05)


def test_a_family_that_fades_with_the_horizon_has_a_power_over_its_runs() -> None:
    """Runs of which each alone touches 0 have the power of their mean; a fixed problem has none."""
    horizons = (10**3, 10**4, 10**5, 10**6)
    rng = np.random.default_rng(0)
    rows = tuple(
        _row("a", list(h**0.4 * rng.exponential(size=40) * (rng.random(40) > 0.2)), horizon=h, uniform=1e9)
        for h in horizons
    )
    settings = replace(_STUDY.settings, problems=(0,), horizons=horizons, runs=40)
    fixed = Study(settings=settings, problem={"name": "hard_family", "users": 1e6}, contenders=_STUDY.contenders)
    fading = replace(fixed, problem={"name": "hard_family", "users": "horizon"})
    assert horizon_exponents(fixed, rows, ())[0].why.startswith("one fixed problem")
    (power,) = horizon_exponents(fading, rows, ())
    means = [sum(row.samples) / 40 for row in rows]
    assert power.slope == pytest.approx(slope_of(horizons, means))
    assert power.lower <= 0.4 <= power.upper
    assert power.upper - power.lower < 0.3
    empty = (*rows[:3], _row("a", [0.0] * 40, horizon=10**6, uniform=1e9))
    assert horizon_exponents(fading, empty, ())[0].why == "a regret of 0 has no logarithm"


def test_the_jackknife_covers_the_power_of_a_mean_curve() -> None:
    """Of 400 draws of 20 runs, 95 in a hundred cover; a false alarm of this count has probability below 1e-8."""
    horizons = np.array([1e3, 1e4, 1e5, 1e6])
    rng = np.random.default_rng(1)
    intervals = [jackknife(list(horizons), horizons**0.5 * rng.exponential(size=(20, 4)), 0.05) for _ in range(400)]
    covered = sum(interval.lower <= 0.5 <= interval.upper for interval in intervals)
    assert covered >= 340
    assert sum(interval.lower <= 0.75 <= interval.upper for interval in intervals) < 60
