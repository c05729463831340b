"""The report of one training run that a model card can carry: one page of Markdown, and JSON that can be verified.

It joins the certificate of the declared run, the audit of its loop (`audits.audit_training`), attacks on the trained
model, and the data that none of them covers.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from dpaudit.arguments import settled
from dpaudit.certification.certificate import Certificate
from dpaudit.certification.training_curve import training_epsilon
from dpaudit.configuration.files import json_value, stated_schema
from dpaudit.configuration.tables import read_object
from dpaudit.documents.document import Block, Document, Heading, Paragraph, Table, document, items, judged, under
from dpaudit.documents.markdown import markdown
from dpaudit.errors import CertificateError, DPAuditError
from dpaudit.model.certificate import digest_of
from dpaudit.model.codec import encode
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.report.marks import OPEN, certificate_word, marks_of
from dpaudit.report.training.evidence import contradictions, unlisted
from dpaudit.training.evidence import LoopAudit, ModelAttack, TrainingVerdict
from dpaudit.training.watching import Training
from dpaudit.verifier import Verification, verify
from dpaudit.wording.audits import listed
from dpaudit.wording.certificates import bracket_phrase, certificate_meaning
from dpaudit.wording.claims import claim_parameters, neighbours_phrase
from dpaudit.wording.numerals import at_least, at_most, exact, nearest, whole
from dpaudit.wording.verdicts import CAVEATS, verdict_label

SCHEMA = "urn:dpaudit:schema:training:2"
"""The schema of the JSON; its name stands under `schema`."""

_NAMED = 8
_NEVER_COVERED = (
    "Data of pre-training, of the choice of hyperparameters and of the preparation of the records "
    "are covered only where they are among the records above."
)


_AGAIN = (
    "The command dpaudit verify derives the certificate again from the JSON of this report, and what follows from it. "
    "It reads the results of the loop and of the attacks, and does not measure them again. The digest of the JSON is "
    "{digest}."
)


class LoopEvidence(Protocol):
    """An audit of a training loop; `audits.TrainingAudit` is one."""

    def evidence(self) -> LoopAudit:
        """Return what it shows."""
        ...


class ModelEvidence(Protocol):
    """What attacks on a trained model show; the results of `audit_model` and `audit_record` are."""

    @property
    def verdict(self) -> TrainingVerdict:
        """Its verdict, as in data."""
        ...

    @property
    def epsilon_lower(self) -> float:
        """A lower bound on epsilon."""
        ...

    @property
    def significance(self) -> float:
        """The probability of a false alarm."""
        ...


@settled
class _Measured:
    """What the JSON of a training report holds beside its certificate, its schema and its digest."""

    name: str
    verdict: str
    training: Training
    loop: LoopAudit
    attacks: tuple[ModelAttack, ...]
    not_covered: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingReport:
    """The report of one training run.

    `certificate` is that of the declared run, made with `conditions=audit.conditions()` and the audit's findings.
    `attacks` are results of attacks on the trained model, by name. `not_covered` names, a sentence each, the data and
    steps that the claim says nothing of, such as pre-training.
    Guarantee: the verdict is *certified* only if the certificate is, and no audit found a violation; it has caveats
    where a condition has no evidence, or where the audit of the loop is inconclusive.
    Raises: ValueError: no name, a certificate without the conditions of the audit, a claim that has another measure
        than epsilon and delta, or a certificate whose epsilon is below what the declared run provably costs.
    """

    name: str
    certificate: Certificate
    training: Training
    audit: LoopEvidence
    attacks: tuple[tuple[str, ModelEvidence], ...] = ()
    not_covered: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        claim = self.certificate.claim
        if not self.name:
            raise ValueError("Expected name to say what was trained, got ''.")
        if isinstance(claim, MeasuredClaim):
            raise ValueError(f"Expected a claim in epsilon and delta, got one in {claim.measure}.")
        if difference := next(unlisted(self._loop.conditions, self.certificate), ""):
            raise ValueError(
                "Expected the certificate to list what the audit looked at: certify(declaration, claim, "
                f"conditions=audit.conditions(), findings=audit.findings). Now {difference}"
            )
        _require_own_run(self.training, self.certificate)

    @property
    def verdict(self) -> str:
        """The word of the verdict, see the table of verdicts."""
        return _verdict(self.certificate, self._loop, self._attacked)

    @property
    def _loop(self) -> LoopAudit:
        """What the audit of the loop shows."""
        return self.audit.evidence()

    @property
    def _attacked(self) -> tuple[ModelAttack, ...]:
        """What the attacks show, with their names."""
        return tuple(
            ModelAttack(
                name=name,
                verdict=attack.verdict,
                epsilon_lower=attack.epsilon_lower,
                significance=attack.significance,
            )
            for name, attack in self.attacks
        )

    def document(self) -> Document:
        """Return the report as a neutral document of about a page."""
        return document(
            judged(self.verdict, self._sentence()),
            under("Claim", Table(tuple(self._claim()), looks=("quiet", ""))),
            under("Loop", Paragraph(self._watched()), self._checks()),
            under("Findings", items((f"{f.rule}: {f.message}" for f in self._loop.findings), "✗", "bad")),
            under("Not observed", items(self._loop.not_observed, "○", "open")),
            self._attacks(),
            under("Open conditions", items(self._open(), "○", "open")),
            under("Not covered", items(self.not_covered), Paragraph(_NEVER_COVERED)),
            under("Check it again", Paragraph(_AGAIN.format(digest=self.to_dict()["digest"]))),
            title=f"Privacy of the training of {self.name}",
        )

    def markdown(self) -> str:
        """Return the report as Markdown, for a model card."""
        return markdown(self.document())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data; `digest` covers everything else."""
        measured = _Measured(
            name=self.name,
            verdict=self.verdict,
            training=self.training,
            loop=self._loop,
            attacks=self._attacked,
            not_covered=self.not_covered,
        )
        data: dict[str, Any] = {"schema": SCHEMA, **encode(measured), "certificate": self.certificate.to_dict()}
        return data | {"digest": digest_of(data)}

    def to_json(self) -> str:
        """Return the report as JSON text, indented, with sorted keys; `dpaudit verify` reads it."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, allow_nan=False)

    def _sentence(self) -> str:
        """Return what the verdict means, with the loop's part in it."""
        if self.verdict == "VIOLATION":
            return "The code that ran leaks more than is declared or claimed; the certificate is about the declaration."
        loop = {
            "inconclusive": " The audit of the loop is inconclusive: not all of it was observed.",
            "more_noise": " The loop adds more noise than is declared.",
        }
        rests = " This rests on the open conditions below." if any(self._open()) else ""
        return certificate_meaning(self.certificate) + rests + loop.get(self._loop.verdict, "")

    def _claim(self) -> Iterator[tuple[str, str]]:
        """Yield the rows of claim, proof and declaration."""
        claim, training, tight = self.certificate.claim, self.training, self.certificate.tight
        yield "claimed", claim_parameters(claim)
        yield "protects", f"{claim.unit}; neighbours differ in {neighbours_phrase(claim.neighbours)}"
        yield (
            "proved for the declared run",
            f"epsilon {bracket_phrase(tight.epsilon)}, at delta = {nearest(claim.delta)}",
        )
        yield (
            "declared run",
            f"{whole(training.steps)} steps over {whole(training.records)} records; each record is in each step with "
            f"probability {nearest(training.sample_rate)}; gradients clipped to norm {exact(training.max_grad_norm)}; "
            f"noise multiplier {exact(training.noise_multiplier)}",
        )

    def _watched(self) -> str:
        """Return what of the loop was watched, and what was not trained."""
        names, untrained = self._loop.watched, self._loop.not_trained
        said = (
            f"Watched and compared in replays: {listed(names, _NAMED)}."
            if names
            else "No parameter was compared in replays."
        )
        said += f" A check flags a right loop with probability at most {at_most(self._loop.significance)}."
        return said + (
            f" Not trained (no step moved it, or noise alone): {listed(untrained, _NAMED)}." if untrained else ""
        )

    def _checks(self) -> Table:
        """Return each check of the loop with what it would have found."""
        rows = tuple((check.name, verdict_label(check.verdict), check.sentence) for check in self._loop.checks)
        return Table(rows, head=("check", "verdict", "what it shows"), looks=("quiet", "", ""), wrapped=True)

    def _attacks(self) -> tuple[Block, ...]:
        """Return the attacks on the trained model."""
        rows = tuple(
            (attack.name, verdict_label(attack.verdict), at_least(attack.epsilon_lower), nearest(attack.significance))
            for attack in self._attacked
        )
        if not rows:
            return (Heading("Attacks on the trained model"), Paragraph("None was made."))
        head = ("attack", "verdict", "epsilon at least, at the delta of the attack", "significance")
        return under("Attacks on the trained model", Table(rows, head=head))

    def _open(self) -> Iterator[str]:
        """Yield the conditions without evidence."""
        for line in marks_of(self.certificate):
            if line.mark in OPEN:
                yield f"{line.mark}: {line.condition.text}"


