"""The shipped tables lie between lower bounds and ceilings, and state the epsilon of a person rightly."""

import csv
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

from dpaudit.study.study_file import read_study

TABLES = Path(__file__).resolve().parents[2] / "docs" / "measured" / "studies"
_ERRORS = 4.0
"""How many joint standard errors a contender may lie below a ceiling by chance."""


@cache
def _rows(study: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a shipped table."""
    with (TABLES / study / "rows.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


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
