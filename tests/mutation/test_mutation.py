"""A hundred and more accounting bugs, planted one at a time: who catches each is on record and tried again."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.battery import CHECKS, OWN
from tests.mutation.declared_mutants import DECLARED, FORGED, DeclaredMutant, ForgedMutant, complaints, objections
from tests.mutation.mutants import Mutant, table
from tests.mutation.planting import planted
from tests.mutation.survivors import SURVIVORS

CAUGHT: dict[str, str] = json.loads(Path(__file__).with_name("caught.json").read_text())
"""Which check caught each defect of the code, as `python -m benchmarks.mutants table --record` wrote it."""

CODE = table("accounting", "code")
MUTANTS: tuple[Mutant | DeclaredMutant | ForgedMutant, ...] = (*CODE, *DECLARED, *FORGED)
PLANTED = [mutant for mutant in CODE if mutant.name not in SURVIVORS]


def test_at_least_95_of_100_are_caught() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) == len(set(names)) >= 100
    assert set(SURVIVORS) <= set(names)
    assert len(SURVIVORS) <= 0.05 * len(names)
    assert set(CAUGHT) == {mutant.name for mutant in PLANTED}


def test_the_page_has_a_row_for_every_bug_and_names_its_catcher() -> None:
    """What `benchmarks.mutants table --record` wrote is what exists: no row too many, none missing or stale."""
    page = (Path(__file__).parents[2] / "docs" / "measured" / "accounting_bugs.md").read_text(encoding="utf-8")
    rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in page.splitlines() if line.startswith("| ")][1:]
    mutants = {mutant.name: mutant.says for mutant in MUTANTS}
    assert {name: says.replace("\\|", "|") for name, says, *_ in rows} == mutants
    assert {name: found for name, _, found, *_ in rows if name in CAUGHT} == CAUGHT
    caught = sum(not found.startswith("survives") for _, _, found, *_ in rows)
    assert page.split("\n\n")[1].startswith(f"{caught} of {len(mutants)} planted")
    assert len(rows) == len(mutants)


@pytest.mark.parametrize("check", OWN)
def test_the_sound_code_passes_the_checks_that_stand_here(check: Callable[[], None]) -> None:
    """The other checks are tests of other folders, which the sound code passes there."""
    check()


@pytest.mark.parametrize("mutant", PLANTED, ids=lambda mutant: mutant.name)
def test_the_defect_in_the_code_is_caught(mutant: Mutant) -> None:
    check = CHECKS[CAUGHT[mutant.name]]
    with planted(mutant.defect), pytest.raises((Exception, pytest.fail.Exception)):
        check()


@pytest.mark.parametrize("mutant", DECLARED, ids=lambda mutant: mutant.name)
def test_the_defect_in_the_declaration_is_caught_and_the_sound_one_passes(mutant: DeclaredMutant) -> None:
    assert objections(mutant.sound) == {}
    assert objections(mutant.defective)


@pytest.mark.parametrize("mutant", FORGED, ids=lambda mutant: mutant.name)
def test_the_forged_certificate_is_rejected(mutant: ForgedMutant) -> None:
    assert bool(complaints(mutant)) == (mutant.name not in SURVIVORS)


def test_what_was_planted_is_gone_afterwards() -> None:
    """The harness leaves no defect behind: what was imported before is defective in the block, and sound after it."""
    from dpaudit.accounting.derivation.groups import chain
    from dpaudit.model.losses import Composition, LaplaceLoss

    one = Composition.of(LaplaceLoss(shift=1.0))
    with planted(next(mutant.defect for mutant in CODE if mutant.name == "L4")):
        assert chain(one, 2) == one
    assert chain(one, 2) == Composition.of(LaplaceLoss(shift=2.0))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [m for m in CODE if m.name in SURVIVORS], ids=lambda mutant: mutant.name)
def test_the_survivors_survive_everything(mutant: Any) -> None:
    """A survivor that some check catches no longer belongs on the list."""
    with planted(mutant.defect):
        for check in CHECKS.values():
            check()
