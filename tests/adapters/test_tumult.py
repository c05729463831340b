"""Tumult Analytics, by stand-ins: claims of budgets, declared noise of queries, what is stated, and what is run."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpaudit import certify
from dpaudit.adapters import adapt
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Release, Stated
from mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace

NOISE = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that the library is installed, in version 9."""
    monkeypatch.setattr("dpaudit.adapters.finding.installed_version", lambda name: "9")


class Exact:
    """An exact number of the library, which rounds as it is told."""

    def __init__(self, value: float) -> None:
        self.value = value

    def to_float(self, *, round_up: bool) -> float:
        """Return the number itself: the stand-in is a double."""
        assert round_up
        return self.value


def named(name: str, **fields: Any) -> Any:
    """Return an object of a class of this name with these attributes."""
    return type(name, (SimpleNamespace,), {"__module__": "tmlt.analytics", "__hash__": object.__hash__})(**fields)


def budget(**fields: Any) -> Any:
    """Return a budget of the library."""
    return named("Budget", is_infinite=np.inf in fields.values(), **fields)


ROWS = named("SymmetricDifference")
GROUPS = named("IfGroupedBy", inner_metric=named("SumOf"))
ROOTS = named("IfGroupedBy", inner_metric=named("RootSumOfSquared"))
ONE = budget(epsilon=1.0)


class Session:
    """A session on the table "t", which compiles every query into the same noise on `rows` rows."""

    def __init__(self, mechanism: str, parameter: float, *, rows: float = 1.0, metric: Any = ROWS) -> None:
        self.private_sources, self.remaining_privacy_budget = ["t"], ONE
        self._input_metric = SimpleNamespace(key_to_metric={"t": metric})
        self._input_domain = SimpleNamespace(key_to_domain={"t": "a frame"})
        self._d_in = {"t": Exact(rows)}
        self.noise: list[dict[str, Any]] = [
            {"noise_mechanism": SimpleNamespace(name=mechanism), "noise_parameter": parameter}
        ]
        self.inner = SimpleNamespace(d_in=Exact(rows), input_metric=metric)

    def _compile_and_get_info(self, expression: Any, asked: Any) -> Any:
        """Return a measurement, the budget and the noise; refuse what the fields of the query refuse."""
        if expression is None or hasattr(expression, "refused"):
            raise ValueError("Cannot answer\nthis query.")

        def measured(data: Any) -> Any:
            noisy = int(data["t"] + NOISE.geometric(0.6) - NOISE.geometric(0.6))
            return SimpleNamespace(collect=lambda: [("b", 0), ("a", noisy)])

        measured.measurement = SimpleNamespace(measurement=self.inner)  # type: ignore[attr-defined]
        return measured, asked, self.noise


Session.__module__ = "tmlt.analytics.session"


def count(columns: tuple[str, ...] = ()) -> Any:
    """Return a query that counts rows by these columns."""
    return SimpleNamespace(_query_expr=named("GroupByCount", groupby_keys=SimpleNamespace(columns=lambda: columns)))


def total(low: float, high: float) -> Any:
    """Return a query that sums a clipped column."""
    return SimpleNamespace(_query_expr=named("GroupByBoundedSum", groupby_keys=("g",), low=low, high=high))


@pytest.mark.parametrize(
    ("session", "query", "asked", "kind"),
    [
        (Session("GEOMETRIC", 1.0), count(), {"epsilon": 1.0}, DiscreteLaplace),
        (Session("GEOMETRIC", 1 / 3.48), count(("g",)), {"epsilon": 3.48}, DiscreteLaplace),
        (Session("GEOMETRIC", 60.0, rows=3), total(-20, 10), {"epsilon": 1.0}, DiscreteLaplace),
        (Session("GEOMETRIC", 6.0, rows=6, metric=GROUPS), count(("g",)), {"epsilon": 1.0}, DiscreteLaplace),
        (Session("LAPLACE", 5.0), total(0, 2.5), {"epsilon": 0.5, "delta": 1e-9}, Laplace),
        (Session("DISCRETE_GAUSSIAN", 1.0), count(("g",)), {"rho": 0.5}, DiscreteGaussian),
        (Session("GAUSSIAN", 56.25, rows=3), total(0, 2.5), {"rho": 0.5}, Gaussian),
    ],
)
def test_a_query_is_declared_with_its_noise_and_half_of_it_is_refuted(
    session: Session, query: Any, asked: dict[str, float], kind: type
) -> None:
    """Rows times the largest value is the sensitivity; scales that rounding alone puts below it do not matter."""
    options: dict[str, Any] = {"neighbours": "add_remove", "query": query, "budget": budget(**asked), "delta": 1e-5}
    release = adapt(session, **options)
    assert isinstance(release.declaration, Release)
    assert isinstance(release.declaration.mechanism, kind)
    assert (release.library, release.version, release.stated_because) == ("tumult", "9", "")
    assert certify(release.declaration, release.claim).verdict == "certified"
    session.noise[0]["noise_parameter"] /= 4 if "rho" in asked else 2
    planted = adapt(session, **options)
    assert certify(planted.declaration, planted.claim).verdict == "refuted"


