"""Reading back the JSON of an audit of scores: each field of its type, each number in agreement with the others."""

from collections.abc import Mapping
from typing import Any

from dpaudit.configuration.tables import read_object
from dpaudit.errors import Fault
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.scores_result import READABLE, SCHEMA, RocPoint, ScoresResult

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
    against = data.get("against")
    if not isinstance(against, Mapping):
        raise Fault(("against",), f"Expected against={against!r:.60} to be a table.")
    if clash := next((key for key in against if key in table), None):
        raise Fault((clash,), f"unknown key {clash!r}; it belongs to 'against'.")
    result = read_object(ScoresResult, {**table, **against})
    if isinstance(result.claim, MeasuredClaim):
        raise Fault(("against", "claim"), f"Expected a claim in epsilon and delta, got {result.claim.words}.")
    if contradiction := _contradiction(result):
        raise Fault((), f"the file contradicts itself: {contradiction}.")
    return result


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
    inside = counts.correct <= counts.guesses <= counts.runs <= result.members + result.others
    rates_possible = counts.true_positives <= counts.positives and counts.false_positives <= counts.negatives
    if not inside or not rates_possible:
        return "a count exceeds the number that it counts from"
    if any(p.true_positives > result.members or p.false_positives > result.others for p in result.roc):
        return "a point of the ROC curve counts more scores than there are"
    return ""


def _of_rates(result: ScoresResult) -> str:
    """Return what is wrong with the rates, the area and their limits."""
    pairs = [pair for point in result.roc for pair in _limits(point)]
    pairs += [(rate.lower, rate.upper) for rate in result.rates if rate.lower is not None and rate.upper is not None]
    area = result.auroc
    if area.lower is not None and area.upper is not None:
        pairs.append((area.lower, area.upper))
    if any(low > high for low, high in pairs):
        return "the limits of a rate are out of order"
    limited = result.sampling == "runs"
    stands = [area.lower, *(rate.lower for rate in result.rates), *(p.true_positive_rate for p in result.roc)]
    if not limited and any(limit is not None for limit in stands):
        return f"limits of rates stand beside the sampling {result.sampling!r}, whose scores share a run"
    return ""


def _limits(point: RocPoint) -> tuple[tuple[float, float], ...]:
    """Return the limits of a point of the ROC curve, where it has any."""
    return tuple(pair for pair in (point.false_positive_rate, point.true_positive_rate) if pair is not None)
