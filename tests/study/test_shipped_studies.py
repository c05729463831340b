"""The study files that ship: all are read, every algorithm is made, and their tables are drawn."""

import csv
import io
import math
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import algorithms
from dpaudit import certify
from dpaudit.configuration.config import read_config
from dpaudit.study.figures import draw_front, figures_of, without_words
from dpaudit.study.study_file import read_study
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
    """The front's texts are drawn in the SVG's figure and are gone from what the PDF is made of; its axes stay."""
    text = (TABLES / "capri_grid" / "rows.csv").read_text(encoding="utf-8")
    figure = draw_front(list(csv.DictReader(io.StringIO(text))))
    (axes,) = figure.axes
    assert figure.texts
    assert axes.get_title(loc="left")
    bare = without_words(figure)
    assert (bare.texts, axes.get_title(loc="left")) == ([], "")
    assert axes.get_xlabel() == "certified epsilon (nats)"
    assert axes.get_legend() is not None


@pytest.mark.parametrize("study", ["capri_grid", "hardest_duels", "hardest_process"])
def test_both_walls_lie_within_the_axes_of_a_front(study: str) -> None:
    """Every lower bound, and what is proved or the most that can be lost, at the longest horizon."""
    lines = list(csv.DictReader(io.StringIO((TABLES / study / "rows.csv").read_text(encoding="utf-8"))))
    (axes,) = draw_front(lines).axes
    bottom, top = axes.get_ylim()
    longest = max(int(line["T"]) for line in lines)
    here = [line for line in lines if int(line["T"]) == longest and line["role"] == "private"]
    walls = [float(line[name]) / longest for line in here for name in ("lower_bound", "upper_bound") if line[name]]
    assert len(walls) > len(here)
    assert bottom < min(walls) < max(walls) < top


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
    with (TABLES / study / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = [line for line in csv.DictReader(file) if (line["contender"], line["T"]) == (label, horizon)]
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