@pytest.mark.parametrize(
    ("session", "query"),
    [
        (Session("EXPONENTIAL", 1.0), SimpleNamespace(_query_expr=named("GroupByQuantile", low=0, high=1))),
        (Session("DISCRETE_GAUSSIAN", 9.0, rows=3), count(("g",))),
        (Session("GAUSSIAN", 9.0, rows=3, metric=ROOTS), count(("g",))),
        (Session("GEOMETRIC", 1.0, rows=0), count()),
        (Session("UNKNOWN", 1.0), count()),
    ],
)
def test_a_query_of_unknown_sensitivity_is_stated(session: Session, query: Any) -> None:
    """Quantiles, discrete Gaussian noise on several groups of a unit, sums by root squares, no rows, other noise."""
    release = adapt(session, neighbours="add_remove", query=query, budget=ONE)
    assert isinstance(release.declaration, Stated)
    assert release.stated_because
    assert certify(release.declaration, release.claim).verdict == "stated"


def test_a_session_claims_its_budget_for_what_it_protects() -> None:
    """What is left, or the total; a zCDP budget at delta; the unit is the protected change."""
    session = Session("GEOMETRIC", 1.0, rows=3)
    left = adapt(session, neighbours="add_remove")
    assert (left.claim.epsilon, left.claim.unit) == (1.0, "3 rows")
    assert isinstance(left.declaration, Stated)
    whole = adapt(session, neighbours="add_remove", budget=budget(epsilon=2.0, delta=1e-6))
    assert (whole.claim.epsilon, whole.claim.delta) == (2.0, 1e-6)
    assert "is left" in whole.source
    concentrated = adapt(session, neighbours="add_remove", budget=budget(rho=0.5), delta=1e-5)
    assert 4.7283 < concentrated.claim.epsilon < 4.7285  # Canonne, Kamath and Steinke (2020), Corollary 13
    assert "dpaudit converts" in concentrated.source
    person = adapt(Session("GEOMETRIC", 1.0, metric=named("AddRemoveKeys")), neighbours="add_remove")
    assert person.claim.unit == "all rows of one identifier"
    grouped = adapt(Session("GEOMETRIC", 1.0, rows=6, metric=GROUPS), neighbours="add_remove")
    assert grouped.claim.unit.startswith("rows at distance 6 by IfGroupedBy")


def test_a_query_is_run_on_a_pair_of_frames() -> None:
    """Every run measures anew, by group; without a query or a pair nothing runs."""
    session = Session("GEOMETRIC", 1.0)
    options: dict[str, Any] = {"neighbours": "add_remove", "budget": ONE, "pair": (3, 4)}
    release = adapt(session, query=count(("g",)), **options)
    assert release.function is not None
    found = release.function(3, np.random.default_rng(0), 40)["output"]
    assert {tuple(answer) for answer in found} == {(("a",), ("b",))}
    assert len({answer[("a",)] for answer in found}) > 3
    assert release.case().neighbours == (3, 4)
    assert adapt(session, query=count(), neighbours="add_remove", budget=ONE).function is None
    assert adapt(session, **options).function is None
    session._input_domain.key_to_domain["u"] = "another frame"
    with pytest.raises(UnsupportedError, match="several private tables"):
        adapt(session, query=count(), **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"neighbours": "replace_one"}, "adds or removes rows"),
        ({"query": count()}, "Expected budget="),
        ({"budget": budget(rho=0.5)}, "Expected delta="),
        ({"budget": budget(epsilon=np.inf, delta=1.0)}, "claims no finite epsilon"),
        ({"query": SimpleNamespace(refused=True), "budget": ONE}, "refuses the query .Cannot answer this query"),
    ],
)
def test_what_has_no_claim_is_refused_in_one_line(options: dict[str, Any], words: str) -> None:
    """The relation, a budget, a delta, or the session itself; an object that is no session."""
    with pytest.raises(UnsupportedError, match=words) as caught:
        adapt(Session("GEOMETRIC", 1.0), **{"neighbours": "add_remove"} | options)
    assert "\n" not in str(caught.value)
    with pytest.raises(UnsupportedError, match="Expected a Session"):
        adapt(named("KeySet"), neighbours="add_remove")


def test_a_missing_library_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distribution is named."""
    monkeypatch.undo()
    with pytest.raises(UnsupportedError, match=r"tmlt\.analytics is not installed"):
        adapt(Session("GEOMETRIC", 1.0), neighbours="add_remove")
