"""Planted defects of algorithms: each is accused by a run, a replay or a certificate, and no harmless change is."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from audits import replay_program
from dpaudit.configuration.config import read_config
from dpaudit.model.condition import Condition
from dpaudit.model.transcript import record_run
from dpaudit.workflow import certificate_of
from tests.mutation.mutants import BREAKING, CONFIGURATIONS, HARMLESS, Mutant, table
from tests.mutation.planting import planted

RUN, REPLAYED = table("checked", "run"), table("checked", "replayed")
DECIDED_BY_REPLAYS = {
    "attained",
    "declared_times",
    "fresh_noise",
    "no_data_read",
    "one_part",
    "public_key",
    "secret_sample",
    "sensitivity",
}
"""The kinds that replays of shipped algorithms can call checked; `tests/checks/test_secret_draws.py` has the others."""


def subject(configuration: str, folder: Path) -> Any:
    """Return the algorithm and the problem of a configuration."""
    if configuration == "dp_sgd" and (find_spec("torch") is None or find_spec("opacus") is None):
        pytest.skip("not run: the extra 'opacus' is not installed")
    file = folder / "case.toml"
    file.write_text(CONFIGURATIONS[configuration], encoding="utf-8")
    return read_config(file).subject


def of_a_run(found: Any) -> tuple[Condition, ...]:
    """Return the conditions of one run; a training run is one, all others are four in lock-step."""
    runs = 1 if found.algorithm.name == "dp_sgd" else 4
    transcript = record_run(found.algorithm, found.problem, n_runs=runs, seed=0).transcript
    return transcript.conditions


def of_replays(found: Any) -> tuple[Condition, ...]:
    """Return the conditions that replays decide."""
    return replay_program(found.algorithm, found.problem, found.declaration, ()).conditions


def statuses(conditions: tuple[Condition, ...], mutant: Mutant) -> set[str]:
    """Return the statuses of the conditions that a mutant is about."""
    kind, about = mutant.caught_by
    return {c.status for c in conditions if c.kind == kind and about in " ".join(c.about)}


def name_of(mutant: Mutant) -> str:
    return mutant.name.replace(" ", "_")


@pytest.mark.parametrize("mutant", RUN, ids=name_of)
def test_a_run_says_violated_where_the_sentence_is_false(mutant: Mutant, tmp_path: Path) -> None:
    """Each sentence that a run checks has a defect that makes the run say violated."""
    found = subject(mutant.on[0], tmp_path)  # before the defect, which a first import would keep
    with planted(mutant.defect):
        assert "violated" in statuses(of_a_run(found), mutant)


@pytest.mark.parametrize("mutant", REPLAYED, ids=name_of)
def test_replays_say_violated_where_the_sentence_is_false(
    mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sentence that replays check has a defect that makes the replays say violated.

    Ten runs of a training loop's sampler show it already, of the twenty-five that are looked at else.
    """
    monkeypatch.setattr("algorithms.dp_sgd.samplings._RUNS", 10)
    found = subject(mutant.on[0], tmp_path)  # before the defect, which a first import would keep
    with planted(mutant.defect):
        assert "violated" in statuses(of_replays(found), mutant)


@pytest.mark.parametrize("configuration", sorted({mutant.on[0] for mutant in RUN}))
def test_a_sound_run_says_nothing_else_and_every_sentence_has_its_mutant(configuration: str, tmp_path: Path) -> None:
    """A sound run violates nothing, and each sentence that it checks stands in the table."""
    conditions = of_a_run(subject(configuration, tmp_path))
    assert {c.status for c in conditions} == {"checked"}
    planted_in = {mutant.caught_by for mutant in RUN}
    assert {(c.kind, ", ".join(c.about)) for c in conditions} <= planted_in


def test_every_kind_that_replays_decide_has_a_mutant() -> None:
    """The table follows the code."""
    assert {mutant.caught_by[0] for mutant in REPLAYED} == DECIDED_BY_REPLAYS


ON_TAPES, HARMLESS_ON_TAPES = table("tapes", "breaking"), table("tapes", "harmless")


def rules_of(configuration: str, folder: Path) -> set[str]:
    """Return the rules of the findings of all replays."""
    program = subject(configuration, folder)
    replayed = replay_program(program.algorithm, program.problem, program.declaration, ())
    return {finding.rule for finding in replayed.findings}


def rules_with(mutant: Mutant, folder: Path) -> set[str]:
    """Return the rules of the findings with the defect in place."""
    (configuration,) = mutant.on
    subject(configuration, folder)  # before the defect, which a first import would keep
    with planted(mutant.defect):
        return rules_of(configuration, folder)


@pytest.mark.parametrize("mutant", ON_TAPES, ids=lambda mutant: mutant.name)
def test_replays_name_the_rule_of_the_defect(mutant: Mutant, tmp_path: Path) -> None:
    """The replays name the rule."""
    assert rules_with(mutant, tmp_path).issuperset(mutant.caught_by)


@pytest.mark.parametrize("configuration", sorted({mutant.on[0] for mutant in ON_TAPES}))
def test_replays_say_nothing_about_sound_programs(configuration: str, tmp_path: Path) -> None:
    """The same replays without a defect."""
    assert rules_of(configuration, tmp_path) == set()


@pytest.mark.parametrize("mutant", HARMLESS_ON_TAPES, ids=lambda mutant: mutant.name)
def test_harmless_changes_are_not_flagged(mutant: Mutant, tmp_path: Path) -> None:
    """What everybody sees anyway, what differs on the same data, and noise of the same law."""
    assert rules_with(mutant, tmp_path) == set()


IN_FUNCTIONS = [mutant for mutant in BREAKING if mutant.function and not mutant.caught_by]
"""What is planted here; `benchmarks/proving_copies.py` tries the rest: outside of functions, or seen by attacks."""


def accusations(configuration: str, folder: Path) -> set[str]:
    """Return the findings and the violated conditions of a run and its replays."""
    file = folder / "case.toml"
    file.write_text(CONFIGURATIONS[configuration], encoding="utf-8")
    certificate = certificate_of(read_config(file), 0)
    violated = {condition.text for condition in certificate.conditions if condition.status == "violated"}
    return violated | {str(finding) for finding in certificate.findings}


@pytest.mark.parametrize("mutant", IN_FUNCTIONS, ids=lambda mutant: mutant.name)
def test_a_defect_of_an_algorithm_is_accused(mutant: Mutant, tmp_path: Path) -> None:
    """One statement is changed, which breaks privacy: a finding, or a violated condition, without any attack."""
    subject(mutant.on[0], tmp_path)  # before the defect, which a first import would keep
    with planted(mutant.defect):
        assert accusations(mutant.on[0], tmp_path)


@pytest.mark.parametrize("mutant", [held for held in HARMLESS if held.function], ids=lambda mutant: mutant.name)
def test_a_harmless_change_is_not_accused(mutant: Mutant, tmp_path: Path) -> None:
    """One statement is changed, which breaks nothing."""
    subject(mutant.on[0], tmp_path)
    with planted(mutant.defect):
        assert accusations(mutant.on[0], tmp_path) == set()


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_a_sound_algorithm_is_not_accused(configuration: str, tmp_path: Path) -> None:
    """The same look at the code as it is."""
    subject(configuration, tmp_path)
    assert accusations(configuration, tmp_path) == set()
