"""Defects that a tape hides or that few elements or runs show: replays find them and pass sound programs."""

from pathlib import Path

import pytest

from audits import replay_program
from tests.mutation.mutants import Mutant, table
from tests.mutation.planting import planted
from tests.mutation.test_checked import subject

BREAKING, HARMLESS = table("tapes", "breaking"), table("tapes", "harmless")


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


@pytest.mark.parametrize("mutant", BREAKING, ids=lambda mutant: mutant.name)
def test_replays_name_the_rule_of_the_defect(mutant: Mutant, tmp_path: Path) -> None:
    """The replays name the rule."""
    assert rules_with(mutant, tmp_path).issuperset(mutant.caught_by)


@pytest.mark.parametrize("configuration", sorted({mutant.on[0] for mutant in BREAKING}))
def test_replays_say_nothing_about_sound_programs(configuration: str, tmp_path: Path) -> None:
    """The same replays without a defect."""
    assert rules_of(configuration, tmp_path) == set()


@pytest.mark.parametrize("mutant", HARMLESS, ids=lambda mutant: mutant.name)
def test_harmless_changes_are_not_flagged(mutant: Mutant, tmp_path: Path) -> None:
    """What everybody sees anyway, what differs on the same data, and noise of the same law."""
    assert rules_with(mutant, tmp_path) == set()
