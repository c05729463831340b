"""Each defect of a shipped algorithm is accused by the certificate of its configuration, and no harmless change is."""

from pathlib import Path

import pytest

from dpaudit.configuration.config import read_config
from dpaudit.workflow import certificate_of
from tests.mutation.mutants import BREAKING, CONFIGURATIONS, HARMLESS, Mutant
from tests.mutation.planting import planted
from tests.mutation.test_checked import subject

IN_FUNCTIONS = [mutant for mutant in BREAKING if mutant.function and not mutant.caught_by]
"""What is planted here; `benchmarks/algorithm_mutants.py` tries the rest: outside of functions, or seen by attacks."""


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
