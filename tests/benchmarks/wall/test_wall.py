"""The wall: rows under one error rate, known defects and misses, private lists, other environments, the page."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from benchmarks.wall import rows as shipped
from benchmarks.wall.__main__ import app
from benchmarks.wall.environments import measured_elsewhere
from benchmarks.wall.measuring import measure
from benchmarks.wall.page import summary, wall_data, wall_document
from benchmarks.wall.private_list import read_private
from benchmarks.wall.row import Replay, Row, RowResult, Standing, row_result
from dpaudit import Claim
from dpaudit.adapters import LibraryRelease
from dpaudit.adapters.calls import Calls
from dpaudit.documents.markdown import markdown
from dpaudit.documents.page import page as page_of
from dpaudit.errors import ConfigError, UnsupportedError
from dpaudit.model.declaration import Stated

NOISE = np.random.default_rng(0)


def count_row(scale: float, *, delta: float = 0.0, standing: Standing = "sound", runs: int = 2_000) -> Row:
    """Return the row of a count with geometric noise, which claims epsilon 1 and needs scale 1 for it."""

    def noisy(data: int) -> int:
        first, second = NOISE.geometric(1 - np.exp(-1 / scale), 2)
        return int(data + first - second)

    def build() -> LibraryRelease:
        return LibraryRelease(
            library="demo",
            version="3",
            text="a count",
            claim=Claim(epsilon=1.0, delta=delta, neighbours="add_remove"),
            source="count.epsilon",
            declaration=Stated(epsilon=1.0, delta=delta, source="demo", neighbours="add_remove"),
            function=Calls(call=noisy),
            pair=(3, 4),
            reproducible=False,
        )

    return Row(library="demo", name="count", pair="3 and 4", runs=runs, build=build, standing=standing)


def failing_row(error: Exception) -> Row:
    """Return a row that cannot be built."""

    def build() -> LibraryRelease:
        raise error

    return Row(library="demo", name="fails", pair="none", runs=10, build=build)


def measured(*rows: Row) -> tuple[RowResult, ...]:
    """Return the results of rows, as a family of their own number."""
    return measure(rows, family=len(rows), significance=0.01, seed=1)


def wall(*arguments: str) -> Result:
    """Return the ended command."""
    return CliRunner().invoke(app, [*arguments])


def test_a_sound_row_passes_and_half_the_noise_is_accused_twice() -> None:
    """An accusation is repeated on fresh runs; a known defect that is accused surprises nobody."""
    right, wrong, known = measured(count_row(1.0), count_row(0.4), count_row(0.4, standing="known bug"))
    assert (right.outcome, right.accused, right.again) == ("not_refuted", False, None)
    assert (wrong.outcome, wrong.accused, wrong.again, wrong.surprising) == ("violation", True, True, True)
    assert known.accused
    assert not known.surprising
    assert right.epsilon_lower <= 1.0
    assert right.version == "3"
    assert right.stated


def test_a_known_defect_that_gets_away_is_missed() -> None:
    """A sound row that is said to be broken; a row that was not run is no detected one."""
    (row,) = measured(count_row(1.0, standing="known bug"))
    assert row.missed
    assert "Of 1 known bugs that were run, 0 were detected." in summary((row,), 0.01, 1)
    assert "Of 0 known bugs that were run, 0 were detected." in summary((replace(row, outcome="not run"),), 0.01, 1)


def test_a_row_of_which_nothing_can_be_concluded_says_why() -> None:
    """A library whose every call raises shows one output: the audit's reason stands beside the library's notes."""

    def raises(data: int) -> int:
        del data
        raise TypeError("unknown argument")

    def build() -> LibraryRelease:
        made = count_row(1.0).build()
        assert isinstance(made, LibraryRelease)
        return replace(made, function=Calls(call=raises))

    (row,) = measured(replace(count_row(1.0, standing="misuse"), build=build))
    assert row.outcome == "inconclusive"
    assert "Every output was the same" in row.note


def test_rates_decide_where_runs_times_delta_exceeds_one() -> None:
    """At delta .01 an atom of mass .05 on one side is seen, which the guesses give away; .01 itself is not accused."""

    def leaking(mass: float) -> Row:
        base = count_row(1.0, delta=0.01, runs=4_000)

        def build() -> LibraryRelease:
            made = base.build()
            assert isinstance(made, LibraryRelease)
            return LibraryRelease(
                library=made.library,
                version=made.version,
                text=made.text,
                claim=made.claim,
                source=made.source,
                declaration=made.declaration,
                function=Calls(call=lambda data: int(data == 4 and NOISE.random() < mass)),
                pair=made.pair,
                reproducible=False,
            )

        return Row(library="demo", name="atom", pair="3 and 4", runs=4_000, build=build)

    caught, fair = measured(leaking(0.05), leaking(0.01))
    assert caught.outcome == "violation"
    assert fair.outcome != "violation"


def test_a_row_that_cannot_run_says_why_and_the_wall_goes_on() -> None:
    """A missing library, and a library's own error, on one line."""
    rows = failing_row(UnsupportedError("not installed here")), failing_row(ValueError("two\nlines")), count_row(1.0)
    missing, raising, right = measured(*rows)
    assert (missing.outcome, missing.note) == ("not run", "not installed here")
    assert raising.note == "The library raised ValueError: two lines"
    assert right.outcome == "not_refuted"
    assert not missing.missed


