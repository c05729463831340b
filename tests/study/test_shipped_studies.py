"""The studies that ship: their files and tables are read and drawn, and rows lie between lower bounds and ceilings."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import algorithms
from dpaudit import certify
from dpaudit.configuration.config import read_config
from dpaudit.study.figures import figures_of, study_front
from dpaudit.study.study_file import read_study
from dpaudit.study.tables import read_rows
from dpaudit.workflow import usefulness_in

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "examples" / "studies").glob("*.toml"))
STUDIES = cache(read_study)
TABLES = ROOT / "docs" / "measured" / "studies"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_study_that_ships_is_read_and_has_a_quick_form(path: Path) -> None:
    """The file makes every algorithm and problem once, also at the quick horizons; its name is that of the file."""
    study = STUDIES(path)
    assert study.settings.name == path.stem
    quick = study.settings.quickly()
    assert quick.runs * len(quick.problems) * len(quick.horizons) <= study.settings.runs * len(
        study.settings.problems
    ) * len(study.settings.horizons)
    assert {"private", "floor"} <= {contender.role for contender in study.contenders}


def test_every_paper_has_a_study() -> None:
    """All algorithms but training by noisy gradients run in some shipped study."""
    names = {contender.name for path in FILES for contender in STUDIES(path).contenders}
    assert set(algorithms.NAMES) - {"dp_sgd"} <= names


def test_every_study_has_its_tables_beside_the_documents() -> None:
    assert {path.name for path in TABLES.iterdir()} == {path.stem for path in FILES}


@pytest.mark.slow
def test_equal_tables_draw_equal_figures_and_other_tables_others() -> None:
    """Bytes of every figure; on a change a small study gives equal bytes from two processes."""
    texts = [(TABLES / "capri_grid" / f"{name}.csv").read_text(encoding="utf-8") for name in ("rows", "exponents")]
    first = figures_of(*texts)
    assert first == figures_of(*texts)
    assert set(first) == {
        f"{name}.{kind}" for name in ("front", "regret_over_time", "exponents") for kind in ("svg", "png", "pdf")
    }
    other = figures_of(texts[0].replace("joint, tight", "joint, otherwise"), texts[1])
    assert other["front.svg"] != first["front.svg"]
    assert all(first[name].startswith(b"%PDF-") for name in first if name.endswith(".pdf"))


def test_a_figure_for_a_paper_has_neither_title_nor_caption() -> None:
    """The front's title and its sentences are in the SVG; the PDF, which is made without them, is of less height."""
    plot = study_front(_plotted("capri_grid"))
    bare = replace(plot, title="", caption=())
    assert [plot.title in part for part in plot.draw(760.0).parts].count(True) == 1
    assert not any(plot.title in part or "Problem: " in part for part in bare.draw(760.0).parts)
    assert any("certified epsilon" in part for part in bare.draw(760.0).parts)
    assert bare.draw(760.0).height < plot.draw(760.0).height


@pytest.mark.parametrize("study", ["capri_grid", "hardest_duels", "hardest_process"])
def test_both_walls_lie_within_the_axes_of_a_front(study: str) -> None:
    """Every lower bound, and what is proved or the most that can be lost, at the longest horizon."""
    rows = _plotted(study)
    plot = study_front(rows)
    longest = max(row["T"] for row in rows)
    here = [row for row in rows if row["T"] == longest and row["role"] == "private" and not row["remark"]]
    lower = [bound["regret"] / longest for row in here if (bound := row["lower_bound"]) and bound.get("regret")]
    upper = [min(bound["regret"], bound["most"]) / longest for row in here if (bound := row["upper_bound"])]
    assert lower
    assert upper
    assert plot.up.low < min(lower + upper) < max(lower + upper) < plot.up.high


def test_the_shipped_example_learns_by_its_shipped_study() -> None:
    """The study of the same configuration is visible at the configured horizon, and says which table dominates it."""
    configuration = read_config(ROOT / "examples" / "capri_rand_hie.toml")
    useful = usefulness_in(configuration, certify(configuration.subject.declaration, configuration.subject.claim))
    assert useful.sentences[0].startswith("In simulation on rand_hie with 10,000,000 users, the certified setting lost")
    assert [remark for remark, _ in useful.remarks] == ["dominated"]
    assert useful.front is not None
    assert useful.front.present.label == "joint tight"


def _points(study: str, label: str, horizon: str) -> list[tuple[float, float, float]]:
    """Return (certified epsilon, regret, standard error) of one contender of a shipped table, by epsilon."""
    rows = [line for line in _rows(study) if (line["contender"], line["T"]) == (label, horizon)]
    return sorted((float(line["epsilon"]), float(line["regret"]), float(line["se"])) for line in rows)


@pytest.mark.parametrize(
    ("study", "names", "horizon"),
    [
        ("capri_grid", ("joint, tight", "joint, printed"), "1000000"),
        ("capri_grid", ("joint, tight", "joint, printed"), "10000000"),
        ("capri_rand_hie", ("joint tight", "joint printed"), "10000000"),
        ("capri_rand_hie", ("joint tight", "joint printed"), "100000000"),
    ],
)
def test_printed_and_tight_noise_lie_on_one_curve(study: str, names: tuple[str, str], horizon: str) -> None:
    """At equal certified epsilon, between two tight points on logarithmic axes: within 3 joint standard errors.

    Points at other epsilons do differ: the largest printed point is clearly not the largest tight one.
    """
    curve, printed = (_points(study, name, horizon) for name in names)
    compared = 0
    for epsilon, regret, error in printed:
        for (low, above, first), (high, below, second) in pairwise(curve):
            if low <= epsilon <= high:
                share = math.log(epsilon / low) / math.log(high / low)
                between = above ** (1 - share) * below**share
                assert abs(regret - between) <= 3 * math.hypot(error, max(first, second)), epsilon
                compared += 1
    assert compared
    last, claim = printed[-1], curve[-1]
    assert abs(last[1] - claim[1]) > 3 * math.hypot(last[2], claim[2])


_ERRORS = 4.0
"""How many joint standard errors a contender may lie below a ceiling by chance."""


def _plotted(study: str) -> list[dict[str, Any]]:
    """Return the rows of a shipped table as figures read them."""
    return read_rows((TABLES / study / "rows.csv").read_text(encoding="utf-8"))


@cache
def _rows(study: str) -> list[dict[str, str]]:
    """Return the rows of a shipped table."""
    with (TABLES / study / "rows.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


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
    tuned = {
        contender.name
        for path in FILES
        for contender in STUDIES(path).contenders
        if contender.role == "ceiling" and contender.tune
    }
    assert {"kernel_ucb", "rucb", "lin_ucb", "ucrl_vtr", "lsvi_ucb", "pucb"} <= tuned
