"""The study files that ship: all are read, every algorithm is made, and their tables are drawn."""

from functools import cache
from pathlib import Path

import pytest

import algorithms
from dpaudit import certify
from dpaudit.configuration.config import read_config
from dpaudit.study.figures import figures_of
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


def test_every_study_has_its_tables_and_they_draw_equal_figures_twice() -> None:
    """Each file has rows and exponents beside the documents; equal tables give equal bytes, other tables others."""
    assert {path.name for path in TABLES.iterdir()} == {path.stem for path in FILES}
    texts = [(TABLES / "capri_grid" / f"{name}.csv").read_text(encoding="utf-8") for name in ("rows", "exponents")]
    first = figures_of(*texts)
    assert first == figures_of(*texts)
    assert set(first) == {
        f"{name}.{kind}" for name in ("front", "regret_over_time", "exponents") for kind in ("svg", "png")
    }
    other = figures_of(texts[0].replace("joint, tight", "joint, otherwise"), texts[1])
    assert other["front.svg"] != first["front.svg"]


def test_the_shipped_example_learns_by_its_shipped_study() -> None:
    """The study of the same configuration is visible at the configured horizon, and says which table dominates it."""
    configuration = read_config(ROOT / "examples" / "capri_rand_hie.toml")
    useful = usefulness_in(configuration, certify(configuration.subject.declaration, configuration.subject.claim))
    assert useful.sentences[0].startswith("In simulation on rand_hie with 10,000,000 users, the certified setting lost")
    assert [remark for remark, _ in useful.remarks] == ["dominated"]
    assert useful.front is not None
    assert useful.front.present.label == "joint tight"