def test_a_replay_compares_what_is_seen_with_what_is_claimed() -> None:
    """A larger distance is an accusation, an equal one is none."""
    rows = [
        Row(
            library="demo",
            name="sum",
            pair="one record",
            runs=1,
            build=partial(Replay, text="sum", claimed=1.0, seen=seen, version="3"),
        )
        for seen in (1.0, 1.5)
    ]
    equal, larger = measured(*rows)
    assert not equal.accused
    assert larger.accused
    assert "claimed 1, seen 1.5" in larger.note


def test_the_family_lowers_the_level_of_each_row() -> None:
    """What one row of one would accuse, one of ten to the thirty would not."""
    row = count_row(0.55, runs=1_000)
    assert measure([row], family=1, significance=0.01, seed=2)[0].accused
    assert not measure([row], family=10**30, significance=0.01, seed=2)[0].accused


def test_the_shipped_list_has_seventy_rows_of_twelve_libraries_and_imports_none() -> None:
    """Known defects name a source; no library is imported by the list."""
    rows = shipped.every_row()
    assert len(rows) >= 70
    assert len({row.library for row in rows}) == 12
    assert all(row.source for row in rows if row.standing != "sound")
    assert sum(row.standing == "known bug" for row in rows) >= 5
    assert not {"opendp", "diffprivlib", "pydp", "pipeline_dp", "snsql", "tmlt", "dpmm", "snsynth"} & set(sys.modules)


def test_results_go_to_json_and_back_and_onto_a_page() -> None:
    """Another environment's rows are read as they were; foreign text cannot become markup."""
    results = measured(count_row(1.0), count_row(0.4), failing_row(ValueError("<script>alert(1)</script>")))
    data = json.loads(json.dumps(wall_data(results, 0.01, 3, 1)))
    assert tuple(row_result(row) for row in data["rows"]) == results
    shown = wall_document(results, 0.01, 3, "2026-01-01")
    page = page_of(shown)
    assert "<script>" not in page
    assert "violation, again on fresh runs" in page
    assert page.count("<tr>") == 4
    assert "| not run |" in markdown(shown)


PRIVATE = """\
[[row]]
library = "demo"
name = "a row of one's own"
object = "private_rows:build"
runs = 400
{more}
"""

