"""The shipped tables agree with numbers that an earlier version of the code measured on its own runs."""

import csv
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from dpaudit.study.study_file import read_study

TABLES = Path(__file__).resolve().parents[2] / "docs" / "measured" / "studies"
_ERRORS = 4.0
"""How many joint standard errors two means of the same law may be apart."""

Line = tuple[str, float | None, float, float, float | None]
"""Contender, claim, horizon, regret a round, and its standard error; None where only the mean was written down."""

_GRID: tuple[Line, ...] = (
    *(("no noise", None, t, m, s) for t, m, s in ((1e5, 0.0156, 0.0021), (1e6, 0.0021, 5e-4), (1e7, 2.1e-4, 4e-5))),
    *(("joint, tight", 0.1, t, m, s) for t, m, s in ((1e5, 0.0909, 0.0095), (1e6, 0.0138, 6e-4), (1e7, 0.0014, 7e-5))),
    *(("joint, tight", 1, t, m, s) for t, m, s in ((1e5, 0.0324, 0.0015), (1e6, 0.004, 6e-4), (1e7, 3.8e-4, 5e-5))),
    *(("joint, printed", 1, t, m, None) for t, m in ((1e5, 0.1217), (1e6, 0.0354), (1e7, 0.0043))),
    *(("joint, printed", 16, t, m, None) for t, m in ((1e5, 0.0379), (1e6, 0.0051), (1e7, 5.6e-4))),
    *(("local, tight", 4, t, m, None) for t, m in ((1e5, 0.126), (1e6, 0.1091), (1e7, 0.0288))),
)
_PLANS: tuple[Line, ...] = (
    *(("no noise", None, t, m, s) for t, m, s in ((1e6, 0.0332, 0.0012), (1e7, 0.0069, 4e-4), (1e8, 7.6e-4, 5e-5))),
    *(("joint tight", 0.1, t, m, s) for t, m, s in ((1e6, 0.0533, None), (1e7, 0.0292, 3e-4), (1e8, 0.0036, 1e-4))),
    *(("joint tight", 1, t, m, s) for t, m, s in ((1e6, 0.0455, 3e-4), (1e7, 0.0122, 5e-4), (1e8, 0.00119, 4e-5))),
    *(("joint printed", 16, t, m, s) for t, m, s in ((1e6, 0.0482, 2e-4), (1e7, 0.016, 4e-4), (1e8, 0.0018, 1e-4))),
    *(("cell table", 1, t, m, s) for t, m, s in ((1e6, 0.0131, 3e-4), (1e7, 0.00157, 5e-5), (1e8, 1.9e-4, 1e-5))),
    ("local tight", 16, 1e8, 0.0482, None),
)
_VOTES: tuple[Line, ...] = (
    *(
        ("trees tight, R2", e, 1e5, m, s)
        for e, m, s in ((1, 1.39, 0.018), (2, 0.821, 0.012), (4, 0.483, 0.006), (16, 0.215, 0.005))
    ),
    *(("trees tight, R2", e, 1e6, m, None) for e, m in ((1, 0.19), (4, 0.0635))),
    ("trees tight, R3", 1, 1e6, 0.1348, 9e-4),
    ("trees without noise, R2", None, 1e5, 0.101, 0.003),
    *(("trees printed", e, 1e5, m, None) for e, m in ((4, 0.849), (16, 0.315))),
    *(("local", e, 1e5, m, s) for e, m, s in ((0.5, 1.511, 0.018), (1, 0.459, 0.012), (2, 0.177, 0.005))),
    *(
        ("batched", e, 1e5, m, s)
        for e, m, s in ((0.02, 0.973, None), (0.05, 0.4, 0.011), (0.1, 0.67, 0.053), (0.2, 0.173, 0.012))
    ),
)
_LARGE: tuple[Line, ...] = (
    *(("CAPRI", 1, t, m, s) for t, m, s in ((1e6, 0.0535, 0.0076), (1e7, 0.0087, 0.0016))),
    *(("cell table", 1, t, m, s) for t, m, s in ((1e6, 0.1011, 0.0203), (1e7, 0.0181, 0.0015))),
)
_SPHERE: tuple[Line, ...] = (
    ("no noise", None, 1e5, 0.0625, 0.0055),
    *(("practical", e, 1e5, m, None) for e, m in ((1, 0.06), (0.3, 0.071), (0.1, 0.09), (0.03, 0.142))),
    ("noise of the proof", 1, 1e5, 0.075, 0.012),
    ("printed lengths", 1, 1e6, 1.885, None),
)
_ATOMS: tuple[Line, ...] = (
    *(("LPLR", 1, t, m, s) for t, m, s in ((1e10, 0.278, 0.009), (1e11, 0.0572, 0.0095))),
    *(("LPLR", 4, t, m, s) for t, m, s in ((1e10, 0.0375, 0.0059), (1e11, 0.005, 8e-4))),
    ("sufficient statistics", 1, 1e6, 0.0148, 0.0026),
)
_TRAVEL: tuple[Line, ...] = (
    *(("trees tight, R2", e, 1e5, m, None) for e, m in ((1, 0.339), (4, 0.188), (16, 0.143))),
    *(("batched", e, 1e5, m, None) for e, m in ((0.1, 0.248), (1, 0.1255))),
)
_STUDIES = {
    "capri_grid": _GRID,
    "capri_rand_hie": _PLANS,
    "dp_ebs": _VOTES,
    "large_grid": _LARGE,
    "g_optimal": _SPHERE,
    "lplr": _ATOMS,
    "dp_ebs_modechoice": _TRAVEL,
}


