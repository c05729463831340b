"""The list of defects of mechanisms: it fits the code, half of it is subtle, and a few are planted here and caught."""

import dataclasses
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits.testing import mechanism_checks
from mechanisms import NAMES
from tests.mutation.mechanism_mutants import HARMLESS, OBVIOUS, SUBTLE, MechanismMutant

MECHANISMS = Path(__file__).parents[2] / "mechanisms"


def test_each_defect_fits_the_code_once() -> None:
    """The sound text stands once in its file, the defective one differs, names are unique and known."""
    mutants = (*OBVIOUS, *SUBTLE, *HARMLESS)
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    for mutant in mutants:
        assert (MECHANISMS / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1, mutant.name
        assert mutant.new != mutant.old
        assert set(mutant.mechanisms) <= set(NAMES)


def test_at_least_half_of_the_defects_are_subtle() -> None:
    """Ninety-one break privacy, and more of them are subtle than obvious."""
    assert len(OBVIOUS) + len(SUBTLE) == 91
    assert len(SUBTLE) >= len(OBVIOUS)


@pytest.mark.parametrize(
    ("name", "accused"),
    [
        ("gaussian: half noise on large answers", True),
        ("ball laplace: size depends on second coordinate's sign", True),
        ("randomised response: rows share truthfulness", True),
        ("gaussian: by rng.normal", False),
        ("randomised response: truth drawn first", False),
    ],
)
def test_a_planted_defect_is_caught_and_a_harmless_change_is_not(name: str, accused: bool) -> None:
    """The contract tests of the examples accuse the broken release and pass the other one."""
    (mutant,) = (mutant for mutant in (*OBVIOUS, *SUBTLE, *HARMLESS) if mutant.name == name)
    kind, examples = _planted(mutant)
    assert (
        any(
            check.failed
            for example in examples
            for check in mechanism_checks(_remade(kind, example), np.random.default_rng(0))
            if check.what == "law"
        )
        == accused
    )


def _planted(mutant: MechanismMutant) -> tuple[Any, tuple[Any, ...]]:
    """Return the class of a module with a planted defect, and the sound module's examples."""
    name = f"mechanisms.{mutant.mechanisms[0]}"
    text = (MECHANISMS / mutant.file).read_text(encoding="utf-8").replace(mutant.old, mutant.new)
    space: dict[str, Any] = {"__name__": name}
    exec(compile(text, mutant.file, "exec"), space)  # noqa: S102 - our own source with one statement changed
    examples = import_module(name).EXAMPLES
    return space[type(examples[0]).__name__], examples


def _remade(kind: Any, example: Any) -> Any:
    """Return the example as an object of the broken class."""
    return kind(**{field.name: getattr(example, field.name) for field in dataclasses.fields(example)})
