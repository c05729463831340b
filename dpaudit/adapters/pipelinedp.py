"""PipelineDP: an aggregation of rows (privacy id, partition key, value) under one budget, on the local backend."""

from operator import itemgetter
from typing import Any

from dpaudit.adapters.awkward import awkward_rows
from dpaudit.adapters.calls import Calls
from dpaudit.adapters.finding import library_module
from dpaudit.adapters.noise import noise
from dpaudit.adapters.release import LibraryRelease, Question
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration, Sequential, Stated

_LIBRARY = "pipeline-dp"


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of `AggregateParams`, with `epsilon`, `delta` and `public_partitions` as parameters.

    The claim is that of the budget accountant. It is made once on the first data set of a pair, and shares the budget
    among noises and the choice of partitions: Laplace noise on counts, sums and means is declared, all else is stated.
    For added and removed users, whose contributions the parameters bound. Outputs are sorted by partition.
    Raises: UnsupportedError: no parameters of an aggregation, or no epsilon.
    """
    given = question.with_delta()
    if type(subject).__name__ != "AggregateParams":
        raise UnsupportedError(f"Expected AggregateParams of PipelineDP, got {type(subject).__name__}.")
    if "epsilon" not in given:
        raise UnsupportedError("Expected epsilon=... for the budget of the aggregation.")
    epsilon, delta = float(given["epsilon"]), float(given.get("delta", 0.0))
    claim = question.claim(epsilon, delta)
    source = f"NaiveBudgetAccountant({epsilon:g}, {delta:g})"
    public = given.get("public_partitions")

    def aggregated(rows: Any) -> Any:
        return _aggregated(subject, rows, epsilon, delta, public)

    declaration = None
    if question.pair is not None and question.neighbours == "add_remove":
        accountant = _prepared(subject, question.pair[0], epsilon, delta, public)[0]
        declaration = _declared(subject, accountant, claim, source)
    return question.answer(
        claim,
        source,
        declaration,
        "no share of the budget is Laplace noise that the adapter knows",
        text=f"aggregation of {', '.join(str(metric) for metric in subject.metrics)}",
        function=Calls(call=aggregated, released=question.released),
        awkward=awkward_rows(question.pair) if question.pair and question.neighbours == "add_remove" else (),
    )


def _prepared(parameters: Any, rows: Any, epsilon: float, delta: float, public: Any) -> tuple[Any, Any]:
    """Return the accountant, its budget shared out, and what the engine computes when it is read."""
    library = library_module("pipeline_dp", _LIBRARY)
    accountant = library.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    extractors = library.DataExtractors(
        privacy_id_extractor=itemgetter(0), partition_extractor=itemgetter(1), value_extractor=itemgetter(2)
    )
    engine = library.DPEngine(accountant, library.LocalBackend())
    result = engine.aggregate(list(rows), parameters, extractors, public_partitions=public)
    accountant.compute_budgets()
    return accountant, result


def _aggregated(parameters: Any, rows: Any, epsilon: float, delta: float, public: Any) -> dict[str, Any]:
    """Return the published metrics of one run, by partition."""
    result = _prepared(parameters, rows, epsilon, delta, public)[1]
    rows_out = {str(key): list(value) for key, value in result}
    return dict(sorted(rows_out.items()))


def _declared(parameters: Any, accountant: Any, claim: Claim, source: str) -> Declaration | None:
    """Return what the accountant shared its budget among, or None where nothing of it is a mechanism here.

    Laplace noise on counts, sums and the two halves of a mean is declared; other noise and the choice of partitions are
    stated at their share.
    """
    parts: list[Declaration] = []
    for mechanism in getattr(accountant, "_mechanisms", ()):
        spec = mechanism.mechanism_spec
        moved = _moved(parameters, spec.name) if spec.mechanism_type.name == "LAPLACE" else None
        shown = None
        if moved:
            label, scale = f"{_LIBRARY} {spec.name}", moved / spec.eps
            shown = noise(label, "laplace", scale, moved, claim.neighbours, epsilon=spec.eps)
        told = f"{source}: the share of {spec.name}"
        parts.append(shown or Stated(epsilon=spec.eps, delta=spec.delta, source=told, neighbours=claim.neighbours))
    if all(isinstance(part, Stated) for part in parts):
        return None
    return parts[0] if len(parts) == 1 else Sequential(parts=tuple(parts))


def _moved(parameters: Any, name: str) -> float | None:
    """Return how far one user moves all partitions of a metric together, or None where it is not known here."""
    partitions, rows = parameters.max_partitions_contributed, parameters.max_contributions_per_partition
    low, high = parameters.min_value, parameters.max_value
    if partitions is None or (rows is None and name != "PrivacyIdCount"):
        return None
    match name:
        case "Count" | "MeanCount":
            return float(partitions * rows)
        case "PrivacyIdCount":
            return float(partitions)
        case "Sum" if low is not None and high is not None:
            return float(partitions * rows * max(abs(low), abs(high)))
        case "MeanSum" if low is not None and high is not None:
            return float(partitions * rows * (high - low) / 2)
        case _:
            return None
