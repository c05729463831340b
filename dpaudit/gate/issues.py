"""The issues of certificates and audits, each with a rule, a location and a fingerprint."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpaudit.certification.certificate import Certificate
from dpaudit.configuration.configuration import Configuration
from dpaudit.errors import DPAuditError
from dpaudit.gate.catalogue import rule_of
from dpaudit.gate.locations import Place, place_of_claim, place_of_key, place_of_label, place_of_path
from dpaudit.gate.terms import Terms, terms_of, terms_of_attack, terms_of_claim
from dpaudit.model.audit_result import AuditResult
from dpaudit.report.attacks import Attack, ScoreEvidence, attack_of, attacks_of
from dpaudit.report.marks import certificate_word
from dpaudit.study.usefulness import Remark, Usefulness
from dpaudit.wording.audits import audit_meaning
from dpaudit.wording.certificates import certificate_meaning
from dpaudit.wording.claims import excess_of
from dpaudit.wording.escaping import one_line
from dpaudit.wording.numerals import counted
from dpaudit.wording.scores import SAMPLING, scores_meaning
from dpaudit.wording.verdicts import verdict_label

_OF_USEFULNESS: dict[Remark, str] = {"not_shown": "DPA401", "dominated": "DPA402"}
"""The rule of each remark of a study."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """A reason to stop a pipeline: `rule` on `subject` in a configuration, with a message and a location.

    The fingerprint depends on rule, configuration and subject only, so that it survives new numbers and moved lines;
    the terms say for which claim and numbers an acceptance holds. An unusable configuration has none.
    """

    rule: str
    config: str
    subject: str
    message: str
    place: Place
    terms: Terms | None = None

    @property
    def line(self) -> str:
        """Return the issue as one line that editors can follow: `file:line: rule message`."""
        return one_line(f"{self.place.file}:{self.place.line}: {self.rule} {self.message}")

    @property
    def level(self) -> str:
        """The level of the rule: error or warning."""
        return rule_of(self.rule).level

    @property
    def fingerprint(self) -> str:
        """The digest that identifies this issue in another run."""
        text = "\n".join((self.rule, self.config, self.subject))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One configuration with its certificate and audits, or with the error that stopped it.

    `complaints` are those of the independent checker about the certificate. `scores` are audits of scores that the
    configuration names. `usefulness` is what a study says, None
    where nobody asked.
    """

    path: Path
    configuration: Configuration | None = None
    certificate: Certificate | None = None
    complaints: tuple[str, ...] = ()
    audits: tuple[AuditResult, ...] = ()
    scores: tuple[ScoreEvidence, ...] = ()
    seed: int | None = None
    error: DPAuditError | None = None
    require_consistent: bool = False
    usefulness: Usefulness | None = None

    @property
    def name(self) -> str:
        """The path of the configuration as the reports show it."""
        return place_of_path(self.path).file

    @property
    def attacks(self) -> tuple[Attack, ...]:
        """The audits of code, then those of scores."""
        return attacks_of(self.audits, self.scores)

    @property
    def verdicts(self) -> str:
        """Return the different verdicts of certificate and audits; "unusable" without a certificate."""
        if self.certificate is None:
            return "unusable"
        attacks = (("scores " if a.test == a.subject else "") + verdict_label(a.result.verdict) for a in self.attacks)
        return ", ".join(dict.fromkeys((certificate_word(self.certificate), *attacks)))

    def issues(self) -> tuple[Issue, ...]:
        """Return the issues; those of the claim come first."""
        if self.error is not None:
            return (self._stopped(self.error),)
        if self.configuration is None or self.certificate is None:
            return ()
        return (
            *self._of_claim(self.configuration, self.certificate),
            *self._of_audits(self.configuration, self.certificate),
            *self._of_scores(self.configuration, self.certificate),
            *self._of_usefulness(self.configuration),
        )

    def _stopped(self, error: DPAuditError) -> Issue:
        """Return the issue of an unusable configuration, at the line that the error names."""
        own = error.file == str(self.path)
        location = place_of_path(self.path, error.line if own else 1)
        message = (error.message if own else str(error)).removeprefix(f"{self.path}: ")
        return Issue(rule="DPA001", config=self.name, subject="configuration", message=message, place=location)

    def _of_claim(self, configuration: Configuration, certificate: Certificate) -> Iterator[Issue]:
        """Yield the issues of the certificate."""
        claim = place_of_claim(configuration)
        if certificate.verdict != "certified":
            rule = {"refuted": "DPA101", "stated": "DPA105"}.get(certificate.verdict, "DPA102")
            text = " ".join((certificate_meaning(certificate), *_own_reasons(certificate)))
            yield self._issue(rule, "claim", text, claim, terms_of_claim(certificate))
        if excess := excess_of(certificate.claim):
            yield self._issue("DPA107", "claim", excess, claim)
        if self.complaints:
            text = f"The independent checker does not accept the certificate: {'; '.join(self.complaints)}."
            yield self._issue("DPA106", "certificate", text, claim)
        for finding in certificate.findings:
            location = place_of_label(configuration, finding.where)
            yield self._issue(finding.rule, finding.where, finding.message, location)
        for condition in certificate.conditions:
            if condition.status == "violated":
                yield self._issue("DPA103", ": ".join((condition.kind, *condition.about)), condition.text, claim)
        for problem in certificate.printed.problems if certificate.printed else ():
            subject = f"{problem.rule} at {problem.node}"
            terms = terms_of(certificate, problem.message)
            yield self._issue("DPA104", subject, f"{subject}: {problem.message}", claim, terms)

    def _of_audits(self, configuration: Configuration, certificate: Certificate) -> Iterator[Issue]:
        """Yield the issues of the audits."""
        for audit in self.audits:
            terms = terms_of_attack(certificate, attack_of(audit))
            if audit.verdict == "violation":
                location = place_of_key(configuration, "algorithm", "name")
                text = f"Case '{audit.name}', view '{audit.view}': {audit_meaning(audit)}"
                text += f" ({audit.runs} runs that confirm as many others, significance "
                text += f"{audit.significance:.2g} over both, seed {audit.seed})"
                yield self._issue("DPA301", audit.name, text, location, terms)
            elif audit.verdict == "inconclusive" or (self.require_consistent and audit.verdict == "not_refuted"):
                location = place_of_key(configuration, "audit", "runs")
                yield self._issue("DPA302", audit.name, audit_meaning(audit), location, terms)

    def _of_scores(self, configuration: Configuration, certificate: Certificate) -> Iterator[Issue]:
        """Yield the audits of scores whose bound exceeds the claim."""
        for evidence in self.scores:
            if evidence.result.exceeds_claim:
                location = place_of_key(configuration, "evidence", "scores")
                text = (
                    f"{scores_meaning(evidence.result)} The sampling is stated: {SAMPLING[evidence.result.sampling]}."
                )
                attack = attack_of(evidence)
                yield self._issue("DPA301", attack.subject, text, location, terms_of_attack(certificate, attack))

    def _of_usefulness(self, configuration: Configuration) -> Iterator[Issue]:
        """Yield what a study says against the setting, or that none speaks of it; nothing where nobody asked."""
        useful = self.usefulness
        if useful is None:
            return
        location = place_of_key(configuration, "evidence", "study")
        if not useful.assessed:
            text = f"Usefulness is not assessed: {useful.why or 'no study is named'}."
            yield self._issue("DPA401", "usefulness", text, location)
        for remark, text in useful.remarks:
            yield self._issue(_OF_USEFULNESS[remark], "usefulness", text, location)

    def _issue(self, rule: str, subject: str, message: str, place: Place, terms: Terms | None = None) -> Issue:
        """Return an issue of this configuration; without terms of its own those that its message describes."""
        if terms is None and self.certificate is not None:
            terms = terms_of(self.certificate, message)
        return Issue(rule=rule, config=self.name, subject=subject, message=message, place=place, terms=terms)


def _own_reasons(certificate: Certificate) -> Iterator[str]:
    """Yield the reasons that are no issue of their own, and how many others there are."""
    apart = [condition.text for condition in certificate.conditions if condition.status == "violated"]
    apart += [finding.message for finding in certificate.findings]
    own = [reason for reason in certificate.reasons if not any(text in reason for text in apart)]
    yield from dict.fromkeys(own)
    if left := len(certificate.reasons) - len(own):
        verb = "stands" if left == 1 else "stand"
        yield f"Against it {verb} {counted(left, 'further issue')}, listed apart."
