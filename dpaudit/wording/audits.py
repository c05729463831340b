"""The words of an audit: its verdict, its power, and its bound against claim and certificate, a sentence each."""

import math
from collections.abc import Sequence
from typing import assert_never

from dpaudit.model.audit_result import AuditResult, MeasuredBound, MeasuredNumber
from dpaudit.model.case import AuditCoverage
from dpaudit.wording.claims import claim_parameters, claimed_number
from dpaudit.wording.numerals import at_least, at_least_beside, at_most, exact, nearest, whole

_SHORT, _MORE = 12, 4


def audit_meaning(result: AuditResult) -> str:
    """Return the meaning of the verdict of an audit in one sentence."""
    lower, claimed = at_least_beside(result.epsilon_lower, result.claimed_epsilon), claimed_phrase(result)
    shown = f"The attack shows {shown_phrase(result)}{provision(result)}"
    match result.verdict:
        case "violation" if result.assumption and result.bound == "replay" and result.tested is not None:
            broken = claim_parameters(result.claim)
            beside = f", and epsilon is at least {lower} at delta {exact(result.delta)}" if result.epsilon_lower else ""
            return f"If {result.assumption}, the claim {broken} is false{beside}."
        case "violation" if result.assumption and math.isinf(result.certified):
            return f"If {result.assumption}, epsilon is at least {lower}, above {claimed}."
        case "violation" if result.assumption:
            return (
                f"If {result.assumption}, epsilon is at least {lower}, and the declaration delivers "
                f"{at_most(result.certified)}. The code is not what is declared."
            )
        case "violation" if result.exceeds_claim:
            return f"{shown}, above {claimed}.{_rates(result)}"
        case "violation":
            return (
                f"The attack shows epsilon of at least {lower}: inside {claimed}, but above the "
                f"{at_most(result.certified)} that the declaration delivers. The code is not what is declared."
            )
        case "consistent":
            return f"{shown}, within {claimed}. {power_phrase(result)}"
        case "not_refuted":
            return (
                f"No violation was found: {shown[0].lower()}{shown[1:]}, within {claimed}. "
                f"{power_phrase(result)} A violation of that size on this pair is not excluded."
            )
        case "inconclusive":
            return f"{shown}; whether it would have caught a violation of {claimed} is not known.{_more_runs(result)}"
        case _:
            assert_never(result.verdict)


def _more_runs(result: AuditResult) -> str:
    """Return how many runs to ask for next, as a sentence after another one; none where no control could be run."""
    tried = result.power.repetitions
    if result.power.kind != "none" or not tried:
        return ""
    return (
        f" In {whole(result.runs)} runs the audit would not surely have caught a known leak ({tried:,} runs of "
        f"controls): ask for runs = {whole(_MORE * result.runs)} or more, until the verdict is not_refuted."
    )


def shown_phrase(result: AuditResult) -> str:
    """Return the lower bound that speaks most against the claim, in the measure of the claim where that is tested."""
    number = _decisive(result)
    if number is None or result.tested is None:
        lower = at_least_beside(result.epsilon_lower, result.claimed_epsilon)
        return f"epsilon of at least {lower}" + (f" at delta {exact(result.delta)}" if result.tested else "")
    name = claimed_number(result.claim, result.tested.measure, number.at)
    article = "a " if name.startswith("Renyi") else ""
    return f"{article}{name} of at least {at_least_beside(number.lower, number.claimed)}"


def claimed_phrase(result: AuditResult) -> str:
    """Return the number of the claim that stands against the lower bound of an audit."""
    number = _decisive(result)
    if number is not None:
        return f"the claimed {_stated(number.claimed)}"
    if result.tested is None:
        return f"the claimed {exact(result.claim.epsilon)}"
    return f"the {at_most(result.claimed_epsilon)} that follows from the claim {claim_parameters(result.claim)}"


def claimed_rows(result: AuditResult) -> list[tuple[str, str]]:
    """Return one row for each number of a claim in its own measure: the claimed one, and what the event shows."""
    if result.tested is None:
        return []
    return [
        (
            claimed_number(result.claim, result.tested.measure, number.at),
            f"at least {at_least_beside(number.lower, number.claimed)}, claimed {_stated(number.claimed)}",
        )
        for number in result.tested.numbers
    ]


