"""The words of an audit of scores: its verdict, its evidence, its bounds and its rates, the same on every output."""

from typing import assert_never

from dpaudit.model.scores_result import RateAt, Sampling, ScoresResult
from dpaudit.wording.audits import measured_rows
from dpaudit.wording.numerals import at_least, at_least_beside, at_most, exact, nearest, whole

Rows = tuple[tuple[str, str], ...]

SAMPLING: dict[Sampling, str] = {
    "runs": "one score from each independent run, all about one target (stated, not checked)",
    "canaries": "one run; an independent fair coin put each canary in or left it out (stated, not checked)",
    "paired": "one run; a fair coin put one canary of each pair in (stated, not checked)",
}
"""The stated origin of scores, which a result rests on."""

BOUNDS_HEAD = ("bound", "epsilon", "at delta", "significance", "ceiling", "weight")


def scores_meaning(result: ScoresResult) -> str:
    """Return the meaning of the verdict in one or two sentences."""
    lower, claimed = at_least_beside(result.epsilon_lower, result.claim.epsilon), exact(result.claim.epsilon)
    match result.verdict:
        case "violation" if result.exceeds_claim:
            return f"The scores show epsilon of at least {lower}, above the claimed {claimed}."
        case "violation":
            return (
                f"The scores refute {'' if result.declared is None else result.declared.text}, which was declared. "
                f"They show epsilon of at least {lower}, within the claimed {claimed}."
            )
        case "not_refuted":
            return (
                f"The scores tell members from others, and show epsilon of at least {lower}, within the claimed "
                f"{claimed}. A sharper attack may show more."
            )
        case "inconclusive":
            return f"The scores show epsilon of at least {lower}, and say nothing about the claimed {claimed}."
        case _:
            assert_never(result.verdict)


def scores_evidence(result: ScoresResult) -> Rows:
    """Return what the bounds rest on: sampling, what was declared beside the claim, counts, other measures, error."""
    declared, counts = result.declared, result.counts
    counted = f"{whole(counts.correct)} right of {whole(counts.guesses)}"
    if result.sampling == "runs":
        counted = (
            f"{whole(counts.true_positives)} of {whole(counts.positives)} members and "
            f"{whole(counts.false_positives)} of {whole(counts.negatives)} others above"
        )
    refuted = "" if declared is not None and declared.refuted else "not "
    return (
        ("sampling", SAMPLING[result.sampling]),
        *([] if declared is None else [("declared beside the claim", f"{declared.text}: {refuted}refuted")]),
        ("scores", f"{whole(result.members)} of members, {whole(result.others)} of others"),
        ("counts", f"{counted}; {result.rule}"),
        *measured_rows(result.measured),
        (
            "error",
            f"a true claim is rejected with probability at most {nearest(result.significance)}, if the sampling is as "
            "stated",
        ),
    )


def scores_bounds(result: ScoresResult) -> tuple[tuple[str, ...], ...]:
    """Return every lower bound on epsilon as a row below `BOUNDS_HEAD`; the first one decides."""
    return tuple(
        (
            bound.name,
            f"at least {at_least(bound.epsilon)}",
            exact(result.delta),
            nearest(bound.significance),
            at_most(result.ceiling),
            f"{'decides' if rank == 0 else 'decides nothing'}; assumes {bound.assumption or 'only the sampling'}",
        )
        for rank, bound in enumerate(result.bounds)
    )


def scores_rates(result: ScoresResult) -> Rows:
    """Return how well the scores tell members from others: the area, and true positive rates at low false ones."""
    rates = ((f"TPR at FPR {nearest(rate.false_positive_rate)}", _rate(rate)) for rate in result.rates)
    return (("AUROC", area_phrase(result)), *rates)


def area_phrase(result: ScoresResult) -> str:
    """Return the area under the ROC curve, its limits, and what the claim allows."""
    area = result.auroc
    limits = "no limits, since the scores share a run"
    if area.lower is not None and area.upper is not None:
        limits = f"limits {at_least(area.lower, 3)} to {at_most(area.upper, 3)}"
    return f"{nearest(area.value, 4)}; {limits}; the claim allows {at_most(area.allowed)}"


def _rate(rate: RateAt) -> str:
    """Return the true positive rate at one false positive rate."""
    limits = ""
    if rate.lower is not None and rate.upper is not None:
        limits = f"; limits {at_least(rate.lower, 3)} to {at_most(rate.upper, 3)}"
    randomised = nearest(rate.randomised, 3)
    return f"{nearest(rate.measured, 3)} (randomised {randomised}){limits}; the claim allows {at_most(rate.allowed, 3)}"


def raw_phrase(result: ScoresResult) -> str:
    """Return the estimate from raw counts, which is no bound."""
    if result.raw.threshold is None:
        return f"no threshold has {result.raw.least} errors of each kind"
    return (
        f"{nearest(result.raw.epsilon)}, the largest at a threshold with {result.raw.least} errors of each kind or "
        "more; no bound"
    )
