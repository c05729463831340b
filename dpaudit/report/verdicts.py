"""The verdict of a report, derived from its certificate and its audits."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from dpaudit.model.audit_result import AuditResult
from dpaudit.model.declaration import Stated, walk
from dpaudit.model.suppliers import suppliers_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.releases import justified, located
from dpaudit.wording.claims import promise
from dpaudit.wording.numerals import at_least, at_most, counted, nearest, whole

Word = Literal[
    "CERTIFIED",
    "CERTIFIED WITH CAVEATS",
    "STATED BY SUPPLIER",
    "NOT CERTIFIED",
    "VIOLATION FOUND",
    "INCONCLUSIVE",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The verdict of a report: its word, a sentence on it, the reasons against a better one, and the caveats."""

    word: Word
    sentence: str
    reasons: tuple[str, ...]
    caveats: tuple[str, ...]


def outcome_of(report: ReportInputs) -> Outcome:
    """Return the verdict on a whole report.

    A refuted claim and an audit's violation are both *VIOLATION FOUND*: the claim is false, on paper or in the
    code. What is merely not proved, or rests on something seen violated, is *NOT CERTIFIED*. A certified claim
    of which no audit reached a result is *INCONCLUSIVE*; one of stated parts alone is *STATED BY SUPPLIER*; with
    anything assumed or left out it has *CAVEATS*.
    """
    certificate, caveats = report.certificate, _caveats(report)
    word, sentence = _word(report, caveats)
    violations = tuple(_violation(audit) for audit in report.audits if audit.verdict == "violation")
    broken = tuple(f"Seen violated: {c.text}" for c in certificate.conditions if c.status == "violated")
    differences = tuple(finding.message for finding in certificate.findings)
    stated = certificate.reasons if certificate.verdict != "certified" else ()
    reasons = tuple(dict.fromkeys((*violations, *stated, *broken, *differences)))
    return Outcome(word=word, sentence=sentence, reasons=reasons, caveats=caveats)


def _word(report: ReportInputs, caveats: tuple[str, ...]) -> tuple[Word, str]:
    """Return the word and its sentence."""
    certificate = report.certificate
    verdicts = [audit.verdict for audit in report.audits]
    if "violation" in verdicts and certificate.verdict == "refuted":
        return "VIOLATION FOUND", "The accounting refutes the claim, and an attack on the code confirms it."
    if "violation" in verdicts:
        return "VIOLATION FOUND", "An audit shows that the code leaks more than the claim or the declaration allows."
    if certificate.verdict == "refuted":
        return "VIOLATION FOUND", "The accounting refutes the claim: what is declared provably exceeds it."
    broken = bool(certificate.findings) or any(c.status == "violated" for c in certificate.conditions)
    if certificate.verdict == "not_proved" or broken:
        return "NOT CERTIFIED", "The claim is not proved. It may still be true; nothing here shows that it is."
    if verdicts and all(verdict == "inconclusive" for verdict in verdicts):
        return "INCONCLUSIVE", "The claim holds on paper, but no attack on the code reached a result."
    if suppliers := suppliers_of(certificate.declaration):
        return "STATED BY SUPPLIER", f"The claim is taken on trust from {', '.join(suppliers)}; nothing is proved here."
    if caveats:
        return "CERTIFIED WITH CAVEATS", "The claim is proved for what is declared, under the caveats listed here."
    return "CERTIFIED", "The claim is proved, its conditions were checked, and attacks agree with it."


def _violation(audit: AuditResult) -> str:
    """Return the contradiction that a violation shows, with its numbers."""
    exceeds_claim = audit.exceeds_claim
    provided = f", provided that {audit.assumption}" if audit.assumption else ""
    against = f"the claimed {nearest(audit.claim.epsilon)}" if exceeds_claim else "what the declaration allows"
    allowed = "" if exceeds_claim or audit.certified == math.inf else f" ({at_most(audit.certified)})"
    return (
        f"The audit '{audit.name}' measured epsilon of at least {at_least(audit.epsilon_lower)}, more than "
        f"{against}{allowed}{provided}; "
        f"correct code would be accused with probability at most {nearest(audit.significance)}."
    )


def _caveats(report: ReportInputs) -> tuple[str, ...]:
    """Return the caveats of a certified claim."""
    certificate = report.certificate
    lines: list[str] = []
    assumed = sum(condition.status == "assumed" for condition in certificate.conditions)
    if assumed:
        lines.append(f"The proof rests on {counted(assumed, 'condition')} that nobody checked.")
    stated = sum(isinstance(node, Stated) for _, node in walk(certificate.declaration))
    if stated:
        verb = "is" if stated == 1 else "are"
        lines.append(f"{counted(stated, 'part').capitalize()} of the declaration {verb} taken on trust.")
    if certificate.printed is not None and not certificate.printed.valid:
        lines.append("The printed argument does not hold as written; the certificate rests on the tight reading.")
    if not report.audits:
        lines.append("Nobody attacked the code: the verdict is about the declaration alone.")
    for audit in report.audits:
        if audit.verdict == "inconclusive":
            lines.append(f"The audit '{audit.name}' was inconclusive.")
        if audit.ceiling <= audit.claim.epsilon:
            lines.append(
                f"The audit '{audit.name}' could not have contradicted the claim: with {whole(audit.runs)} runs no "
                f"attack can show more than {at_most(audit.ceiling)}."
            )
        if audit.delta != audit.claim.delta:
            lines.append(
                f"The audit '{audit.name}' is at delta = {nearest(audit.delta)}, not at the claim's "
                f"{nearest(audit.claim.delta)}."
            )
    if report.unit == "one record":
        lines.append("The unit is only called 'one record'; the guarantee means little until it is named.")
    if not justified(report):
        lines.append("No reason is stated for the sensitivities, and no run checked them.")
    if not located(report):
        lines.append("The location of the code that draws the noise is not stated.")
    return tuple(lines)


def meaning_of(report: ReportInputs) -> str:
    """Return the promise of the claim, with the name that the owner gives to the unit."""
    return promise(replace(report.certificate.claim, unit=report.unit))


def proved_of(report: ReportInputs) -> str:
    """Return the proved epsilon in relation to the claim, in one sentence."""
    claim, tight = report.certificate.claim, report.certificate.tight.epsilon
    beside = f", plus {nearest(claim.delta)}" if claim.delta else ""
    if tight.upper == math.inf:
        known = f", and it is at least {at_least(tight.lower)}" if 0 < tight.lower < math.inf else ""
        if tight.lower == math.inf:
            return "The declaration has no finite epsilon at this delta."
        return f"No finite epsilon is proved at this delta{known}."
    if tight.upper <= claim.epsilon:
        return (
            f"What is proved of the declaration is epsilon of at most {at_most(tight.upper)}: a factor of "
            f"{at_most(_exp(tight.upper), 3)} in any probability{beside}."
        )
    if tight.lower > claim.epsilon:
        return (
            f"The declaration provably reaches epsilon of {at_least(tight.lower)}: a factor of "
            f"{at_least(_exp(tight.lower), 3)} in some probability{beside}."
        )
    return f"The true epsilon of the declaration lies between {at_least(tight.lower)} and {at_most(tight.upper)}."


def _exp(epsilon: float) -> float:
    """Return e^epsilon, or infinity where it overflows."""
    return math.exp(epsilon) if epsilon < 709 else math.inf
