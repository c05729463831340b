"""Section 8: sixteen ways in which a true proof can fail to protect, and what is known about each here.

The list follows the hazards that NIST SP 800-226 describes; the words are ours.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator

from dpaudit.report.compliance.fields import Part, Status, grid, unknown
from dpaudit.report.curves import claimed_advantage
from dpaudit.report.facts import Facts
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.marks import samplers_are_exact
from dpaudit.report.meaning import share_sentence
from dpaudit.report.releases import located
from dpaudit.study.usefulness import Remark
from dpaudit.wording.claims import claim_parameters, claimed_factor
from dpaudit.wording.numerals import at_most, counted, exact, whole
from dpaudit.wording.sentences import say

Known = tuple[str, Status] | None
"""What is known of a hazard and what it rests on; None where nothing is."""


def hazards(facts: Facts) -> Iterator[Part]:
    """Yield section 8: what the report knows and what the owner declares in a table, and what nobody assessed."""
    rows: list[tuple[str, ...]] = []
    statuses: list[Status] = []
    for position, (name, of_report) in enumerate(HAZARDS, start=1):
        number, report_answer = f"H{position}", of_report(facts.report) if callable(of_report) else of_report
        answers = [answer.answer for answer in facts.report.deployment.hazards if answer.hazard == number]
        if report_answer or answers:
            rows.append((number, name, " ".join([*([report_answer[0]] if report_answer else []), *answers])))
            statuses.append(report_answer[1] if report_answer else "declared")
        else:
            yield unknown(f"{number} {name}")
    caption = "Ways in which a true proof can still fail to protect, and what is known here"
    yield grid("hazards", caption, ("", "Hazard", "What is known"), rows, statuses=statuses)


def _large_epsilon(report: ReportInputs) -> Known:
    """Return the factor in any probability and the advantage that the claim allows."""
    claim = report.reading.claim
    if report.void:
        return f"The claim was that {claim_parameters(report.certificate.claim)}; {report.void}.", "evidence"
    if claim.epsilon == math.inf:
        unlimited = "The claim sets no limit to how much a probability may change, nor to an attacker's advantage."
        return unlimited, "evidence"
    advantage = at_most(claimed_advantage(claim.epsilon, claim.delta))
    return say("large_epsilon", factor=claimed_factor(claim), advantage=advantage), "evidence"


def _large_delta(report: ReportInputs) -> Known:
    """Return the product of delta and the number of units."""
    claim, units, measured = report.reading.claim, report.units, report.reading.measured
    if measured is not None:
        return f"The claim is {measured.words}; its epsilons are read at delta {exact(claim.delta)}.", "evidence"
    if claim.delta == 0:
        return "Delta is 0.", "evidence"
    if units is None or report.void:
        return None
    large = "" if claim.delta * units <= 0.1 else " It is not: a whole record might be lost."
    said = report.deployment.scope.number_of_units is not None
    return f"{share_sentence(report)}{large}", "declared" if said else "evidence"


def _narrow_unit(report: ReportInputs) -> Known:
    """Return the number of units of one person."""
    units = report.per_person
    if units is None:
        return None
    status: Status = "evidence" if report.deployment.contributions.units_per_person is None else "declared"
    if units == 1:
        return f"One person is one unit ({report.unit}).", status
    return f"One person contributes up to {whole(units)} units; the cover says what they get.", status


def _contributions(report: ReportInputs) -> Known:
    """Return the bound on contributions and its enforcement."""
    bound, enforcement = report.deployment.contributions.bound, report.deployment.contributions.enforcement
    enforced = f"Enforced: {enforcement}." if enforcement else "How that is enforced was not said."
    return (f"Bounded: {bound}. {enforced}", "declared") if bound else None


def _repeated(report: ReportInputs) -> Known:
    """Return the number of bookings in the ledger."""
    balance = report.balance
    if balance is None:
        return None
    return f"A ledger holds {counted(len(balance.bookings), 'booking')} for these data; see the budget.", "evidence"


def _home_made(report: ReportInputs) -> Known:
    """Return the results of audits and traces of the code."""
    if report.certificate.findings:
        return f"{counted(len(report.certificate.findings), 'difference')} between code and declaration.", "evidence"
    if not report.audits:
        return None
    verdicts = Counter(audit.verdict.replace("_", " ") for audit in report.audits)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    location_note = "" if located(report) else " Where the code is was not said."
    return f"The code was attacked in {counted(len(report.audits), 'audit')}: {counts}.{location_note}", "evidence"


def _floats(report: ReportInputs) -> Known:
    """Return the status of the condition on floating-point noise."""
    status = next((c.status for c in report.certificate.conditions if c.kind == "floating_point"), None)
    if status is None:
        return "The proof needs nothing about floating-point noise.", "evidence"
    if status == "checked" or samplers_are_exact(report.certificate):
        return "The noise is drawn exactly.", "evidence"
    return f"The proof needs that floating-point noise behaves like real-valued noise; that is {status}.", "evidence"


def _trust(report: ReportInputs) -> Known:
    """Return the trusted parties."""
    actors = report.deployment.actors
    if not actors:
        return None
    trusted = [actor.name for actor in actors if actor.trusted_for]
    return f"Model {report.reading.claim.model}; trusted: {', '.join(trusted) or 'nobody'}.", "declared"


def _small_groups(report: ReportInputs) -> Known:
    """Return the smallest group whose utility was measured."""
    sizes = [result.size for result in report.deployment.utility if result.size is not None and result.group != "all"]
    if not sizes:
        return None
    return f"Measured for {counted(len(sizes), 'group')}, the smallest of {whole(min(sizes))}.", "declared"


_AGAINST: dict[Remark, str] = {
    "not_shown": "Usefulness was not shown (section 9a).",
    "dominated": "Another method does better at the same certified epsilon (section 9a).",
}
"""What each remark of a study says against a setting, in short."""


def _over_claimed(report: ReportInputs) -> Known:
    """Return whether utility is reported with baselines."""
    if report.usefulness.assessed:
        said = " ".join(_AGAINST[remark] for remark, _ in report.usefulness.remarks)
        return said or "Section 9a puts the regret between floors and a run without noise, in simulation.", "evidence"
    measured = [r for r in report.deployment.utility if r.non_private is not None and r.random is not None]
    return ("Utility stands between a non-private and a random baseline.", "declared") if measured else None


_COMPARED = "This report compares with deployments of the same unit and model only."
HAZARDS: tuple[tuple[str, Known | Callable[[ReportInputs], Known]], ...] = (
    ("Epsilon too large to mean anything", _large_epsilon),
    ("Delta too large: a rare, total failure", _large_delta),
    ("A unit narrower than a person: an event, a user's day", _narrow_unit),
    ("Contributions without a bound", _contributions),
    ("Comparing across units, variants or deltas", (_COMPARED, "evidence")),
    ("Releases without noise of the same data", None),
    ("Repeated releases and fresh budgets", _repeated),
    ("Preprocessing, clipping, domains or tuning that look at the data", None),
    ("Home-made or broken mechanisms", _home_made),
    ("Floating-point noise", _floats),
    ("Timing and other side channels", None),
    ("Noise from a predictable generator", None),
    ("A trust model that does not fit the system", _trust),
    ("Raw data that are not secured", None),
    ("Noise that hits small groups hardest", _small_groups),
    ("Usefulness that is over-claimed", _over_claimed),
)
"""The sixteen hazards, H1 to H16, each with what is known of it, or the function that finds it out."""
