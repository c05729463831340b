"""Mechanisms whose noise follows the answer: found at a tried answer, and only if the law there is another one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from audits.checks.laws.by_answer import answers_apart
from audits.checks.laws.mechanism_law import law_findings
from audits.testing import mechanism_checks
from dpaudit.model.mechanism import Array
from mechanisms import DiscreteLaplace, Gaussian, Laplace

Factor = Callable[[Array], Array]
"""factor(answers): by what the noise is multiplied there"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switching(Gaussian):
    """Gaussian noise that is multiplied by a number which depends on the answer."""

    factor: Factor

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        exact = np.asarray(value, dtype=np.float64)
        return exact + self.factor(exact) * self.stddev * rng.standard_normal(exact.shape)


def switching(factor: Factor) -> Switching:
    return Switching(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one", factor=factor)


def odd_mirrored(exact: Array) -> Array:
    return np.where(np.round(exact) % 2 == 1, -1.0, 1.0)


def between(low: float, high: float, inside: float) -> Factor:
    return lambda exact: np.where((exact > low) & (exact < high), inside, 1.0)


@pytest.mark.parametrize(
    ("factor", "item", "answer"),
    [
        (between(16.9, 17.1, 0.0), (), "17"),
        (between(300, 320, 0.8), (3,), "301"),
        (between(-2_000, -1_500, 0.7), (), "-1501"),
        (between(3.2, 3.4, 0.5), (), "3.25"),
        (between(1e6, 1e300, 0.5), (3,), "1.04858e+06"),
    ],
)
def test_a_scale_that_switches_is_found_with_the_answer(factor: Factor, item: tuple[int, ...], answer: str) -> None:
    """The smallest tried answer with other noise is named; other samples lie elsewhere."""
    messages = [finding.message for finding in law_findings([(switching(factor), item, "sum")])]
    assert len(messages) == 1
    assert f"(answers of {answer})" in messages[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(Switching):
    """The same under another name, which refuses answers below 0 as a plug-in may."""

    name: ClassVar[str] = "unknown"

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        if np.min(value) < 0:
            raise ValueError("Expected an answer of at least 0.")
        return Switching.release(self, value, rng)


@pytest.mark.parametrize(("factor", "failed"), [(between(100, 300, 0.6), ["law"]), (odd_mirrored, [])])
def test_a_plug_in_whose_scale_switches_breaks_the_contract_of_its_density(factor: Factor, failed: list[str]) -> None:
    """The check names the answer; noise that mirrors keeps the density."""
    plug_in = Unknown(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one", factor=factor)
    checks = [check for check in mechanism_checks(plug_in, np.random.default_rng(0)) if check.failed]
    assert [check.what for check in checks if check.what == "law"] == failed
    assert all("answers of 1" in check.says for check in checks if check.what == "law")


def test_noise_that_only_mirrors_at_some_answers_keeps_its_law() -> None:
    """Other noise from the same state is no finding by itself."""
    mirrored = switching(odd_mirrored)
    assert answers_apart(mirrored, ()) != ()
    assert list(law_findings([(mirrored, (), "sum")])) == []


@pytest.mark.parametrize(
    "mechanism",
    [
        Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one"),
        Laplace(scale=1e-3, l1_sensitivity=1.0, neighbours="replace_one"),
        DiscreteLaplace(scale=3.0, l1_sensitivity=1, neighbours="replace_one"),
    ],
)
def test_noise_that_ignores_the_answer_is_nowhere_apart(mechanism: Gaussian | Laplace | DiscreteLaplace) -> None:
    """Up to rounding, which grows with the answer."""
    assert answers_apart(mechanism, ()) == answers_apart(mechanism, (4,)) == ()


class Named(Laplace):
    """Laplace noise of an author, under a name that nothing here knows; `share` of the scale is drawn."""

    __slots__ = ()
    name: ClassVar[str] = "noise_of_an_author"
    share: ClassVar[float] = 1.0

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        return Laplace.release(self.scaled(self.share), value, rng)


class Smaller(Named):
    """Known bad: a twentieth of the noise is missing."""

    __slots__ = ()
    share: ClassVar[float] = 0.95


@pytest.mark.parametrize(("kind", "rules"), [(Named, []), (Smaller, ["DPA212"])])
def test_a_plug_in_is_compared_with_its_own_density(kind: type[Named], rules: list[str]) -> None:
    """Its name stands in no table: what it draws follows its density, or is found."""
    noise = kind(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one")
    assert [finding.rule for finding in law_findings([(noise, (), "sum")])] == rules
