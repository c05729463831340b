"""The verdict of a report, derived from its certificate and its audits."""

import math
from dataclasses import dataclass
from typing import Literal

from dpaudit.model.audit_result import AuditResult
from dpaudit.model.declaration import Stated, walk
from dpaudit.report.inputs import ReportInputs, VerdictWord
from dpaudit.report.marks import undischarged
from dpaudit.report.releases import justified, located
from dpaudit.report.score_evidence import ScoreEvidence
from dpaudit.wording.audits import claimed_phrase, provision, shown_phrase
from dpaudit.wording.certificates import certificate_meaning
from dpaudit.wording.claims import claim_parameters
from dpaudit.wording.numerals import at_least_beside, at_most, counted, exact, nearest, powers, whole
from dpaudit.wording.scores import sampling_phrase, scores_meaning
from dpaudit.wording.sentences import say

Word = Literal["CERTIFIED", "CERTIFIED WITH CAVEATS", "STATED", "NOT PROVED", "REFUTED", "VIOLATION", "INCONCLUSIVE"]
_MOST_NAMED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The verdict of a report: its word, a sentence on it, the reasons against a better one, and the caveats."""

    word: Word
    sentence: str
    reasons: tuple[str, ...]
    caveats: tuple[str, ...]


def shown_word(word: Word, called: VerdictWord) -> str:
    """Return the word of the verdict as the page prints it: with *proved* for *certified* where the owner wants that.

    >>> shown_word("CERTIFIED WITH CAVEATS", "proved")
    'PROVED WITH CAVEATS'
    """
    return word if called == "certified" else word.replace("CERTIFIED", "PROVED")


def outcome_of(report: ReportInputs) -> Outcome:
    """Return the verdict on a whole report.

    What an audit or scores show against the claim is a *VIOLATION*; what the accounting alone shows is *REFUTED*. What
    is merely not proved, or rests on something seen violated, is *NOT PROVED*. A certified claim of which no audit
    reached a result is *INCONCLUSIVE*; one that follows only from what others state is *STATED*; with anything assumed
    or left out it has *CAVEATS*. Plain *CERTIFIED* needs that each condition is proved, was looked at by a run, or is
    asserted in the deployment.
    Where no upper bound is known of the code the sentence begins "The claim was that".
    """
    certificate, caveats = report.certificate, _caveats(report)
    word, sentence = _word(report, caveats)
    if report.void and word != "STATED":
        claim = certificate.claim
        sentence = say(
            "claim",
            parameters=claim_parameters(claim),
            unit=report.unit,
            outcome=f"{sentence[:1].lower()}{sentence[1:]}",
        )
    violations = (
        *(_violation(audit) for audit in report.audits if audit.verdict == "violation"),
        *(_violation_of_scores(held) for held in report.scores if held.result.exceeds_claim),
    )
    stated = tuple(map(powers, certificate.reasons)) if certificate.verdict != "certified" else ()
    differences = tuple(
        finding.message
        for finding in certificate.findings
        if not any(powers(finding.message) in reason for reason in stated)
    )
    broken = tuple(
        f"Seen violated: {condition.text}"
        for condition in certificate.conditions
        if condition.status == "violated" and not any(powers(condition.text) in reason for reason in stated)
    )
    reasons = tuple(dict.fromkeys((*violations, *stated, *broken, *differences)))
    return Outcome(word=word, sentence=sentence, reasons=reasons, caveats=caveats)


def _word(report: ReportInputs, caveats: tuple[str, ...]) -> tuple[Word, str]:
    """Return the word and its sentence."""
    certificate = report.certificate
    verdicts = [audit.verdict for audit in report.audits]
    exceeded = any(held.result.exceeds_claim for held in report.scores)
    if "violation" in verdicts and certificate.verdict == "refuted":
        return "VIOLATION", "The accounting refutes the claim, and an attack on the code confirms it."
    if "violation" in verdicts:
        return "VIOLATION", "An audit shows that the code leaks more than the claim or the declaration allows."
    if certificate.verdict == "refuted":
        return "REFUTED", "The accounting refutes the claim: what is declared provably exceeds it."
    if exceeded:
        return "VIOLATION", "Membership scores, if sampled as stated, show more than the claim allows."
    broken = bool(certificate.findings) or any(c.status == "violated" for c in certificate.conditions)
    if certificate.verdict == "not_proved" or broken:
        return "NOT PROVED", "The claim is not proved. It may still be true; nothing here shows that it is."
    if certificate.verdict == "stated":
        return "STATED", certificate_meaning(certificate)
    if verdicts and all(verdict == "inconclusive" for verdict in verdicts):
        return "INCONCLUSIVE", "The claim holds on paper, but no attack on the code reached a result."
    if caveats:
        return "CERTIFIED WITH CAVEATS", "The claim is proved for what is declared, under the caveats listed here."
    return "CERTIFIED", "The claim is proved, its conditions hold as marked, and attacks agree with it."


def _violation(audit: AuditResult) -> str:
    """Return the contradiction that a violation shows, with its numbers."""
    exceeds_claim = audit.exceeds_claim
    against = claimed_phrase(audit) if exceeds_claim else "what the declaration allows"
    allowed = "" if exceeds_claim or audit.certified == math.inf else f" ({at_most(audit.certified)})"
    lower = at_least_beside(audit.epsilon_lower, audit.claimed_epsilon if exceeds_claim else audit.certified)
    return say(
        "violation",
        name=audit.name,
        shown=shown_phrase(audit) if exceeds_claim else f"epsilon of at least {lower}",
        against=f"{against}{allowed}",
        provided=provision(audit),
        significance=nearest(audit.significance),
    )


def _violation_of_scores(held: ScoreEvidence) -> str:
    """Return the contradiction that scores show, with what it takes for granted."""
    return (
        f"{held.file}: {scores_meaning(held.result)} Significance {nearest(held.result.significance)}, provided that "
        f"the sampling is as stated: {sampling_phrase(held.result.sampling)}."
    )


def _caveats(report: ReportInputs) -> tuple[str, ...]:
    """Return the caveats of a claim; what a proof rests on is one of them only where there is a proof."""
    return (*(() if report.void else _resting_on(report)), *_caveats_of_audits(report), *_caveats_of_owner(report))


def _resting_on(report: ReportInputs) -> tuple[str, ...]:
    """Return what the proof rests on without evidence."""
    certificate = report.certificate
    lines: list[str] = []
    open_conditions = undischarged(report)
    assumed = sum(line.mark == "assumed" for line in open_conditions)
    for_a_person = len(open_conditions) - assumed
    if assumed:
        lines.append(f"The proof rests on {counted(assumed, 'condition')} that nobody checked.")
    if for_a_person:
        rest = "further " if assumed else ""
        lines.append(
            f"The proof rests on {counted(for_a_person, f'{rest}condition')} that only a person can know, "
            "and that the deployment does not assert."
        )
    stated = sum(isinstance(node, Stated) for _, node in walk(certificate.declaration))
    if stated:
        verb = "is" if stated == 1 else "are"
        lines.append(f"{counted(stated, 'part').capitalize()} of the declaration {verb} taken on trust.")
    if certificate.printed is not None and not certificate.printed.valid:
        lines.append("The printed argument does not hold as written; the certificate rests on the tight reading.")
    return tuple(lines)


def _caveats_of_audits(report: ReportInputs) -> tuple[str, ...]:
    """Return what the audits leave open."""
    lines: list[str] = []
    for held in report.scores:
        declared = held.result.declared
        if declared is not None and declared.refuted:
            lines.append(
                f"The scores of {held.file} refute {declared.text}, which was declared beside the claim; whether the "
                "certificate's declaration is the same was not compared."
            )
    if report.scores:
        lines.append("The sampling of the scores is stated; nobody checked it, nor that they come from this code.")
    elif not report.audits:
        lines.append("Nobody attacked the code: the verdict is about the declaration alone.")
    if report.departures:
        lines.append(f"The audits departed from the plan that bound them before the run: {report.departures[0]}.")
    for audit in report.audits:
        if audit.verdict == "inconclusive":
            lines.append(f"The audit '{audit.name}' was inconclusive.")
        if audit.ceiling <= audit.claimed_epsilon:
            lines.append(
                f"The audit '{audit.name}' could not have contradicted the claim: with {whole(audit.runs)} runs no "
                f"attack can show more than {at_most(audit.ceiling)}."
            )
        if audit.delta != report.reading.claim.delta:
            whose = "the claim's" if audit.tested is None else "that of this report,"
            lines.append(
                f"The audit '{audit.name}' is at delta = {exact(audit.delta)}, not at {whose} "
                f"{exact(report.reading.claim.delta)}."
            )
    return tuple(lines)


def _caveats_of_owner(report: ReportInputs) -> tuple[str, ...]:
    """Return what the owner left out."""
    lines: list[str] = []
    if report.unit == "one record":
        lines.append("The unit is only called 'one record'; the guarantee means little until it is named.")
    if not justified(report):
        lines.append("No reason is stated for the sensitivities, and no run checked them.")
    if not located(report):
        lines.append("The location of the code that draws the noise is not stated.")
    return tuple(lines)


def provided_of(report: ReportInputs) -> str:
    """Return what a proved number rests on without evidence, as a clause that follows a noun; empty for nothing.

    The conditions are named by their numbers in the certificate.
    """
    lines = undischarged(report)
    if not lines:
        return ""
    named = ", ".join(f"C{line.number}" for line in lines[:_MOST_NAMED]) + (" ..." if len(lines) > _MOST_NAMED else "")
    hold = "holds" if len(lines) == 1 else "hold"
    return f", provided that {counted(len(lines), 'condition')} without evidence {hold} ({named})"
