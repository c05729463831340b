"""The words of an audit: its verdict, its power, and its bound against claim and certificate, a sentence each."""

import math
from typing import assert_never

from dpaudit.model.audit_result import AuditResult, FollowedPlan, MeasuredBound
from dpaudit.model.case import AuditCoverage
from dpaudit.wording.numerals import at_least, at_least_beside, at_most, exact, nearest, whole


def audit_meaning(result: AuditResult) -> str:
    """Return the meaning of the verdict of an audit in one sentence."""
    lower, claimed = at_least_beside(result.epsilon_lower, result.claim.epsilon), exact(result.claim.epsilon)
    shown = f"The attack shows epsilon of at least {lower}{provision(result)}"
    match result.verdict:
        case "violation" if result.assumption and math.isinf(result.certified):
            return f"If {result.assumption}, epsilon is at least {lower}, above the claimed {claimed}."
        case "violation" if result.assumption:
            return (
                f"If {result.assumption}, epsilon is at least {lower}, and the declaration delivers "
                f"{at_most(result.certified)}. The code is not what is declared."
            )
        case "violation" if result.exceeds_claim:
            return f"The attack shows epsilon of at least {lower}, above the claimed {claimed}."
        case "violation":
            return (
                f"The attack shows epsilon of at least {lower}: inside the claimed {claimed}, but above the "
                f"{at_most(result.certified)} that the declaration delivers. The code is not what is declared."
            )
        case "consistent":
            return f"{shown}, within the claimed {claimed}. {power_phrase(result)}"
        case "not_refuted":
            return (
                f"No violation was found: {shown[0].lower()}{shown[1:]}, within the claimed {claimed}. "
                f"{power_phrase(result)} A violation of that size on this pair is not excluded."
            )
        case "inconclusive":
            return f"{shown}; whether it would have caught a violation of the claimed {claimed} is not known."
        case _:
            assert_never(result.verdict)


def provision(result: AuditResult) -> str:
    """Return what the lower bound of an audit takes for granted, as a clause after the number; may be empty."""
    return f", provided that {result.assumption}" if result.assumption else ""


def bound_phrase(result: AuditResult) -> str:
    """Return the lower bound of an audit with what it takes for granted."""
    return f"at least {at_least_beside(result.epsilon_lower, result.claim.epsilon)}{provision(result)}"


def measured_rows(bounds: tuple[MeasuredBound, ...]) -> list[tuple[str, str]]:
    """Return one row for each bound in another measure than epsilon: its name, and the bound with what it rests on.

    >>> bound = MeasuredBound(measure="mu", value=0.434, statistic="pairs", samples=50_000, significance=0.05)
    >>> measured_rows((bound,))
    [('mu_emp', 'mu is at least 0.434 (pairs, n = 50,000; confidence 0.95, significance 0.05)')]
    """
    return [(f"{bound.measure}_emp", measured_phrase(bound)) for bound in bounds]


def measured_phrase(bound: MeasuredBound) -> str:
    """Return a bound in another measure than epsilon with its statistic, number of samples and significance."""
    rests = f"{bound.statistic}, n = {whole(bound.samples)}"
    sure = f"confidence {at_least(1 - bound.significance)}, significance {at_most(bound.significance)}"
    return f"{bound.measure} is at least {at_least(bound.value)} ({rests}; {sure})"


def plan_phrase(plan: FollowedPlan) -> str:
    """Return the plan of an audit, and what departed from it.

    >>> plan_phrase(FollowedPlan(digest="ab", departures=("runs are 10, planned 20",)))
    'digest ab, departed from: runs are 10, planned 20'
    """
    return f"digest {plan.digest}, {'departed from: ' + '; '.join(plan.departures) if plan.departures else 'followed'}"


def power_phrase(result: AuditResult) -> str:
    """Return the measured power of an audit in one sentence."""
    power = result.power
    when = "looked at once, after half of the runs; " if result.bound == "e_process" else ""
    caught = (
        f"would have been caught with probability {nearest(power.probability)} or more "
        f"({when}{power.repetitions:,} runs of it; error {nearest(power.error)})"
    )
    match power.kind:
        case "upper_limit":
            return (
                f"No attack on this pair shows epsilon above {at_most(power.epsilon)}, but for leaks of probability "
                f"below {nearest(20 / result.runs)} (error {nearest(power.error)})."
            )
        case "less_noise":
            return f"The same code with only the noise of epsilon {nearest(power.epsilon)} {caught}."
        case "far_pair":
            return f"A pair {_factor(result)} times as far apart {caught}."
        case "repeated_runs":
            return f"A version that leaks {_factor(result)} times as much {caught}."
        case "none":
            if not power.repetitions:
                return "No control was attacked, so the audit has no known power."
            return f"No control was caught ({power.repetitions:,} runs of them), so the audit has no known power."
        case _:
            assert_never(power.kind)


