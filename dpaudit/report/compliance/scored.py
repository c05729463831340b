"""Section 7a: membership-inference scores from elsewhere, with their stated sampling and what they show."""

from dpaudit.report.compliance.fields import Field, Grid, Section, Status, evidence
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.score_evidence import ScoreEvidence
from dpaudit.wording.audits import measured_phrase
from dpaudit.wording.numerals import at_least, at_most, exact, nearest, whole
from dpaudit.wording.scores import area_phrase, counts_phrase, rate_phrase, sampling_phrase, scores_meaning


def scored(report: ReportInputs) -> tuple[Section, ...]:
    """Return section 7a where the configuration names audits of scores, else nothing."""
    if not report.scores:
        return ()
    fields = tuple(field for number, held in enumerate(report.scores, start=1) for field in _fields(number, held))
    return (
        Section(
            number="7a",
            ident="scores",
            title="Membership scores",
            crosswalk="ISO/IEC 27559: adversarial testing; EDPB Opinion 28/2024: resistance to attacks",
            fields=fields,
            grids=(_bounds(report.scores), _rates(report.scores)),
        ),
    )


def _fields(number: int, held: ScoreEvidence) -> tuple[Field, ...]:
    """Return verdict, sampling, counts and file of one audit of scores."""
    result, ref = held.result, f"scores[{number - 1}]"
    declared = result.declared
    against = () if declared is None else (evidence(f"S{number}: declared beside the claim", _declared(held), ref),)
    return (
        evidence(f"S{number}: verdict", f"{result.verdict.replace('_', ' ')}. {scores_meaning(result)}", ref),
        Field(name=f"S{number}: sampling", value=sampling_phrase(result.sampling), status="declared", evidence_ref=ref),
        *against,
        evidence(
            f"S{number}: scores",
            f"{whole(result.members)} of members, {whole(result.others)} of others; {counts_phrase(result)}",
            ref,
        ),
        evidence(
            f"S{number}: error",
            f"a true claim is rejected with probability at most {nearest(result.significance)}, "
            "if the sampling is as stated",
            ref,
        ),
        *(evidence(f"S{number}: {held.measure}_emp", measured_phrase(held), ref) for held in result.measured),
        evidence(f"S{number}: file", f"{held.file}, SHA-256 {held.digest}", f"{ref}.digest"),
    )


def _declared(held: ScoreEvidence) -> str:
    """Return the trade-off that was declared beside the claim; nothing ties it to the certificate."""
    declared = held.result.declared
    if declared is None:
        return ""
    verdict = "refuted" if declared.refuted else "not refuted"
    return f"{declared.text}: {verdict}; whether the certificate's declaration is the same was not compared"


def _bounds(scores: tuple[ScoreEvidence, ...]) -> Grid:
    """Return every lower bound of every audit; the first one of each decides."""
    rows = tuple(
        (
            f"S{number}: {bound.name}",
            f"at least {at_least(bound.epsilon)}",
            exact(held.result.delta),
            nearest(bound.significance),
            at_most(held.result.ceiling),
            f"{'decides' if place == 0 else 'decides nothing'}; assumes {bound.assumption or 'only the sampling'}",
        )
        for number, held in enumerate(scores, start=1)
        for place, bound in enumerate(held.result.bounds)
    )
    return _grid(
        "score_bounds",
        "Lower bounds on epsilon from scores, each under the stated sampling",
        ("Bound", "Epsilon", "At delta", "Significance", "Ceiling", "Weight"),
        rows,
    )


def _rates(scores: tuple[ScoreEvidence, ...]) -> Grid:
    """Return the area under each ROC curve and the true positive rates at low false positive rates."""
    rows: list[tuple[str, ...]] = []
    for number, held in enumerate(scores, start=1):
        rows.append((f"S{number}: AUROC", area_phrase(held.result)))
        rows.extend(
            (f"S{number}: TPR at FPR {nearest(rate.false_positive_rate)}", rate_phrase(rate))
            for rate in held.result.rates
        )
    return _grid(
        "score_rates", "How well the scores tell members from others", ("Quantity", "Measured and limits"), tuple(rows)
    )


def _grid(name: str, caption: str, head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Grid:
    """Return a table of measured values."""
    statuses: tuple[Status, ...] = tuple("evidence" for _ in rows)
    return Grid(name=name, caption=caption, head=head, rows=rows, statuses=statuses)
