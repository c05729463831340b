"""Tumult Analytics: one query of a session under its budget, or all that a session may still spend."""

import math
from dataclasses import dataclass, replace
from typing import Any

from dpaudit.accounting.calibration import smallest_holding
from dpaudit.adapters.calls import Calls, number_or_nan
from dpaudit.adapters.noise import noise
from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses.concentrated import concentrated_delta

_LIBRARY = "tumult"
_RUNS = "One run takes seconds of Spark, whose workers need PYSPARK_PYTHON; 100 runs are a sensible first audit."
_NOISE = {"GEOMETRIC": "discrete_laplace", "LAPLACE": "laplace", "GAUSSIAN": "gaussian"}
_NOISE["DISCRETE_GAUSSIAN"] = "discrete_gaussian"


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of a `Session`: of one `query` under its `budget`, or of the whole session without a query.

    The claim is the budget: of the query; of the session, where `budget` is the total that it was made with, else what
    is left of it. A zCDP budget is converted at `delta`. A count or bounded sum
    is declared with the noise that the session compiles for it. How far the protected change moves it is the number of
    rows that the compiled query allows, times the largest clipped value. All else is stated. Nothing is spent. With a
    pair of Spark frames, every run measures the compiled query on one of them, for sessions of one private table.
    Raises: UnsupportedError: no session, no budget beside a query, other neighbours than `add_remove`, a zCDP budget
        without delta, or a query that the session refuses.
    """
    given = question.parameters
    if not hasattr(subject, "remaining_privacy_budget"):
        raise UnsupportedError(f"Expected a Session of Tumult Analytics, got {type(subject).__name__}.")
    if question.neighbours != "add_remove":
        raise UnsupportedError("Expected neighbours='add_remove': every protected change adds or removes rows.")
    query, left = given.get("query"), subject.remaining_privacy_budget
    if query is not None and "budget" not in given:
        raise UnsupportedError("Expected budget=... of the query, as evaluate takes it.")
    budget = given.get("budget", left)
    claim, source = _claim(budget, question, _unit(subject))
    expression = getattr(query, "_query_expr", query)
    compiled, told = (None, ()) if query is None else _compiled(subject, expression, budget)
    declaration = None if query is None else _noise(expression, compiled, told, claim)
    text = f"session on {', '.join(subject.private_sources)}" if query is None else type(expression).__name__
    runs = query is not None and question.pair is not None
    groups = len(_columns(getattr(expression, "groupby_keys", ())))
    run = _Measured(compiled=compiled, tables=_only_table(subject), groups=groups) if runs else None
    return question.answer(
        claim,
        source if query is not None else f"{source}, of which {left!r} is left",
        declaration,
        f"the adapter knows no sensitivity and noise of the {text}",
        text=text,
        function=None if run is None else Calls(call=run, released=question.released),
        pair=question.pair if runs else None,
        notes=(_RUNS,) if runs else (),
    )


def _claim(budget: Any, question: Question, unit: str) -> tuple[Claim, str]:
    """Return what a budget claims about one protected change, and its own text."""
    source, delta = " ".join(repr(budget).split()), question.delta
    infinite = getattr(budget, "is_infinite", None)
    if infinite is None or callable(infinite) or not (hasattr(budget, "rho") or hasattr(budget, "epsilon")):
        raise UnsupportedError(
            f"Expected a privacy budget of Tumult Analytics, got {source:.80}; make one of its classes."
        )
    if infinite:
        stated_claim = question.claim(math.inf, 0.0)
    elif not hasattr(budget, "rho"):
        stated_claim = question.claim(_size("epsilon", budget.epsilon), _size("delta", getattr(budget, "delta", 0.0)))
    elif delta is None:
        raise UnsupportedError("Expected delta=...: a zCDP budget has an epsilon at a delta.")
    else:
        stated_claim = question.claim(_epsilon(_size("rho", budget.rho), delta), delta)
        source += f", which dpaudit converts at delta={delta:g}"
    return replace(stated_claim, unit=unit), source


def _size(name: str, number: Any) -> float:
    """Return a number of a budget.

    Raises: UnsupportedError: it is none, or negative.
    """
    size = number_or_nan(number)
    if not size >= 0:
        raise UnsupportedError(f"Expected the budget's {name}={number!r:.40} to be a number from 0 on.")
    return size


def _epsilon(rho: float, delta: float) -> float:
    """Return an epsilon that rho-zCDP has at delta, rounded up."""
    return smallest_holding(lambda epsilon: concentrated_delta(rho, epsilon) <= delta, f"delta={delta}")


def _unit(session: Any) -> str:
    """Return what one protected change adds or removes, by the session's metric of each table."""
    units = []
    for key, metric in session._input_metric.key_to_metric.items():
        distance = _number(session._d_in[key])
        rows = f"rows at distance {distance:g} by {metric}"
        if type(metric).__name__ == "SymmetricDifference":
            rows = "one row" if distance == 1 else f"{distance:g} rows"
        elif type(metric).__name__ == "AddRemoveKeys":
            rows = "all rows of one identifier"
        units.append(rows)
    return units[0] if len(units) == 1 else f"in their tables: {'; '.join(units)}"


