"""The course of a study: pairing, bytes, resumption, certified epsilon, failures."""

import csv
import io
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from algorithms.capri import Capri
from dpaudit import Claim, Streams, Transcript, certify, schemas
from dpaudit.cli.app import app
from dpaudit.figures.plot import Series
from dpaudit.study import making
from dpaudit.study.cells import cells_of
from dpaudit.study.certified import certified_at
from dpaudit.study.document import document_of
from dpaudit.study.figures import study_front
from dpaudit.study.intervals import student
from dpaudit.study.making import make_problem
from dpaudit.study.measuring import measure
from dpaudit.study.running import Outcome, run_study
from dpaudit.study.store import CellStore
from dpaudit.study.study_file import read_study, study_of
from dpaudit.study.tables import read_rows, rows_csv
from dpaudit.study.writing import write_study
from tests.study.conftest import SMALL, how_in


def _run(path: Path, folder: Path, *, resume: bool = False) -> Outcome:
    return run_study(read_study(path), path.parent, how_in(folder, resume=resume))


def _bytes(outcome: Outcome, base: Path, folder: Path) -> dict[str, bytes]:
    folder.mkdir(exist_ok=True)
    return {path.name: path.read_bytes() for path in write_study(outcome, base, folder) if path.name != "seconds.csv"}


def test_a_second_run_and_a_resumed_one_give_equal_bytes(file: Path, tmp_path: Path) -> None:
    """Every file but the seconds depends on the study alone: on a second run, and after an interruption."""
    first = _bytes(_run(file, tmp_path / "a"), tmp_path, tmp_path / "a")
    again = _bytes(_run(file, tmp_path / "b"), tmp_path, tmp_path / "b")
    assert first == again
    kept = sorted((tmp_path / "b" / "cells").iterdir())
    for path in kept[:5]:
        path.unlink()
    kept[6].write_text('{"cell":', encoding="utf-8")  # cut short by a crash
    touched = kept[8].stat().st_mtime_ns
    assert _bytes(_run(file, tmp_path / "b", resume=True), tmp_path, tmp_path / "b") == first
    assert kept[8].stat().st_mtime_ns == touched, "a finished cell ran again"


def test_two_processes_give_the_bytes_of_one(file: Path, tmp_path: Path) -> None:
    """The command with one job and with two writes the same files; a quick study is another one."""
    written: list[dict[str, bytes]] = []
    for number, options in enumerate((["--jobs", "1"], ["--jobs", "2"], ["--quick"])):
        folder = tmp_path / str(number)
        ended = CliRunner().invoke(app, ["study", str(file), "-o", str(folder), *options])
        assert ended.exit_code == 0, ended.output
        written.append({p.name: p.read_bytes() for p in folder.iterdir() if p.is_file() and p.name != "seconds.csv"})
    assert written[0] == written[1]
    assert len(written[0]) == 16
    assert written[2]["rows.csv"] != written[0]["rows.csv"]


def test_another_seed_gives_other_numbers(tmp_path: Path) -> None:
    """The twin of equal bytes: the seed of a study enters its cells."""
    study = study_of(tmp_path / "s.toml", SMALL)
    other = replace(study, settings=replace(study.settings, seed=8))
    cell = cells_of(study)[0]
    assert measure(study, cell, tmp_path).regret != measure(other, cell, tmp_path).regret


def test_a_cells_file_changes_with_everything_that_its_numbers_depend_on(tmp_path: Path) -> None:
    """Seed, runs, problem and settings of the algorithm enter the name of a cell's file; the study's name does not."""
    study = study_of(tmp_path / "s.toml", SMALL)
    store, cell = CellStore(folder=tmp_path), cells_of(study)[0]
    settings = study.settings
    others = [
        replace(study, settings=replace(settings, seed=9)),
        replace(study, settings=replace(settings, runs=4)),
        replace(study, problem=study.problem | {"density": 0.9}),
        replace(study, contenders=(replace(study.contenders[0], role="floor"), *study.contenders[1:])),
    ]
    renamed = replace(study, settings=replace(settings, name="other"))
    assert store.path(study, cell) == store.path(renamed, cell)
    assert len({store.path(held, cell) for held in (study, *others)}) == 5


def test_all_contenders_of_one_seed_meet_the_same_first_users(tmp_path: Path) -> None:
    """Neither contender nor epsilon enters the seed: until the first release every contender plays the same."""
    study = study_of(tmp_path / "s.toml", SMALL)
    drawn: list[Any] = []

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Watched(Capri):
        def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
            transcript: Transcript = Capri.run(self, problem, streams, n_runs)
            drawn.append(transcript.arrays["actions"][:, 0].tolist())
            return transcript

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "find_contender", lambda name: Watched)
        for cell in cells_of(study):
            if cell.label == "tight" and (cell.horizon, cell.problem) == (2000, 1):
                measure(study, cell, tmp_path)
    assert len(drawn) == 2
    assert drawn[0] == drawn[1]


