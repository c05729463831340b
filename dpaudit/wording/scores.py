"""The words of an audit of scores: its verdict, its sampling, its bounds, a sentence each."""

from typing import assert_never

from dpaudit.model.scores_result import RateAt, Sampling, ScoresResult
from dpaudit.wording.numerals import at_least, at_least_beside, at_most, exact, nearest, whole


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


def sampling_phrase(sampling: Sampling) -> str:
    """Return the stated origin of the scores, which the result rests on."""
    match sampling:
        case "runs":
            return "one score from each independent run, all about one target (stated, not checked)"
        case "canaries":
            return "one run; an independent fair coin put each canary in or left it out (stated, not checked)"
        case "paired":
            return "one run; a fair coin put one canary of each pair in (stated, not checked)"
        case _:
            assert_never(sampling)


def counts_phrase(result: ScoresResult) -> str:
    """Return the counts that the bound rests on."""
    counts = result.counts
    if result.sampling != "runs":
        return f"{whole(counts.correct)} right of {whole(counts.guesses)}; {result.rule}"
    return (
        f"{whole(counts.true_positives)} of {whole(counts.positives)} members and {whole(counts.false_positives)} of "
        f"{whole(counts.negatives)} others above; {result.rule}"
    )


def ceiling_sentence(result: ScoresResult) -> str:
    """Return what no scores could exceed."""
    return f"No scores, however sharp, show more than {at_most(result.ceiling)} by this rule with so many."


def area_phrase(result: ScoresResult) -> str:
    """Return the area under the ROC curve, its limits, and what the claim allows."""
    area = result.auroc
    limits = "no limits, since the scores share a run"
    if area.lower is not None and area.upper is not None:
        limits = f"limits {at_least(area.lower, 3)} to {at_most(area.upper, 3)}"
    return f"{nearest(area.value, 4)}; {limits}; the claim allows {at_most(area.allowed)}"


def rate_phrase(rate: RateAt) -> str:
    """Return the true positive rate at one false positive rate."""
    limits = ""
    if rate.lower is not None and rate.upper is not None:
        limits = f"; limits {at_least(rate.lower, 3)} to {at_most(rate.upper, 3)}"
    return (
        f"{nearest(rate.measured, 3)} (randomised {nearest(rate.randomised, 3)}){limits}; the claim allows "
        f"{at_most(rate.allowed, 3)}"
    )


def raw_phrase(result: ScoresResult) -> str:
    """Return the estimate from raw counts, which is no bound."""
    if result.raw.threshold is None:
        return f"no threshold has {result.raw.least} errors of each kind"
    return (
        f"{nearest(result.raw.epsilon)}, the largest at a threshold with {result.raw.least} errors of each kind or "
        "more; no bound"
    )
