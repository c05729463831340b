"""The verdict of a report, derived from its certificate and its audits."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from dpaudit.certification.certificate import Certificate
from dpaudit.model.audit_result import AuditResult, AuditVerdict
from dpaudit.model.declaration import Stated, walk
from dpaudit.report.attacks import ScoreEvidence
from dpaudit.report.inputs import ReportInputs, VerdictWord
from dpaudit.report.marks import undischarged
from dpaudit.report.releases import justified, located
from dpaudit.wording.audits import claimed_phrase, provision, shown_phrase
from dpaudit.wording.certificates import certificate_meaning
from dpaudit.wording.claims import claim_parameters
from dpaudit.wording.numerals import at_least_beside, at_most, counted, exact, nearest, powers, whole
from dpaudit.wording.scores import SAMPLING, scores_meaning
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
    or left out it has *CAVEATS*. Plain *CERTIFIED* needs that each condition is proved, was checked by a run, or is
    confirmed in the deployment.
    Where no upper bound is known of the code the sentence begins "The claim was that".
    """
    certificate, caveats = report.certificate, _caveats(report)
    verdicts, exceeded = (audit.verdict for audit in report.audits), any(s.result.exceeds_claim for s in report.scores)
    word, sentence = verdict_of(certificate, tuple(verdicts), exceeded=exceeded, caveats=bool(caveats))
    if report.void and word != "STATED":
        outcome, parameters = f"{sentence[:1].lower()}{sentence[1:]}", claim_parameters(certificate.claim)
        sentence = say("claim", parameters=parameters, unit=report.unit, outcome=outcome)
    stated = tuple(map(powers, certificate.reasons)) if certificate.verdict != "certified" else ()
    broken = [condition.text for condition in certificate.conditions if condition.status == "violated"]
    seen = [
        *((f"Seen violated: {text}", text) for text in broken),
        *((finding.message, finding.message) for finding in certificate.findings),
    ]
    reasons = (
        *(_violation(audit) for audit in report.audits if audit.verdict == "violation"),
        *(_violation_of_scores(scored) for scored in report.scores if scored.result.exceeds_claim),
        *stated,
        *(line for line, text in seen if not any(powers(text) in reason for reason in stated)),
    )
    return Outcome(word=word, sentence=sentence, reasons=tuple(dict.fromkeys(reasons)), caveats=caveats)


def verdict_of(
    certificate: Certificate, verdicts: tuple[AuditVerdict, ...], *, exceeded: bool, caveats: bool
) -> tuple[Word, str]:
    """Return the word of a report and its sentence, from its certificate and the verdicts of its audits.

    `exceeded` says whether scores show more than the claim allows, `caveats` whether there are any.
    """
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
    words = {"name": audit.name, "provided": provision(audit), "significance": nearest(audit.significance)}
    if audit.exceeds_claim:
        return say("violation", **words, shown=shown_phrase(audit), against=claimed_phrase(audit))
    allowed = "" if audit.certified == math.inf else f", {at_most(audit.certified)}"
    shown = f"epsilon of at least {at_least_beside(audit.epsilon_lower, audit.certified)}"
    return say("violation", **words, shown=shown, against=f"what the declaration allows{allowed}")


def _violation_of_scores(scores: ScoreEvidence) -> str:
    """Return the contradiction that scores show, with what it takes for granted."""
    return (
        f"{scores.file}: {scores_meaning(scores.result)} Significance {nearest(scores.result.significance)}, provided "
        f"that the sampling is as stated: {SAMPLING[scores.result.sampling]}."
    )


def _caveats(report: ReportInputs) -> tuple[str, ...]:
    """Return the caveats of a claim; what a proof rests on is one of them only where there is a proof."""
    resting = () if report.void else _resting_on(report)
    audits = (line for audit in report.audits for line in _caveats_of_audit(report, audit))
    return (*resting, *_caveats_of_attacks(report), *audits, *_caveats_of_owner(report))


def _resting_on(report: ReportInputs) -> Iterator[str]:
    """Yield what the proof rests on without evidence."""
    certificate, marks = report.certificate, [line.mark for line in undischarged(report)]
    assumed, to_confirm = marks.count("assumed"), marks.count("to confirm")
    if assumed:
        yield f"The proof rests on {counted(assumed, 'condition')} that nobody checked."
    if to_confirm:
        conditions = counted(to_confirm, f"{'further ' if assumed else ''}condition")
        yield f"The proof rests on {conditions} that only a person can confirm, and that nobody confirmed."
    stated = sum(isinstance(node, Stated) for _, node in walk(certificate.declaration))
    if stated:
        verb = "is" if stated == 1 else "are"
        yield f"{counted(stated, 'part').capitalize()} of the declaration {verb} taken on trust."
    if certificate.printed is not None and not certificate.printed.valid:
        yield "The published proof does not hold as written; the certificate rests on the accountant's own bounds."


def _caveats_of_attacks(report: ReportInputs) -> Iterator[str]:
    """Yield what the attacks together leave open."""
    for scored in report.scores:
        declared = scored.result.declared
        if declared is not None and declared.refuted:
            yield (
                f"The scores of {scored.file} refute {declared.text}, which was declared beside the claim; whether the "
                "certificate's declaration is the same was not compared."
            )
    if report.scores:
        yield "The sampling of the scores is stated; nobody checked it, nor that they come from this code."
    elif not report.audits:
        yield "Nobody attacked the code: the verdict is about the declaration alone."
    if report.departures:
        yield f"The audits departed from the plan that bound them before the run: {report.departures[0]}."


def _caveats_of_audit(report: ReportInputs, audit: AuditResult) -> Iterator[str]:
    """Yield what one audit leaves open."""
    delta = report.reading.claim.delta
    if audit.verdict == "inconclusive":
        yield f"The audit '{audit.name}' was inconclusive."
    if audit.ceiling <= audit.claimed_epsilon:
        yield (
            f"The audit '{audit.name}' could not have contradicted the claim: with {whole(audit.runs)} runs no "
            f"attack can show more than {at_most(audit.ceiling)}."
        )
    if audit.delta != delta:
        whose = "the claim's" if audit.tested is None else "that of this report,"
        yield f"The audit '{audit.name}' is at delta = {exact(audit.delta)}, not at {whose} {exact(delta)}."


def _caveats_of_owner(report: ReportInputs) -> Iterator[str]:
    """Yield what the owner left out."""
    if report.unit == "one record":
        yield "The unit is only called 'one record'; the guarantee means little until it is named."
    if not justified(report):
        yield "No reason is stated for the sensitivities, and no run checked them."
    if not located(report):
        yield "The location of the code that draws the noise is not stated."


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
