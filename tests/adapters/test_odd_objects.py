"""Odd objects of other libraries: budgets that are none, numbers beyond floats, and draws that nothing decides."""

import math
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpaudit.adapters import adapt
from dpaudit.adapters.draws import RecordingGenerator, compare
from dpaudit.adapters.noise import scale_for
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Stated


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that both libraries are installed, in version 9."""

    def version(name: str) -> str:
        assert name
        return "9"

    monkeypatch.setattr("dpaudit.adapters.finding.installed_version", version)


def named(name: str, module: str = "tmlt.analytics", **fields: Any) -> Any:
    """Return an object of a class of this name."""
    return type(name, (SimpleNamespace,), {"__module__": module, "__hash__": object.__hash__})(**fields)


def session(parameter: float, rows: float = 1.0) -> Any:
    """Return a session on one table, which compiles every query into Laplace noise of this scale."""
    metric = named("SymmetricDifference")
    inner = SimpleNamespace(d_in=rows, input_metric=metric)
    noise = [{"noise_mechanism": SimpleNamespace(name="LAPLACE"), "noise_parameter": parameter}]

    def compiled(query: Any, asked: Any) -> Any:
        assert query is not None
        return SimpleNamespace(measurement=inner), asked, noise

    return named(
        "Session",
        private_sources=["t"],
        remaining_privacy_budget=named("Budget", epsilon=1.0, is_infinite=False),
        _input_metric=SimpleNamespace(key_to_metric={"t": metric}),
        _input_domain=SimpleNamespace(key_to_domain={"t": "a frame"}),
        _d_in={"t": rows},
        _compile_and_get_info=compiled,
    )


def adapted(subject: Any, budget: Any) -> Any:
    """Return the release of a count."""
    return adapt(subject, neighbours="add_remove", query=named("GroupByCount"), budget=budget, delta=1e-6)


@pytest.mark.parametrize("budget", [1.0, Decimal(1), Fraction(1), None, "1", True, SimpleNamespace(is_infinite=False)])
def test_what_is_no_budget_is_refused_in_one_line(budget: Any) -> None:
    with pytest.raises(UnsupportedError, match="Expected a privacy budget of Tumult"):
        adapted(session(1.0), budget)


@pytest.mark.parametrize(
    "fields",
    [
        {"epsilon": "x"},
        {"epsilon": math.nan},
        {"epsilon": -1.0},
        {"epsilon": 1.0, "delta": 2.0},
        {"rho": -1.0},
        {"rho": math.nan},
    ],
)
def test_a_budget_whose_numbers_are_none_is_refused_in_one_line(fields: dict[str, Any]) -> None:
    with pytest.raises((UnsupportedError, ValueError)) as caught:
        adapted(session(1.0), named("Budget", is_infinite=False, **fields))
    assert "Expected" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("number", [Fraction(1, 3), Decimal("0.1"), 1, np.float32(0.1)])
def test_exact_budgets_are_claims(number: Any) -> None:
    release = adapted(session(3.0), named("Budget", is_infinite=False, epsilon=number))
    assert release.claim.epsilon == float(number)


@pytest.mark.parametrize(
    ("parameter", "rows"), [(math.inf, 1.0), (math.nan, 1.0), (1.0, math.nan), (1.0, math.inf), (0.0, 1.0)]
)
@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_noise_that_is_no_size_is_stated(parameter: float, rows: float, epsilon: float) -> None:
    """A budget of 0 has infinite noise: no mechanism is declared, and the budget is the library's own word."""
    release = adapted(session(parameter, rows), named("Budget", is_infinite=False, epsilon=epsilon))
    assert isinstance(release.declaration, Stated)


@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_a_scale_beside_what_is_no_number_stays(number: float) -> None:
    assert scale_for(number, 1.0, 1.0) == scale_for(1.0, 1.0, number) == 1.0
    assert str(scale_for(1.0, number, 1.0)) == str(number)


def test_a_scale_in_the_last_bits_of_floats_is_not_lifted() -> None:
    """Four steps are half of such a number, and no rounding of a quotient."""
    assert scale_for(1.0, 8 * 5e-324, 12 * 5e-324) == 8 * 5e-324
    assert scale_for(1e308, 0.0, 1e-15) == 0.0


def drawn(*draws: tuple[str, float]) -> RecordingGenerator:
    """Return a generator that kept these draws."""
    rng = RecordingGenerator(np.random.PCG64(0))
    rng.draws += draws
    return rng


def normal(multiplier: Any) -> Any:
    """Return the event of normal noise."""
    return named("GaussianDpEvent", "dp_accounting", noise_multiplier=multiplier)


@pytest.mark.parametrize(
    ("event", "draw"),
    [
        (normal(math.nan), ("normal", 1.0)),
        (normal(1.0), ("normal", math.nan)),
        (normal(1.0), ("choice", math.nan)),
        (normal(None), ("normal", 1.0)),
        (named("ZCDpEvent", "dp_accounting", rho=math.nan), ("normal", 1.0)),
    ],
)
def test_numbers_that_are_none_leave_the_comparison_open(event: Any, draw: tuple[str, float]) -> None:
    """Not a number exceeds nothing and is exceeded by nothing: that decides nothing."""
    comparison = compare(event, drawn(draw), 1)
    assert comparison.finding == ""
    assert comparison.open_points


def test_draws_of_nearly_no_noise_are_compared() -> None:
    """The square of mu at a scale of 1e-200 is beyond floats."""
    assert compare(normal(1.0), drawn(("normal", 1e-200)), 1).finding
    assert compare(normal(1e-200), drawn(("normal", 1e-200)), 1).finding == ""


@pytest.mark.parametrize("records", [0, -1, None, "x", math.nan])
def test_a_number_of_records_that_is_none_is_refused_in_one_line(records: Any) -> None:
    class Mechanism:
        dp_event, max_records_per_user = normal(1.0), records
        __module__ = "dpsynth.discrete"

    with pytest.raises(UnsupportedError, match="max_records_per_user"):
        adapt(Mechanism(), neighbours="add_remove", delta=1e-6, epsilon=1.0)


def test_draws_without_noise_that_are_declared_hide_no_others() -> None:
    """Infinite mu that is declared and drawn leaves nothing for a draw at half the scale of another."""
    event = named("ComposedDpEvent", "dp_accounting", events=[normal(0.0), normal(1.0)])
    assert compare(event, drawn(("normal", 0.0), ("normal", 0.5)), 1).finding
