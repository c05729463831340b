"""PipelineDP: an aggregation of rows (privacy id, partition key, value) under one budget, on the local backend."""

from operator import itemgetter
from typing import Any

from dpaudit.adapters.awkward import awkward_rows
from dpaudit.adapters.calls import Calls, published
from dpaudit.adapters.finding import installed_version, library_module
from dpaudit.adapters.release import LibraryRelease, Question, stated
from dpaudit.errors import UnsupportedError

_LIBRARY = "pipeline-dp"


def adapt(subject: Any, question: Question) -> LibraryRelease:
    """Return the release of `AggregateParams`, with `epsilon`, `delta` and `public_partitions` as parameters.

    The claim is that of the budget accountant, which splits it between noise and partition selection; how it does is
    not told before the budget is computed, so that the claim is stated. Outputs are sorted by partition.
    Raises: UnsupportedError: no parameters of an aggregation, or no epsilon.
    """
    version, given = installed_version(_LIBRARY), question.with_delta()
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

    return LibraryRelease(
        library=_LIBRARY,
        version=version,
        text=f"aggregation of {', '.join(str(metric) for metric in subject.metrics)}",
        claim=claim,
        source=source,
        declaration=stated(claim, _LIBRARY, version, source),
        stated_because="the share of each request is known only after the budget is computed",
        function=Calls(call=published(aggregated, question.released)),
        pair=question.pair,
        reproducible=False,
        awkward=awkward_rows(question.pair) if question.pair and question.neighbours == "add_remove" else (),
    )


def _aggregated(parameters: Any, rows: Any, epsilon: float, delta: float, public: Any) -> dict[str, Any]:
    """Return the published metrics of one run, by partition."""
    library = library_module("pipeline_dp", _LIBRARY)
    accountant = library.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    extractors = library.DataExtractors(
        privacy_id_extractor=itemgetter(0), partition_extractor=itemgetter(1), value_extractor=itemgetter(2)
    )
    engine = library.DPEngine(accountant, library.LocalBackend())
    result = engine.aggregate(list(rows), parameters, extractors, public_partitions=public)
    accountant.compute_budgets()
    rows_out = {str(key): list(value) for key, value in result}
    return dict(sorted(rows_out.items()))