def _stated(number: float) -> str:
    """Return a claimed number in full where it is short, and to six digits where it is a ratio such as 0.4 / 24.

    >>> _stated(0.5), _stated(0.4 / 24)
    ('0.5', '0.0166667')
    """
    full = exact(number)
    return full if len(full) <= _SHORT else nearest(number, 6)


def _decisive(result: AuditResult) -> MeasuredNumber | None:
    """Return the number of the claim that the event speaks most against; None where epsilon decides."""
    test = result.tested
    if test is None or (result.verdict == "violation" and not test.refuted):
        return None
    return max(test.numbers, key=lambda number: number.lower / number.claimed if number.claimed else number.lower)


def _rates(result: AuditResult) -> str:
    """Return the event that refutes a claim in its own measure, as a sentence after another one."""
    test = result.tested
    if test is None or not test.refuted:
        return ""
    high, low = at_least(test.true_positive_rate), at_most(test.false_positive_rate)
    return f" An event has probability of at least {high} on one data set and at most {low} on the other."


def provision(result: AuditResult) -> str:
    """Return what the lower bound of an audit takes for granted, as a clause after the number; may be empty."""
    return f" (if {result.assumption})" if result.assumption else ""


def bound_phrase(result: AuditResult) -> str:
    """Return the lower bound of an audit with what it takes for granted."""
    return f"at least {at_least_beside(result.epsilon_lower, result.claimed_epsilon)}{provision(result)}"


def measured_rows(bounds: tuple[MeasuredBound, ...]) -> list[tuple[str, str]]:
    """Return one row for each bound in another measure than epsilon: its name, and the bound with what it rests on.

    >>> bound = MeasuredBound(measure="mu", value=0.434, statistic="rank sums", samples=50_000, significance=0.05)
    >>> measured_rows((bound,))
    [('mu_emp', 'mu is at least 0.434 (rank sums, n = 50,000; significance 0.05)')]
    """
    return [(f"{bound.measure}_emp", measured_phrase(bound)) for bound in bounds]


def audit_facts(result: AuditResult) -> dict[str, str]:
    """Return what is known of an audit beside its verdict, by name; what there is nothing to say of is left out."""
    counts, coverage = result.counts, result.coverage
    guesses = (
        f"{whole(counts.correct)} of {whole(counts.guesses)} right in {whole(result.runs)} runs; true positives "
        f"{whole(counts.true_positives)} of {whole(counts.positives)}, false positives "
        f"{whole(counts.false_positives)} of {whole(counts.negatives)}"
    )
    assumed = (bound.assumption for bound in result.bounds if bound.name == result.bound)
    facts = {
        "attack": f"{result.attack}, on what the adversary sees as '{result.view}'",
        "pair and statistic": result.description,
        "guesses": guesses,
        "bound": f"{result.bound}, significance {significance_phrase(result)}",
        "assumes": "; ".join(filter(None, assumed)),
        "delta": exact(result.delta),
        **dict(claimed_rows(result)),
        "other measures": "; ".join(map(measured_phrase, result.measured)),
        "releases": releases_sentence(coverage) if coverage else "",
        "lines": lines_sentence(coverage) if coverage else "",
        "remarks": " ".join(result.remarks),
        "plan": "" if result.plan is None else plan_phrase(result.plan.digest, result.plan.departures),
        "seed": str(result.seed) if result.seed is not None else "not recorded",
    }
    return {name: text for name, text in facts.items() if text}


def measured_phrase(bound: MeasuredBound) -> str:
    """Return a bound in another measure than epsilon with its statistic, number of samples and significance."""
    rests = f"{bound.statistic}, n = {whole(bound.samples)}"
    return f"{bound.measure} is at least {at_least(bound.value)} ({rests}; significance {at_most(bound.significance)})"