def _require_own_run(training: Training, certificate: Certificate) -> None:
    """Refuse a certificate whose epsilon is below what a run provably costs. Raises: ValueError."""
    claim = certificate.claim
    least = training_epsilon(training, claim.delta)[0] if claim.neighbours == "add_remove" else 0.0
    if (upper := certificate.tight.epsilon.upper) < least * (1 - 1e-6):
        raise ValueError(
            f"The certificate's epsilon={upper:.6g} is below {least:.6g}, which {training} costs at "
            f"delta={claim.delta:g}: it is the certificate of another run."
        )


def is_training_report(text: str) -> bool:
    """Return whether a text is the JSON of a training report, of any version."""
    return stated_schema(text).startswith(SCHEMA.rpartition(":")[0])


def verify_training_report(text: str) -> Verification:
    """Return what is wrong with the JSON of a training report: its certificate is derived again, its verdict too.

    What the audit measured is read, not measured again.
    Raises: CertificateError: a report of another version.
    """
    data: dict[str, Any] = json_value(text)
    if data["schema"] != SCHEMA:
        raise CertificateError(f"Expected a training report of schema {SCHEMA!r}; this one has {data['schema']!r:.80}.")
    certificate = verify(json.dumps(data.get("certificate")))
    loop = data.get("loop")
    unconfirmed = certificate.unconfirmed
    if isinstance(loop, dict) and loop.get("verdict") == "inconclusive":
        unconfirmed += ("the audit of the training loop is inconclusive",)
    return replace(
        certificate,
        complaints=(*certificate.complaints, *_complaints(data)),
        unconfirmed=unconfirmed,
        notes=(*certificate.notes, "The results of audit and attacks were read, not measured again."),
        digest=str(data.get("digest")),
    )