def power_sentence(result: AuditResult) -> str:
    """Return the power of an audit, its ceiling, and the leaks that are too rare for it."""
    return (
        f"{power_phrase(result)} No attack shows more than {nearest(result.ceiling)} in so many runs; leaks rarer than "
        f"{at_most(result.blind_delta)} are not seen."
    )


def detectable(audit: AuditResult) -> str:
    """Return what the audit was shown to detect, and what it may miss."""
    line = power_phrase(audit)
    if audit.ceiling <= audit.claim.epsilon:
        return (
            f"{line} With so few runs no attack shows more than {at_most(audit.ceiling)}, so none can refute the claim."
        )
    if audit.power.kind in ("far_pair", "repeated_runs"):
        return f"{line} Rare leaks, and leaks in one column of many, may have been missed."
    return f"{line} Leaks rarer than {at_most(audit.blind_delta)} are not seen."


def _factor(result: AuditResult) -> str:
    """Return how many times the claim the control stretches the code's behaviour."""
    return nearest(result.power.epsilon / result.claim.epsilon) if result.claim.epsilon > 0 else "2"


def certified_phrase(audit: AuditResult) -> str:
    """Return the epsilon that the certificate allowed at the time of the audit."""
    return "not known to the audit" if audit.certified == math.inf else f"epsilon of at most {at_most(audit.certified)}"


def position(audit: AuditResult) -> str:
    """Return the position of the lower bound of an audit against claim and certificate."""
    bound = f"epsilon is {bound_phrase(audit)}"
    if audit.verdict == "inconclusive":
        return f"The attack reached no result ({bound})."
    if audit.exceeds_claim:
        return f"The attack contradicts the claim: {bound}."
    if audit.epsilon_lower > audit.certified:
        return f"The attack contradicts the declaration, and nothing without assumption the claim: {bound}."
    if audit.verdict == "violation":
        return f"The audit reports a violation: {bound}."
    if audit.verdict == "not_refuted":
        return f"The attack found no violation, and excludes none either: {bound}."
    if audit.epsilon_lower == 0:
        return "The attack showed nothing: its lower bound on epsilon is 0."
    agreed = "the claim" if audit.certified == math.inf else "claim and certificate"
    return f"The attack agrees with {agreed}: {bound}."


_FEW = 3


def releases_sentence(coverage: AuditCoverage) -> str:
    """Return which declared releases an audit attacked, in one sentence.

    >>> releases_sentence(AuditCoverage(declared=("a", "b"), attacked=("a",), recorded=True, lines=0, missed=()))
    '1 of 2 declared releases attacked; not: b.'
    """
    if not coverage.recorded:
        return "The code of this audit records no releases: which of the declared ones it attacked is not known."
    total, attacked = len(coverage.declared), len(coverage.attacked)
    said = f"{attacked} of {total} declared release{'s' if total != 1 else ''} attacked"
    return f"{said}; not: {listed(coverage.left_out)}." if coverage.left_out else f"{said}."


def lines_sentence(coverage: AuditCoverage) -> str:
    """Return which lines of an ordinary run an audit executed, in one sentence.

    >>> lines_sentence(AuditCoverage(declared=(), attacked=(), recorded=True, lines=9, missed=("m.py:7-9",)))
    '6 of the 9 lines of an ordinary run were executed; not: m.py:7-9.'
    """
    ran = coverage.lines - coverage.missed_lines
    said = f"{ran} of the {coverage.lines} lines of an ordinary run were executed"
    return f"{said}; not: {listed(coverage.missed)}." if coverage.missed else f"{said}."


def listed(names: tuple[str, ...]) -> str:
    """Return the first few of some names, and how many more there are.

    >>> listed(("a", "b", "c", "d", "e"))
    'a, b, c and 2 more'
    """
    shown = ", ".join(names[:_FEW])
    return f"{shown} and {len(names) - _FEW} more" if len(names) > _FEW else shown


def significance_phrase(audit: AuditResult) -> str:
    """Return an audit's significance, and how much of it is left to attacks other than the one whose bound decides."""
    own = (bound.significance for bound in audit.bounds if bound.name == audit.bound)
    deciding = next(own, audit.significance)
    rest = audit.significance - deciding
    if rest <= 1e-12 * audit.significance:
        return nearest(audit.significance)
    return f"{nearest(audit.significance)}, of which {nearest(rest, 2)} is for the audit's other attacks"