def test_the_axis_is_the_certificate_of_what_was_declared_not_the_claim(tmp_path: Path, file: Path) -> None:
    """A contender that declares half the noise of its claim stands at its true epsilon, and its claim is refuted."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Half(Capri):
        def declaration(self) -> Any:
            return Capri.declaration(replace(self, epsilon=self.epsilon * 2))

        def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
            return Capri.run(replace(self, epsilon=self.epsilon * 2), problem, streams, n_runs)

    study = study_of(file, SMALL)
    honest = run_study(study, tmp_path, how_in(tmp_path / "a"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "find_contender", lambda name: Half)
        planted = run_study(study, tmp_path, how_in(tmp_path / "b"))
    for outcome, factor in ((honest, 1.0), (planted, 2.0)):
        rows = [row for row in outcome.rows if row.role == "private"]
        assert [row.certified.epsilon / row.epsilon for row in rows if row.epsilon] == pytest.approx(
            [factor] * len(rows), rel=1e-6
        )
        assert {row.certified.verdict for row in rows} == {"certified" if factor == 1 else "refuted"}
        assert all(row.has_point == (factor == 1) for row in rows)


def test_a_run_with_less_noise_than_declared_has_no_point(tmp_path: Path, file: Path) -> None:
    """Noise other than the declared one takes the row off the axis, whatever the declaration certifies."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Lying(Capri):
        def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
            return Capri.run(replace(self, epsilon=self.epsilon * 2), problem, streams, n_runs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "find_contender", lambda name: Lying)
        outcome = run_study(study_of(file, SMALL), tmp_path, how_in(tmp_path))
    private = [row for row in outcome.rows if row.role == "private"]
    assert private
    assert not any(row.has_point for row in private)
    assert all("declared" in row.certified.why for row in private)


@pytest.mark.parametrize(
    ("factor", "verdict", "why"),
    [(1.0, "certified", ""), (0.01, "refuted", "no certificate: the claim is refuted")],
)
def test_a_contender_that_claims_another_measure_has_its_epsilon_on_the_axis(
    tmp_path: Path, file: Path, factor: float, verdict: str, why: str
) -> None:
    """The verdict is that of its own claim; the axis is the epsilon of its releases at the study's delta."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class InRho(Capri):
        def claim(self) -> Claim:
            own = Capri.claim(self)
            rho = factor * own.epsilon**2
            return Claim(rho=rho, neighbours=own.neighbours, model=own.model, unit=own.unit)

    study = study_of(file, SMALL.replace("[2000, 20000]", "[400]"))
    cells = [cell for cell in cells_of(study) if cell.label == "tight"]
    expected = [certified_at(study, cell, tmp_path, certify) for cell in cells]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "find_contender", lambda name: InRho)
        found = [certified_at(study, cell, tmp_path, certify) for cell in cells]
    assert [one.epsilon for one in found] == [one.epsilon for one in expected]
    assert {(one.verdict, one.why) for one in found} == {(verdict, why)}


def test_a_cell_that_fails_keeps_its_error_and_leaves_the_others(tmp_path: Path, file: Path) -> None:
    """An exception in a run is the outcome of its cell; rows without it stand, and resuming runs it again."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Falling(Capri):
        def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
            if self.epsilon < 1:
                raise ValueError("the floor gave way")
            return Capri.run(self, problem, streams, n_runs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "find_contender", lambda name: Falling)
        outcome = run_study(study_of(file, SMALL), tmp_path, how_in(tmp_path))
    assert {cell.error for cell in outcome.failed} == {"ValueError: the floor gave way"}
    assert {row.epsilon for row in outcome.rows if row.role == "private"} == {4.0}
    fresh = run_study(study_of(file, SMALL), tmp_path, how_in(tmp_path, resume=True))
    assert not fresh.failed


def test_the_document_follows_its_published_schema(file: Path, tmp_path: Path) -> None:
    """study.json validates, and a row without its horizon or with another role does not."""
    study = study_of(file, SMALL.replace("[2000, 20000]", "[400]"))
    (tmp_path / "out").mkdir()
    write_study(run_study(study, tmp_path, how_in(tmp_path)), tmp_path, tmp_path / "out")
    document = json.loads((tmp_path / "out" / "study.json").read_text(encoding="utf-8"))
    check = Draft202012Validator(schemas.load("study"))
    assert [error.message for error in check.iter_errors(document)] == []
    role, horizon = document["rows"][0].pop("role"), document["rows"][1].pop("T")
    assert len(list(check.iter_errors(document))) == 2
    assert (role, horizon) == ("private", 400)


OF_A_FILE = """
[study]
name = "log"
horizons = [20000]
epsilons = [1.0]
runs = 2
problems = [0]
seed = 7

[problem]
name = "comparison_log"
path = "log.csv"

[[contender]]
label = "private"
role = "private"
grid = "epsilon"

[contender.algorithm]
name = "dp_ebs"
arms = 3
"""