def _complaints(data: dict[str, Any]) -> Iterator[str]:
    """Yield what contradicts itself in the JSON of a training report; its certificate is verified apart."""
    if data.get("digest") != digest_of(data):
        yield "the digest of the training report does not match its content"
    try:
        table = {key: value for key, value in data.items() if key not in ("schema", "certificate", "digest")}
        measured = read_object(_Measured, table)
        certificate = Certificate.from_json(json.dumps(data["certificate"]))
        if isinstance(certificate.claim, MeasuredClaim):
            raise ValueError(f"its claim is in {certificate.claim.measure}")
        _require_own_run(measured.training, certificate)
    except (DPAuditError, KeyError, TypeError, ValueError, AttributeError) as error:
        yield f"the training report is malformed: {error}"
        return
    word = _verdict(certificate, measured.loop, measured.attacks)
    if word not in ("CERTIFIED", "CERTIFIED" + CAVEATS, "STATED"):
        yield f"the report's own verdict is {word}"
    if measured.verdict != word:
        yield f"the training report says {measured.verdict:.40}, and {word} follows from what it holds"
    yield from contradictions(measured.loop, measured.attacks, certificate)


def _verdict(certificate: Certificate, loop: LoopAudit, attacks: tuple[ModelAttack, ...]) -> str:
    """Return the word of a report from its certificate, the audit of its loop and the attacks."""
    if "violation" in (loop.verdict, *(attack.verdict for attack in attacks)):
        return "VIOLATION"
    word = certificate_word(certificate)
    return word + CAVEATS if word == "CERTIFIED" and loop.verdict == "inconclusive" else word
