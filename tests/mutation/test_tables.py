"""The tables of planted defects fit the code, have a configuration each, and half of the defects are subtle."""

import pytest

from mechanisms import NAMES
from tests.mutation.mutants import BREAKING, CONFIGURATIONS, HARMLESS, Mutant, table

OF_MECHANISMS = table("mechanisms", "obvious", "subtle", "harmless")


def test_there_are_two_hundred_defects_of_algorithms_and_91_of_mechanisms_at_least() -> None:
    """Names are unique, every configuration and mechanism exists, and more defects are subtle than obvious."""
    for mutants in ((*BREAKING, *HARMLESS), OF_MECHANISMS):
        assert len({mutant.name for mutant in mutants}) == len(mutants)
    assert len(BREAKING) >= 200
    obvious, subtle = table("mechanisms", "obvious"), table("mechanisms", "subtle")
    assert len(obvious) + len(subtle) >= 91
    assert len(subtle) >= len(obvious)
    assert {name for mutant in (*BREAKING, *HARMLESS) for name in mutant.on} <= set(CONFIGURATIONS)
    assert {name for mutant in OF_MECHANISMS for name in mutant.on} <= set(NAMES)


def test_each_defect_fits_its_file_once() -> None:
    """The sound text stands once in the file, and the defective one differs."""
    for mutant in (*BREAKING, *HARMLESS, *OF_MECHANISMS):
        assert mutant.planted_text()
        assert mutant.new != mutant.old


def test_a_defect_that_the_code_has_outgrown_is_named() -> None:
    """A text that does not stand in the file once is an error, with the name of the defect."""
    stale = Mutant(name="a stale defect", place="mechanisms/gaussian.py", old="no such text", new="x")
    with pytest.raises(ValueError, match="a stale defect"):
        stale.planted_text()
