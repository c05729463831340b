"""The certificate."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from dpaudit.checks import Count, Natural
from dpaudit.json_schema import Digest, Text
from dpaudit.model.bracket import Effort
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Declaration
from dpaudit.model.readings import PrintedReading, Slack, Tight, Trust, Verdict
from dpaudit.model.trace import Finding
from dpaudit.model.witness import MoveName, NodePath, Witness
from dpaudit.schemas.values import AnyClaim, MeasuredEnds


class DerivationRow(TypedDict):
    """One step of the proof."""

    id: Annotated[Natural, "The place of the row, from 0."]
    rule: Annotated[str, "The rule of docs/theory/rules.md that is applied."]
    path: NodePath
    move: MoveName
    records: Annotated[Count, "How many records of one person make the move together."]
    parameters: Annotated[dict[str, float], "The numbers of the node that the rule reads."]
    premises: Annotated[list[Natural], "The ids of earlier rows, in the order in which the rule demands them."]
    conclusion: NotRequired[
        Annotated[
            dict[str, float],
            "The loss of a leaf from above, where it is a mu, a shift, or an epsilon and a delta.",
        ]
    ]


class CertificateDocument(TypedDict):
    """The verdict on a privacy claim for a declaration, with the evidence for it."""

    schema: Literal["urn:dpaudit:schema:certificate:7"]
    verdict: Verdict
    reasons: list[str]
    claim: AnyClaim
    tight: Tight | MeasuredEnds
    printed: NotRequired[PrintedReading]
    slack: NotRequired[
        Annotated[Slack, "Claimed over proved epsilon, declared over needed noise; absent where not computed."]
    ]
    witnesses: Annotated[
        list[Witness],
        "The pairs of neighbours that the lower ends belong to, and what another pair is only assumed to attain.",
    ]
    derivation: Annotated[
        list[DerivationRow],
        "The proof of the ends, premises before what is concluded from them, so that the last row is the whole. Empty "
        "where it has more than 20000 rows.",
    ]
    conditions: list[Condition]
    findings: list[Finding]
    declaration: Declaration
    engines: list[str]
    effort: Annotated[Effort, "How long the engines were given; the brackets of a quick certificate may be wider."]
    versions: dict[str, str]
    source_digest: Annotated[str, "Digest of the source that the certificate describes."]
    digest: Annotated[
        Digest, "SHA-256 of the certificate without this field, in canonical JSON: sorted keys, no spaces."
    ]
    trust: NotRequired[Trust]


class StatedLosses(TypedDict):
    """The losses that a plug-in states of itself: of one release from above, and of some pair."""

    upper: list[dict[str, Any]]
    lower: list[dict[str, Any]]


class AnyMechanism(TypedDict):
    """A mechanism by the name of its file, with its own fields; plug-ins bring theirs."""

    name: Text
    neighbours: NotRequired[Neighbours]
    stated: NotRequired[StatedLosses]