def test_a_cell_lapses_with_the_file_behind_its_problem(tmp_path: Path) -> None:
    """A study that goes on after the file of `path` changed measures what a new one does."""
    head, pairs = "model_a,model_b,winner\n", ("a,b", "b,c", "a,c")
    first = head + "".join(f"{pair},model_a\n" * 40 for pair in pairs)
    turned = head + "".join(f"{pair},model_b\n" * 25 for pair in pairs)
    measured = {}
    for name, texts in (("resumed", (first, turned)), ("fresh", (turned,))):
        for text in texts:
            (tmp_path / "log.csv").write_text(text, encoding="utf-8")
            study = study_of(tmp_path / "s.toml", OF_A_FILE)
            outcome = run_study(study, tmp_path, how_in(tmp_path / name, resume=True))
            assert not outcome.failed, outcome.failed
        measured[name] = outcome.measured
    assert [cell.regret for cell in measured["resumed"]] == [cell.regret for cell in measured["fresh"]]


def test_a_cell_lapses_with_a_file_that_its_run_read(tmp_path: Path) -> None:
    """No table names the file; the cell says that it was read, and with which content."""
    study = study_of(tmp_path / "s.toml", SMALL)
    data = tmp_path / "data.txt"
    data.write_text("1", encoding="utf-8")

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Reading(Capri):
        def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
            assert data.read_text(encoding="utf-8")
            return Capri.run(self, problem, streams, n_runs)

    store, cell = CellStore(folder=tmp_path / "cells"), cells_of(study)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "find_contender", lambda name: Reading)
        store.write(study, measure(study, cell, tmp_path))
        assert store.read(study, cell) is not None
        data.write_text("2", encoding="utf-8")
        assert store.read(study, cell) is None


def test_a_cell_lapses_with_the_versions_and_with_the_code_of_a_plug_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another numpy, or another source that the contender's class reaches, is another cell."""
    study = study_of(tmp_path / "s.toml", SMALL)
    store, cell = CellStore(folder=tmp_path), cells_of(study)[0]
    before = store.path(study, cell)
    with monkeypatch.context() as patch:
        patch.setattr("dpaudit.runtime.content_address.versions", lambda: (("numpy", "9"),))
        assert store.path(study, cell) != before
    with monkeypatch.context() as patch:
        patch.setattr("dpaudit.runtime.content_address.digest_of_sources", lambda *subjects: str(subjects))
        held = store.path(study, cell)
        patch.setattr("dpaudit.study.store.find_contender", lambda name: Transcript)
        assert store.path(study, cell) != held
    assert store.path(study, cell) == before


_INSTANCES = """
[study]
name = "instances"
horizons = [2000]
runs = 3
problems = {problems}

[problem]
name = "hardest_duels"
arms = 3

[[contender]]
label = "batched"
role = "private"

[contender.algorithm]
name = "dp_ebs"
arms = 3
epsilon = 1.0
variant = "batched"
"""


@pytest.mark.parametrize(("problems", "all_of_them"), [([0, 1, 2], True), ([0, 1], False)])
def test_a_ratio_to_the_lower_bound_needs_all_of_its_instances(
    tmp_path: Path, problems: list[int], all_of_them: bool
) -> None:
    """The worst mean over the three instances, never an average, and nothing where one instance did not run."""
    study = study_of(tmp_path / "s.toml", _INSTANCES.format(problems=problems))
    outcome = run_study(study, tmp_path, how_in(tmp_path))
    (row,) = outcome.rows
    assert row.bound is not None
    document = document_of(outcome, make_problem(study, 2000, 0, tmp_path))
    found = document["rows"][0]["lower_bound"]
    assert found["regret"] == pytest.approx(row.bound.value)
    if all_of_them:
        assert row.worst is not None
        assert row.worst.mean == max(cell.mean for cell in row.measured) > row.regret.mean
        assert found["ratio"] == pytest.approx(row.worst.mean / row.bound.value)
        each = [student(cell.regret, study.settings.alpha / 3) for cell in row.measured]
        assert row.worst.lower == max(interval.lower for interval in each) < row.worst.mean
        assert row.worst.upper == max(interval.upper for interval in each) > row.worst.mean
    else:
        assert row.worst is None
        assert found["ratio"] is None
    lines = list(csv.DictReader(io.StringIO(rows_csv(document, "three instances."))))
    assert bool(lines[0]["worst_instance"]) == all_of_them
    assert float(lines[0]["lower_bound"]) == pytest.approx(row.bound.value)


def test_a_front_of_a_problem_without_a_bound_says_unknown(tmp_path: Path) -> None:
    """Twins on one figure: with the column empty the caption says so; with a bound a line is drawn."""
    study = study_of(tmp_path / "s.toml", _INSTANCES.format(problems=[0, 1, 2]))
    outcome = run_study(study, tmp_path, how_in(tmp_path))
    text = rows_csv(document_of(outcome, make_problem(study, 2000, 0, tmp_path)), "three instances.")
    (row,) = read_rows(text)
    known, unknown = study_front([row]), study_front([row | {"lower_bound": None}])
    assert any("all run here" in sentence for sentence in known.caption)
    assert any("unknown" in sentence for sentence in unknown.caption)
    names = [[layer.name for layer in plot.layers if isinstance(layer, Series)] for plot in (known, unknown)]
    assert [any(name.startswith("lower bound") for name in drawn) for drawn in names] == [True, False]