MODULE = """\
from dpaudit import Claim
from dpaudit.adapters import LibraryRelease
from dpaudit.adapters.calls import Calls
from dpaudit.model.declaration import Stated


def build():
    claim = Claim(epsilon=1.0, neighbours="add_remove")
    return LibraryRelease(
        library="demo", version="3", text="tells", claim=claim, source="demo", reproducible=True,
        declaration=Stated(epsilon=1.0, source="demo", neighbours="add_remove"),
        function=Calls(call=lambda data: data), pair=(0, 1),
    )
"""


@pytest.fixture
def private(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a private list beside its module."""
    (tmp_path / "private_rows.py").write_text(MODULE, encoding="utf-8")

    def written(more: str) -> Path:
        path = tmp_path / "private.toml"
        path.write_text(PRIVATE.format(more=more), encoding="utf-8")
        return path

    return written


def test_a_private_list_is_measured_in_place_of_the_shipped_one(private: Callable[[str], Path], tmp_path: Path) -> None:
    """A leak that is known is caught, with exit 0; one that is held to be sound is a finding. The page is written."""
    page = tmp_path / "wall.html"
    known = wall("--private", str(private("")), "--seed", "1", "--format", "json", "--page", str(page))
    assert known.exit_code == 0, known.output
    (row,) = json.loads(known.stdout)["rows"]
    assert (row["outcome"], row["standing"]) == ("violation", "known bug")
    assert "a row of one&#x27;s own" in page.read_text(encoding="utf-8").replace("&#39;", "&#x27;")
    assert wall("--private", str(private('standing = "sound"')), "--seed", "1").exit_code == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("rns = 3", "unknown key 'rns'; did you mean 'runs'?"),
        ('standing = "odd"', "standing='odd'"),
        ("source = 3", "expected source to be text"),
        ("[other]", "expected one table [[row]]"),
    ],
)
def test_a_wrong_private_list_is_one_line(private: Callable[[str], Path], more: str, words: str) -> None:
    """File, row, rule; exit code 2."""
    path = private(more)
    with pytest.raises(ConfigError) as caught:
        read_private(path)
    assert words in str(caught.value)
    ended = wall("--private", str(path))
    assert ended.exit_code == 2
    assert len([line for line in ended.stderr.splitlines() if not line.startswith("seed")]) == 1


def test_options_out_of_range_are_one_line() -> None:
    """An unknown library names the nearest; a significance outside (0, 1)."""
    assert "did you mean 'opendp'?" in wall("--library", "opendpp").stderr
    assert wall("--significance", "2").exit_code == 2


def test_a_library_that_is_not_installed_is_not_run_and_the_wall_is_inconclusive() -> None:
    """Every row says so; exit code 4."""
    pytest.importorskip("dpaudit")
    if any(name in sys.modules for name in ("snsql",)):
        pytest.skip("SmartNoise SQL is here")
    ended = wall("--library", "smartnoise-sql", "--seed", "1", "--format", "json")
    assert ended.exit_code == 4
    assert {row["outcome"] for row in json.loads(ended.stdout)["rows"]} == {"not run"}


def test_an_interpreter_of_its_own_measures_a_library(tmp_path: Path) -> None:
    """The same rows through a process; an interpreter that fails is one clear error."""
    results = measured_elsewhere(Path(sys.executable), "smartnoise-sql", 70, 0.01, 1)
    assert {row.outcome for row in results} == {"not run"}
    with pytest.raises(ConfigError, match="cannot measure"):
        measured_elsewhere(tmp_path / "python", "opendp", 70, 0.01, 1)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_an_environment_without_dpaudit_says_what_it_lacks(tmp_path: Path) -> None:
    """The last line of what the other interpreter said, and the remedy, on one line."""
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho Traceback >&2\necho \"No module named 'typer'\" >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    with pytest.raises(ConfigError, match=r"No module named 'typer'.*Install dpaudit") as caught:
        measured_elsewhere(broken, "opendp", 70, 0.01, 1)
    assert "\n" not in str(caught.value)
