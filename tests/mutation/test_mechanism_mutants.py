"""A few of the defects of mechanisms are planted and caught; `benchmarks/mechanism_mutants.py` tries them all."""

import dataclasses
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from audits.testing import mechanism_checks
from tests.mutation.mutants import Mutant, table


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
    (mutant,) = (mutant for mutant in table("mechanisms", "obvious", "subtle", "harmless") if mutant.name == name)
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


def _planted(mutant: Mutant) -> tuple[Any, tuple[Any, ...]]:
    """Return the class of a module with a planted defect, and the sound module's examples."""
    name = f"mechanisms.{mutant.on[0]}"
    space: dict[str, Any] = {"__name__": name}
    exec(compile(mutant.planted_text(), mutant.place, "exec"), space)  # noqa: S102 - our own source with one statement changed
    examples = import_module(name).EXAMPLES
    return space[type(examples[0]).__name__], examples


def _remade(kind: Any, example: Any) -> Any:
    """Return the example as an object of the broken class."""
    return kind(**{field.name: getattr(example, field.name) for field in dataclasses.fields(example)})
