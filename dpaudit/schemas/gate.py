"""Checks of a project, and the issues that it accepts."""

from datetime import date
from typing import Annotated, Literal, NotRequired, TypedDict

from dpaudit.checks import Count, Natural, NonNegativeOrInfinite, PositiveShare
from dpaudit.documents.outcome import Level
from dpaudit.gate import terms
from dpaudit.gate.baseline import Accepted
from dpaudit.json_schema import Digest, Keywords, Text
from dpaudit.schemas import audits, certificate
from dpaudit.schemas.audits import AuditDocument, ScoresFile
from dpaudit.schemas.certificate import CertificateDocument
from dpaudit.schemas.tables import Tables
from dpaudit.schemas.values import AnyClaim


class CheckedConfiguration(TypedDict):
    """One configuration with what was found of it.

    `error`: why the configuration cannot be used.
    """

    path: str
    certificate: NotRequired[CertificateDocument]
    audits: list[AuditDocument]
    scores: NotRequired[Annotated[list[ScoresFile], Keywords({"minItems": 1})]]
    seed: NotRequired[Natural]
    error: NotRequired[str]


class AcceptedWith(TypedDict):
    """Why an issue is accepted, and until when."""

    reason: Text
    expires: date


class Terms(TypedDict):
    """What it holds for; it lapses when the claim or what was seen differs, or a number exceeds its ceiling.

    `up_to`: ceilings: proved_epsilon and proved_delta (upper bounds), refuted_epsilon (lower bound), audited_epsilon
    (lower bound of the audit); of a claim in another measure its name stands in place of epsilon.
    """

    claim: AnyClaim
    up_to: dict[str, NonNegativeOrInfinite]
    runs: Natural
    significance: PositiveShare
    seen: str


class Issue(TypedDict):
    """One issue, with its acceptance where there is one.

    `fingerprint`: the same for the same rule, configuration and subject, whatever the numbers and lines.
    """

    rule: Text
    level: Level
    config: str
    subject: str
    message: str
    file: Text
    line: Count
    fingerprint: Digest
    accepted: NotRequired[AcceptedWith]
    terms: NotRequired[Terms]


class CheckDocument(TypedDict):
    """What one run of the gate found: configurations, issues, and the exit code they lead to."""

    schema: Literal["urn:dpaudit:schema:check:6"]
    created: date
    verdict: Literal["pass", "finding", "unusable", "inconclusive"]
    exit_code: Literal[0, 1, 2, 4]
    configurations: list[CheckedConfiguration]
    issues: list[Issue]


class BaselineDocument(TypedDict):
    """Accepted issues, each with a reason and the last day on which it is accepted."""

    schema: Literal["urn:dpaudit:schema:baseline:2"]
    accepted: list[Accepted]


TABLES = (
    audits.TABLES
    | certificate.TABLES
    | Tables(documents={"baseline": BaselineDocument, "check": CheckDocument}, written_as={terms.Terms: Terms})
)