def _compiled(session: Any, expression: Any, budget: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the measurement that a session compiles for a query, and what it says of its noise."""
    try:
        compiled, _, told = session._compile_and_get_info(expression, budget)
    except (ValueError, RuntimeError, NotImplementedError) as error:
        raise UnsupportedError(f"The session refuses the query ({' '.join(str(error).split())[:300]}).") from None
    return compiled, tuple(told)


def _noise(expression: Any, compiled: Any, told: tuple[Any, ...], claim: Claim) -> Declaration | None:
    """Return the noise of a count or of a bounded sum whose sensitivity the compiled query tells, or None."""
    kind = type(expression).__name__
    if kind not in ("GroupByCount", "GroupByCountDistinct", "GroupByBoundedSum") or len(told) != 1:
        return None
    while hasattr(compiled, "measurement"):
        compiled = compiled.measurement
    largest = max(abs(expression.low), abs(expression.high)) if kind == "GroupByBoundedSum" else 1
    mechanism, number = _NOISE.get(told[0]["noise_mechanism"].name), _number(told[0]["noise_parameter"])
    rows = _number(getattr(compiled, "d_in", math.nan))
    if not (math.isfinite(number) and math.isfinite(rows)):
        return None
    moved, metric = rows * float(largest), getattr(compiled, "input_metric", None)
    by_rows = type(metric).__name__ == "SymmetricDifference"
    in_total = by_rows or type(getattr(metric, "inner_metric", None)).__name__ == "SumOf"
    in_one_place = rows == 1 or not _columns(expression.groupby_keys)
    label = f"{_LIBRARY} {kind}"
    if mechanism in ("laplace", "discrete_laplace") and in_total:
        return noise(label, mechanism, number, moved, claim.neighbours, epsilon=claim.epsilon)
    if by_rows and (mechanism == "gaussian" or (mechanism == "discrete_gaussian" and in_one_place)):
        return noise(label, mechanism, math.sqrt(number), moved, claim.neighbours)
    return None


def _columns(keys: Any) -> Any:
    """Return the columns that a query groups by."""
    return keys.columns() if hasattr(keys, "columns") else keys


def _number(value: Any) -> float:
    """Return an exact number of the library as a double, rounded up, or a plain number as it is."""
    return float(value.to_float(round_up=True) if hasattr(value, "to_float") else value)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """Answers of one compiled query on a frame, by group; every answer has fresh noise, and no budget is spent."""

    compiled: Any
    tables: tuple[Any, ...]
    groups: int

    def __call__(self, frame: Any) -> Any:
        """Return the rows of one answer in a fixed order: of the columns after the groups, where it has groups."""
        data = frame
        for table in reversed(self.tables):
            data = {table: data}
        rows = sorted((tuple(row) for row in self.compiled(data).collect()), key=repr)
        return {row[: self.groups]: row[self.groups :] for row in rows} if self.groups else rows


def _only_table(session: Any) -> tuple[Any, ...]:
    """Return the keys that lead to the one private table of a session.

    Raises: UnsupportedError: there are several tables.
    """
    domain, keys = session._input_domain, []
    while hasattr(domain, "key_to_domain"):
        if len(domain.key_to_domain) != 1:
            raise UnsupportedError("Expected no pair=... for a session of several private tables: one frame is run.")
        ((key, domain),) = domain.key_to_domain.items()
        keys.append(key)
    return tuple(keys)
