"""Section 7a: membership-inference scores from elsewhere, with their stated sampling and what they show."""

from collections.abc import Callable, Iterator

from dpaudit.model.scores_result import ScoresResult
from dpaudit.report.compliance.fields import Field, Part, Status, evidence, grid
from dpaudit.report.facts import Facts
from dpaudit.wording.claims import capital
from dpaudit.wording.scores import BOUNDS_HEAD, scores_bounds, scores_evidence, scores_meaning, scores_rates


def scored(facts: Facts) -> Iterator[Part]:
    """Yield section 7a where the configuration names audits of scores, else nothing."""
    scores = facts.report.scores
    if not scores:
        return
    for number, scored_file in enumerate(scores, start=1):
        result, ref = scored_file.result, f"scores[{number - 1}]"
        verdict = f"{result.verdict.replace('_', ' ')}. {scores_meaning(result)}"
        yield evidence(f"S{number}: verdict", verdict, ref)
        for name, text in scores_evidence(result):
            status: Status = "declared" if name == "sampling" else "evidence"
            apart = "; whether the certificate's declaration is the same was not compared"
            value = text + apart if name.startswith("declared") else text
            yield Field(name=f"S{number}: {name}", value=value, status=status, evidence_ref=ref)
        yield evidence(f"S{number}: file", f"{scored_file.file}, SHA-256 {scored_file.digest}", f"{ref}.digest")

    def numbered(rows_of: Callable[[ScoresResult], tuple[tuple[str, ...], ...]]) -> Iterator[tuple[str, ...]]:
        """Yield the rows of each audit of scores, the first cell with its number."""
        for number, scored_file in enumerate(scores, start=1):
            yield from ((f"S{number}: {first}", *others) for first, *others in rows_of(scored_file.result))

    yield grid(
        "score_bounds",
        "Lower bounds on epsilon from scores, each under the stated sampling",
        tuple(map(capital, BOUNDS_HEAD)),
        numbered(scores_bounds),
    )
    yield grid(
        "score_rates",
        "How well the scores tell members from others",
        ("Quantity", "Measured and limits"),
        numbered(scores_rates),
    )
