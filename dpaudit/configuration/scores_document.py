"""Reading back the JSON of an audit of scores: each field of its type, each number in agreement with the others."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from dpaudit.errors import Fault, KeyPath
from dpaudit.model.scores_result import READABLE, SCHEMA, RateAt, RocPoint, ScoresResult

_SLACK = 1e-9
"""By how much two numbers that were computed by different formulas may differ."""


def decode_scores(data: Any) -> ScoresResult:
    """Return the result that `ScoresResult.to_dict` wrote.

    The scores are not in the file, so that bounds are not derived again; verdict, bounds, counts and limits must agree.
    Raises: Fault: another schema, an unknown or missing field, a value out of range, or a contradiction.
    """
    if not isinstance(data, Mapping) or data.get("schema") not in READABLE:
        raise Fault((), f"expected an audit of scores ({SCHEMA}), as `dpaudit scores --format json` writes it.")
    table = {key: value for key, value in data.items() if key not in ("schema", "against")}
    against = _table(data.get("against"), ("against",))
    if clash := next((key for key in against if key in table), None):
        raise Fault((clash,), f"unknown key {clash!r}; it belongs to 'against'.")
    result: ScoresResult = read_object(ScoresResult, table | against, ())
    if contradiction := _contradiction(result):
        raise Fault((), f"the file contradicts itself: {contradiction}.")
    return result


def _table(data: Any, where: KeyPath) -> dict[str, Any]:
    """Return a copy of `data` if it is a table."""
    if not isinstance(data, Mapping):
        raise _fault(where, "a table", data)
    return dict(data)


def _fault(where: KeyPath, expected: str, value: Any) -> Fault:
    """Return a fault that names the place, the value and what was expected."""
    return Fault(where, f"expected {'.'.join(map(str, where)) or 'the file'}={value!r:.60} to be {expected}.")


def read_object(kind: type[Any], table: dict[str, Any], where: KeyPath) -> Any:
    """Return `kind(**table)` with every field read by its type."""
    hints, known = get_type_hints(kind), {entry.name: entry for entry in fields(kind)}
    for key in table:
        if key not in known:
            raise Fault((*where, key), f"unknown key {'.'.join(map(str, (*where, key)))!r}.")
    for name, entry in known.items():
        if name not in table and entry.default is MISSING:
            raise Fault(where, f"missing key {'.'.join(map(str, (*where, name)))!r}.")
    values = {key: _value(hints[key], value, (*where, key)) for key, value in table.items()}
    try:
        return kind(**values)
    except ValueError as error:
        raise Fault(where, str(error)) from None


def _value(hint: Any, value: Any, where: KeyPath) -> Any:
    """Return one value as its type wants it."""
    origin, options = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _value(next(option for option in options if option is not type(None)), value, where)
    if origin is Literal:
        if value not in options:
            raise _fault(where, f"one of {', '.join(map(str, options))}", value)
        return value
    if origin is tuple:
        return _items(options, value, where)
    if is_dataclass(hint) and isinstance(hint, type):
        return read_object(hint, _table(value, where), where)
    return _number(value, where) if hint is float else _plain(hint, value, where)


def _items(options: tuple[Any, ...], value: Any, where: KeyPath) -> tuple[Any, ...]:
    """Return a list as a tuple of the stated types."""
    if not isinstance(value, list):
        raise _fault(where, "a list", value)
    kinds = list(options)
    if Ellipsis not in kinds and len(value) != len(kinds):
        raise _fault(where, f"a list of {len(kinds)}", value)
    return tuple(_value(kinds[0], item, (*where, place)) for place, item in enumerate(value))


def _number(value: Any, where: KeyPath) -> float:
    """Return a number, or the infinity that stands as text."""
    if value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _fault(where, "a number", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise _fault(where, "a finite number", value)
    return number


def _plain(hint: Any, value: Any, where: KeyPath) -> Any:
    """Return a text, a truth value, or a whole number that is not negative."""
    if not isinstance(value, hint) or (hint is int and (isinstance(value, bool) or value < 0)):
        raise _fault(where, {str: "text", bool: "true or false", int: "a count"}[hint], value)
    return value


def _contradiction(result: ScoresResult) -> str:
    """Return the first two numbers that do not agree, or nothing."""
    refuted = result.exceeds_claim or (result.declared is not None and result.declared.refuted)
    first = result.bounds[0] if result.bounds else None
    if (result.verdict == "violation") is not refuted:
        return f"the verdict {result.verdict!r} does not follow from epsilon_lower and the claim"
    if first is None or (first.name, first.epsilon) != (result.bound, result.epsilon_lower):
        return "the first bound is not the one that decides"
    if first.significance > result.significance:
        return "the significance of the first bound exceeds that of the audit"
    if result.delta != result.claim.delta:
        return "delta is not the claim's"
    if result.epsilon_lower > result.ceiling + _SLACK:
        return "epsilon_lower exceeds the ceiling"
    if any(bound.significance > result.significance for bound in result.measured):
        return "the significance of a bound in another measure exceeds that of the audit"
    return _of_counts(result) or _of_rates(result)


def _of_counts(result: ScoresResult) -> str:
    """Return what is wrong with the counts."""
    counts = result.counts
    if min(result.members, result.others) < 1:
        return "members and others are not both positive"
    inside = counts.correct <= counts.guesses <= counts.runs <= result.members + result.others
    whole = counts.true_positives <= counts.positives and counts.false_positives <= counts.negatives
    if not inside or not whole:
        return "a count exceeds the number that it counts from"
    if any(p.true_positives > result.members or p.false_positives > result.others for p in result.roc):
        return "a point of the ROC curve counts more scores than there are"
    return ""


def _of_rates(result: ScoresResult) -> str:
    """Return what is wrong with the rates, the area and their limits."""
    if any(not 0 <= value <= 1 for rate in result.rates for value in _shares(rate)):
        return "a rate is outside [0, 1]"
    pairs = [pair for point in result.roc for pair in _limits(point)]
    pairs += [(rate.lower, rate.upper) for rate in result.rates if rate.lower is not None and rate.upper is not None]
    area = result.auroc
    if area.lower is not None and area.upper is not None:
        pairs.append((area.lower, area.upper))
    pairs += [
        (area.value, area.value),
        (area.allowed, area.allowed),
        *((rate, rate) for at in result.curve for rate in at),
    ]
    if any(not 0 <= low <= high <= 1 for low, high in pairs):
        return "the limits of a rate are out of order or outside [0, 1]"
    limited = result.sampling == "runs"
    stands = [area.lower, *(rate.lower for rate in result.rates), *(p.true_positive_rate for p in result.roc)]
    if not limited and any(limit is not None for limit in stands):
        return f"limits of rates stand beside the sampling {result.sampling!r}, whose scores share a run"
    return ""


def _shares(rate: RateAt) -> tuple[float, ...]:
    """Return the probabilities of a rate."""
    return (rate.false_positive_rate, rate.measured, rate.randomised, rate.allowed)


def _limits(point: RocPoint) -> tuple[tuple[float, float], ...]:
    """Return the limits of a point of the ROC curve, where it has any."""
    return tuple(pair for pair in (point.false_positive_rate, point.true_positive_rate) if pair is not None)
