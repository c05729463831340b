"""A seeded slice of the proving ground: what must be caught is, what is correct is never accused."""

import json
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.catalogue.__main__ import app
from benchmarks.catalogue.catalogue import CATALOGUE
from benchmarks.catalogue.hunt import hunt
from benchmarks.catalogue.mutants import OPERATORS, correct_variants, mutants
from benchmarks.catalogue.table import measure_catalogue, measure_entry

SLICE = (
    "laplace, epsilon 1",
    "laplace, half the noise",
    "truncated geometric",
    "uniform noise",
    "noisy max 1a",
    "noisy histogram 2",
    "histogram with one draw for all bins",
    "randomised response",
    "randomised response, lies counted as two",
    "sum beside the exact n",
    "sum, clipped",
    "count and sum, budget not split",
)
GROSS = ("noise times .5", "constant noise", "one draw for all answers", "bounded noise", "sensitivity less one")


@pytest.fixture(scope="module")
def rows() -> tuple[Any, ...]:
    return measure_catalogue(runs=5_000, seed=1, names=SLICE)


def test_a_slice_of_the_table_has_no_false_alarm_and_catches_the_gross_faults(rows: tuple[Any, ...]) -> None:
    """Twelve rows of 5,000 runs: one false alarm among all with probability at most .001; seven broken ones fall."""
    assert [row.name for row in rows] == [entry.name for entry in CATALOGUE if entry.name in SLICE]
    assert not any(row.false_alarm for row in rows)
    assert [row.name for row in rows if row.missed] == []
    assert sum(row.verdict == "violation" for row in rows) == 7


def test_no_bound_passes_its_ceiling_and_the_sure_bound_is_the_smaller(rows: tuple[Any, ...]) -> None:
    """The ceiling is what a perfect attack would show; the table's own significance is the stricter one."""
    for row in rows:
        assert row.sure_bound <= row.bound <= row.ceiling


def test_a_mechanism_sold_as_correct_that_is_not_raises_a_false_alarm() -> None:
    """The alarm that the bench counts can ring: half the noise, said to be correct."""
    half = next(entry for entry in CATALOGUE if entry.name == "laplace, half the noise")
    assert measure_entry(replace(half, correct=True), runs=5_000, seed=1).false_alarm
    assert measure_entry(replace(half, truth=1.0, law=None), runs=5_000, seed=1).false_alarm


def test_jobs_change_no_row() -> None:
    """The same rows from two processes as from one, but for the time they took."""
    names = ("truncated geometric", "randomised response")
    one, two = (measure_catalogue(runs=2_000, seed=4, jobs=jobs, names=names) for jobs in (1, 2))
    assert [replace(row, seconds=0) for row in one] == [replace(row, seconds=0) for row in two]


def test_an_unknown_name_is_refused() -> None:
    """Rather than measured as an empty table."""
    with pytest.raises(ValueError, match="nobody"):
        measure_catalogue(runs=2_000, seed=0, names=("nobody",))


def test_there_are_two_hundred_mutants_and_two_hundred_correct_variants() -> None:
    """Of every operator at least one, all with names of their own."""
    made, kept = mutants(), correct_variants()
    assert len({mutant.name for mutant in made}) == len(made) >= 200
    assert len({name for name, _ in kept}) == len(kept) >= 200
    assert {mutant.operator for mutant in made} == set(OPERATORS)


@pytest.mark.parametrize("operator", GROSS)
def test_gross_mutants_are_caught_by_the_check_that_should(operator: str) -> None:
    """At epsilon 1, in every program that shows its answers, with 10,000 runs a pair."""
    held = [m for m in mutants() if m.operator == operator and m.program.epsilon == 1 and not m.program.choice]
    assert held
    for mutant in held[:3]:
        assert mutant.expected in hunt(mutant.program, seed=2, name=mutant.name, runs=(10_000,)).caught


def test_every_mutant_that_replay_should_see_is_seen_without_statistics() -> None:
    """One program an operator; no attack at all."""
    expected = {m.operator: m for m in mutants() if m.expected == "replay"}
    assert len(expected) >= 9
    for mutant in expected.values():
        assert hunt(mutant.program, seed=2, name=mutant.name, runs=()).rules


@pytest.mark.parametrize("step", [45, pytest.param(7, marks=pytest.mark.slow)])
def test_correct_variants_raise_no_alarm(step: int) -> None:
    """Some of them with 4,000 runs a pair; a false alarm among all has probability below 1e-4."""
    for name, program in correct_variants()[::step]:
        assert hunt(program, seed=2, name=name, runs=(4_000,)).caught == ()


def test_the_command_prints_the_table_and_ends_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text and JSON of `python -m benchmarks.catalogue` on a catalogue of two; no false alarm gives exit code 0."""
    two = tuple(entry for entry in CATALOGUE if entry.name in SLICE[:2])
    monkeypatch.setattr("benchmarks.catalogue.table.CATALOGUE", two)
    shown = CliRunner().invoke(app, ["--runs", "2000", "--seed", "1"])
    assert shown.exit_code == 0
    assert "laplace, half the noise" in shown.stdout
    assert "1 of 1 broken ones caught" in " ".join(shown.stdout.split())
    listed = CliRunner().invoke(app, ["--runs", "2000", "--seed", "1", "--format", "json"])
    assert [row["verdict"] for row in json.loads(listed.stdout)] == ["nothing found", "violation"]


def test_a_false_alarm_ends_the_command_with_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken mechanism sold as correct."""
    half = next(entry for entry in CATALOGUE if entry.name == "laplace, half the noise")
    monkeypatch.setattr("benchmarks.catalogue.table.CATALOGUE", (replace(half, correct=True),))
    ended = CliRunner().invoke(app, ["--runs", "2000", "--seed", "1", "--format", "md"])
    assert ended.exit_code == 1
    assert "ALARM" in ended.stdout