@cache
def _rows(study: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a shipped table."""
    with (TABLES / study / "rows.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def _apart(study: str, line: Line, *, factor: float = 1.0) -> float:
    """Return how many joint standard errors the shipped mean, times `factor`, lies from the one written down.

    A mean without an error has that of the shipped row, and the rounding of its third digit.
    """
    contender, claim, horizon, mean, error = line
    (row,) = [
        row
        for row in _rows(study)
        if row["contender"] == contender
        and float(row["T"]) == horizon
        and (claim is None or float(row["claim_epsilon"]) == claim)
    ]
    found, own = (float(row[key]) / horizon for key in ("regret", "se"))
    return abs(factor * found - mean) / math.hypot(own, own if error is None else error, 2e-3 * mean)


@pytest.mark.parametrize("study", _STUDIES)
def test_a_table_agrees_with_what_was_measured_before(study: str) -> None:
    """Every row lies within four joint standard errors; regret three times as large would be noticed on most."""
    lines = _STUDIES[study]
    apart = {line[:3]: _apart(study, line) for line in lines}
    assert max(apart.values()) <= _ERRORS, max(apart, key=lambda key: apart[key])
    assert sum(_apart(study, line, factor=3.0) > _ERRORS for line in lines) > len(lines) / 2


@pytest.mark.parametrize(("claim", "person"), [(0.1, 0.579), (0.3, 1.75), (1, 6.167), (4, 29.71), (16, 166.6)])
def test_the_epsilon_of_a_person_in_five_units_is_that_of_the_group(claim: float, person: float) -> None:
    """Five units of insurance have the epsilon of 5 mu at the same delta, to the digits written down."""
    (found,) = {
        float(row["epsilon_person"])
        for row in _rows("capri_rand_hie")
        if row["contender"] == "joint tight" and float(row["claim_epsilon"]) == claim
    }
    assert found == pytest.approx(person, rel=1e-3)
    assert found > 5 * claim


_WALLS = {
    "dp_ebs": "hardest_duels",
    "g_optimal_dueling": "hardest_utilities",
    "capri": "hardest_bandit",
    "lplr": "hardest_linear",
    "lsvi_ucb": "hardest_process",
    "ucrl_vtr": "hardest_mixture",
}
"""The study of each algorithm on all instances of its lower bound."""


@pytest.mark.parametrize("algorithm", _WALLS)
def test_every_algorithm_lies_between_both_walls_on_the_worst_of_all_instances(algorithm: str) -> None:
    """Each private row has certified epsilon, worst instance and bound, and no interval ends below the bound.

    The worst instance is no average, and what is proved is not exceeded. A bound a million times as large would be
    above some intervals.
    """
    rows = [row for row in _rows(_WALLS[algorithm]) if row["role"] == "private"]
    assert algorithm in {row["algorithm"] for row in rows}
    for row in rows:
        assert float(row["epsilon"]) <= float(row["claim_epsilon"])
        assert float(row["worst_upper"]) > float(row["lower_bound"]) > 0
        assert float(row["worst_upper"]) >= float(row["worst_instance"]) >= float(row["regret"])
        assert not row["upper_bound"] or float(row["worst_lower"]) <= float(row["upper_bound"])
        assert float(row["problems"]) == float(row["instances"])
    assert any(float(row["worst_upper"]) < 1e6 * float(row["lower_bound"]) for row in rows)


def _ceilings(rows: Sequence[Mapping[str, str]], factor: float = 1.0) -> list[str]:
    """Return who loses less than the best ceiling at its horizon, by more than four joint standard errors.

    `factor` multiplies what the ceilings lose.
    """
    below: list[str] = []
    for horizon in {row["T"] for row in rows}:
        here = [row for row in rows if row["T"] == horizon]
        best = min((row for row in here if row["role"] == "ceiling"), key=lambda row: float(row["regret"]))
        level = factor * float(best["regret"])
        for row in here:
            error = math.hypot(*(float(held["se"] or 0) for held in (row, best)))
            if row is not best and level > float(row["regret"]) + _ERRORS * error + 1e-9 * level:
                below.append(f"{row['contender']} {row['claim_epsilon']} at T = {horizon}")
    return below


@pytest.mark.parametrize("path", sorted(TABLES.iterdir()), ids=lambda path: path.name)
def test_no_contender_loses_less_than_the_ceiling(path: Path) -> None:
    """At every horizon the best ceiling loses at most what each row does, plus four joint standard errors.

    A ceiling as high as uniform play would be noticed wherever one contender loses less than half.
    """
    rows = _rows(path.name)
    assert _ceilings(rows) == []
    if any(row["role"] == "private" and float(row["share"]) <= 0.5 for row in rows):
        assert _ceilings(rows, factor=1e6)


def test_each_family_has_a_ceiling_whose_settings_were_chosen_on_other_seeds() -> None:
    """Kernel, dueling, linear, linear mixture, low-rank and tabular methods each have one in some shipped study."""
    files = sorted((TABLES.parents[2] / "examples" / "studies").glob("*.toml"))
    studies = [read_study(path) for path in files]
    tuned = {
        contender.name
        for study in studies
        for contender in study.contenders
        if contender.role == "ceiling" and contender.tune
    }
    assert {"kernel_ucb", "rucb", "lin_ucb", "ucrl_vtr", "lsvi_ucb", "pucb"} <= tuned
