"""Each defect of a shipped mechanism is caught by the contract tests of its examples, and no harmless change is."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from audits.testing import mechanism_checks
from dpaudit.model.mechanism import Mechanism
from tests.mutation.mutants import Mutant, table
from tests.mutation.planting import Source, planted


def defect_of(mutant: Mutant) -> Source:
    """Return what is planted, without the line break that ends a text of several lines."""
    return replace(mutant, old=mutant.old.rstrip("\n"), new=mutant.new.rstrip("\n")).defect


UNSEEN = "above threshold answers: fresh noise on what is printed"
"""What no contract test sees: given the threshold, what is printed has another law than what was compared."""

BREAKING = [
    mutant for mutant in table("mechanisms", "obvious", "subtle") if defect_of(mutant).target and mutant.name != UNSEEN
]
"""What is planted here; `benchmarks/proving_copies.py` tries the rest: texts that reach beyond one function."""


def is_accused(mechanism: Mechanism) -> bool:
    """Return whether a check of the contract fails."""
    return any(check.failed for check in mechanism_checks(mechanism, np.random.default_rng(0)))


def examples_of(mutant: Mutant) -> tuple[Mechanism, ...]:
    """Return the examples of the mechanisms whose contract a defect breaks."""
    return tuple(example for name in mutant.on for example in import_module(f"mechanisms.{name}").EXAMPLES)


@pytest.mark.parametrize("mutant", BREAKING, ids=lambda mutant: mutant.name)
def test_a_defect_of_a_mechanism_is_caught(mutant: Mutant) -> None:
    """One statement is changed; the contract tests of an example accuse it, with fixed seeds."""
    examples = examples_of(mutant)
    with planted(defect_of(mutant)):
        assert any(map(is_accused, examples))


@pytest.mark.parametrize("mutant", table("mechanisms", "harmless"), ids=lambda mutant: mutant.name)
def test_a_harmless_change_of_a_mechanism_is_not_accused(mutant: Mutant) -> None:
    """The same law by other draws: no contract test of any example fails."""
    examples = examples_of(mutant)
    with planted(defect_of(mutant)):
        assert not any(map(is_accused, examples))