def plan_phrase(digest: str, departures: tuple[str, ...]) -> str:
    """Return the plan of an audit, and what departed from it.

    >>> plan_phrase("0123", ("runs are 10, planned 20",))
    'digest 0123, departed from: runs are 10, planned 20'
    """
    return f"digest {digest}, {'departed from: ' + '; '.join(departures) if departures else 'followed'}"


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
        f"{power_phrase(result)} No attack shows an epsilon above {nearest(result.ceiling)} in so many runs; leaks "
        f"rarer than {at_most(result.blind_delta)} are not seen."
    )


def detectable(audit: AuditResult) -> str:
    """Return what the audit was shown to detect, and what it may miss."""
    line = power_phrase(audit)
    if audit.ceiling <= audit.claimed_epsilon:
        return (
            f"{line} With so few runs no attack shows more than {at_most(audit.ceiling)}, so none can refute the claim."
        )
    if audit.power.kind in ("far_pair", "repeated_runs"):
        return f"{line} Rare leaks, and leaks in one column of many, may have been missed."
    return f"{line} Leaks rarer than {at_most(audit.blind_delta)} are not seen."


def _factor(result: AuditResult) -> str:
    """Return how many times the claim the control stretches the code's behaviour."""
    return nearest(result.power.epsilon / result.claimed_epsilon) if result.claimed_epsilon > 0 else "2"


def certified_phrase(audit: AuditResult) -> str:
    """Return the epsilon that the certificate allowed at the time of the audit."""
    return "not known to the audit" if audit.certified == math.inf else f"epsilon of at most {at_most(audit.certified)}"


def position(audit: AuditResult) -> str:
    """Return the position of the lower bound of an audit against claim and certificate."""
    bound = f"epsilon is {bound_phrase(audit)}" if _decisive(audit) is None else shown_phrase(audit)
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
    if audit.epsilon_lower == 0 and audit.tested is None:
        return "The attack showed nothing: its lower bound on epsilon is 0."
    agreed = "the claim" if audit.certified == math.inf else "claim and certificate"
    return f"The attack agrees with {agreed}: {bound}."


def strongest(audits: tuple[AuditResult, ...]) -> tuple[tuple[AuditResult, str], ...]:
    """Return the audit with the largest bound of each view, verdict and assumption, and the name of what it stands for.

    Guarantee: every audit is one of a group, and no group mixes verdicts or assumptions.
    """
    groups: dict[tuple[str, str, str], list[AuditResult]] = {}
    for audit in audits:
        groups.setdefault((audit.view, audit.verdict, audit.assumption), []).append(audit)
    return tuple(
        (
            max(group, key=lambda audit: audit.epsilon_lower),
            group[0].name if len(group) == 1 else f"strongest of {len(group)}, view {group[0].view}",
        )
        for group in groups.values()
    )


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
    """Return which lines of the functions of an ordinary run an audit executed, in one sentence.

    >>> lines_sentence(AuditCoverage(declared=(), attacked=(), recorded=True, lines=9, missed=("m.py:7-9",)))
    "6 of the 9 lines of an ordinary run's functions were executed; not: m.py:7-9."
    """
    ran = coverage.lines - coverage.missed_lines
    said = f"{ran} of the {coverage.lines} lines of an ordinary run's functions were executed"
    return f"{said}; not: {listed(coverage.missed)}." if coverage.missed else f"{said}."


def listed(names: Sequence[str], most: int = _FEW) -> str:
    """Return the first few of some names, and how many more there are.

    >>> listed(("a", "b", "c", "d", "e"))
    'a, b, c and 2 more'
    """
    shown = ", ".join(names[:most])
    return f"{shown} and {whole(len(names) - most)} more" if len(names) > most else shown


def significance_phrase(audit: AuditResult) -> str:
    """Return an audit's significance, and how much of it is left to attacks other than the one whose bound decides."""
    own = (bound.significance for bound in audit.bounds if bound.name == audit.bound)
    deciding = next(own, audit.significance)
    others_significance = audit.significance - deciding
    if others_significance <= 1e-12 * audit.significance:
        return nearest(audit.significance)
    return f"{nearest(audit.significance)}, of which {nearest(others_significance, 2)} is for the audit's other attacks"
