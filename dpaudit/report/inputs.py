"""The inputs of a report: certificate, audits, and what people declare."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from dpaudit.certification.certificate import Certificate
from dpaudit.certification.reading import Reading, reading_of
from dpaudit.configuration.audit_plan import AuditPlan
from dpaudit.ledger import Balance
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.deployment import Deployment, System
from dpaudit.report.attacks import ScoreEvidence, difference_between
from dpaudit.study.usefulness import Usefulness
from dpaudit.wording.certificates import sources_phrase

VerdictWord = Literal["certified", "proved"]
"""What a claim that is proved is called: in some laws a certificate is a term of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInputs:
    """A certificate, the audits of the same claim, and the context that a reader needs.

    `command` reproduces the report from the configuration in `config_text`. `created` is an ISO date; it is an
    argument, so that equal inputs give equal files. `notes` are sentences for the reader that belong to no condition
    and no finding (on a vacuous constant, for example). `deployment` is what people declare. `code` is the file and
    class of the algorithm, where they are known. `environment` has names and values of the platform. `balance` is an
    account of a ledger whose last digest is `ledger_head`. `previous` is the JSON of an earlier report to compare with.
    `own_unit` is what the algorithm calls a record where the owner calls it otherwise; `number_of_units` is what the
    algorithm knows of its number of units and `units_per_person` what the problem knows of one person's; what
    `deployment` says of either comes first. `word` is what a proved claim is called.
    `scores` are audits of membership scores of the same claim, read from files.
    `usefulness` is what a study says of this configuration; `origin` is where the problem of the runs comes from.
    `plan` is what the audits were bound to before they ran.
    `reading` is the claim in epsilon and delta, or what follows from a claim in another measure at the audits' delta.
    Raises: ValueError: `created` is no ISO date, or an audit or scores are about another claim than the certificate.
    """

    certificate: Certificate
    audits: tuple[AuditResult, ...] = ()
    scores: tuple[ScoreEvidence, ...] = ()
    system: System = field(default_factory=System)
    title: str = "Privacy report"
    config_text: str = ""
    command: str = ""
    created: str
    notes: tuple[str, ...] = ()
    deployment: Deployment = field(default_factory=Deployment)
    code: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    balance: Balance | None = None
    ledger_head: str = ""
    previous: Mapping[str, Any] | None = None
    own_unit: str = ""
    number_of_units: int | None = None
    units_per_person: int | None = None
    word: VerdictWord = "certified"
    usefulness: Usefulness = field(default_factory=Usefulness)
    origin: str = ""
    plan: AuditPlan | None = None
    reading: Reading = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            canonical = date.fromisoformat(self.created).isoformat()
        except ValueError:
            canonical = None
        if canonical != self.created:
            raise ValueError(f"Expected created={self.created!r} to be an ISO date, as in '2026-01-31'.")
        claim = self.certificate.claim
        deltas = {audit.delta for audit in self.audits}
        delta = deltas.pop() if len(deltas) == 1 else None
        object.__setattr__(self, "reading", reading_of(self.certificate, delta))
        claims = [(scores.file, scores.result.claim) for scores in self.scores]
        claims += [(f"the audit {audit.name!r}", audit.claim) for audit in self.audits]
        for name, other in claims:
            if difference := difference_between(other, claim):
                expected = f"Expected {name} to be about the certificate's claim; {difference}."
                raise ValueError(f"{expected} Write one report for each claim.")

    @property
    def unit(self) -> str:
        """What one record is: the owner's words where there are any, else the claim's."""
        return self.system.unit.strip() or self.certificate.claim.unit

    @property
    def units(self) -> int | None:
        """The number of units, as the deployment says or else as the algorithm knows."""
        said = self.deployment.scope.number_of_units
        return self.number_of_units if said is None else said

    @property
    def per_person(self) -> int | None:
        """The most units of one person, as the deployment says or else as the problem knows."""
        said = self.deployment.contributions.units_per_person
        return self.units_per_person if said is None else said

    @property
    def void(self) -> str:
        """Why no upper bound is known of the code, or nothing.

        The claim is refuted, somebody else states it, or the code was seen to differ.
        """
        certificate = self.certificate
        if any(audit.verdict == "violation" for audit in self.audits):
            return "an attack on the code contradicts the claim or the declaration"
        if any(scores.result.exceeds_claim for scores in self.scores):
            return "membership scores, if sampled as stated, contradict the claim"
        if certificate.verdict == "refuted":
            return "the accounting refutes the claim"
        if certificate.verdict == "stated":
            return f"the bound is what {sources_phrase(certificate)} stated, and nothing of that was proved or checked"
        if any(condition.status == "violated" for condition in certificate.conditions):
            return "a condition of the proof was seen violated"
        return "the code was seen to differ from its declaration" if certificate.findings else ""

    @property
    def departures(self) -> tuple[str, ...]:
        """Everything in which the audits departed from their plan."""
        listed = (line for audit in self.audits if audit.plan is not None for line in audit.plan.departures)
        return tuple(dict.fromkeys(listed))

    @property
    def seeds(self) -> str:
        """The recorded seeds of the audits, in one line."""
        return "; ".join(f"{audit.name}: {audit.seed}" for audit in self.audits if audit.seed is not None)
