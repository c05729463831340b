"""The certificate."""

from typing import Any, Literal, NotRequired, TypedDict

from dpaudit.checks import Natural
from dpaudit.json_schema import Digest, Text
from dpaudit.model import witness
from dpaudit.model.certificate import CertificateRecord
from dpaudit.model.claim import Neighbours
from dpaudit.model.mechanism import Mechanism
from dpaudit.schemas import values
from dpaudit.schemas.tables import Tables


class DerivationRow(TypedDict):
    """One step of the proof.

    `id`: the place of the row, from 0; `rule`: the rule of docs/theory/rules.md that is applied; `records`: how many
    records of one person make the move together; `parameters`: the numbers of the node that the rule reads; `premises`:
    the ids of earlier rows, in the order in which the rule demands them; `conclusion`: the loss of a leaf from above,
    where it is a mu, a shift, or an epsilon and a delta.
    """

    premises: list[Natural]
    conclusion: NotRequired[dict[str, float]]


class CertificateDocument(TypedDict):
    """The verdict on a privacy claim for a declaration, with the evidence for it.

    `slack`: claimed over proved epsilon, declared over needed noise; absent where not computed; `witnesses`: the pairs
    of neighbours that the lower ends belong to, and what another pair is only assumed to attain; `derivation`: the
    proof of the ends, premises before what is concluded from them, so that the last row is the whole; empty where it
    has more than 20000 rows; `effort`: how long the engines were given; the brackets of a quick certificate may be
    wider; `source_digest`: digest of the source that the certificate describes; `digest`: SHA-256 of the certificate
    without this field, in canonical JSON: sorted keys, no spaces.
    """

    schema: Literal["urn:dpaudit:schema:certificate:7"]
    versions: dict[str, str]
    digest: Digest


class StatedLosses(TypedDict):
    """The losses that a plug-in states of itself: of one release from above, and of some pair."""

    upper: list[dict[str, Any]]
    lower: list[dict[str, Any]]


class AnyMechanism(TypedDict):
    """A mechanism by the name of its file, with its own fields; plug-ins bring theirs."""

    name: Text
    neighbours: NotRequired[Neighbours]
    stated: NotRequired[StatedLosses]


TABLES = values.TABLES | Tables(
    documents={"certificate": CertificateDocument},
    sources={CertificateDocument: (CertificateRecord, ()), DerivationRow: (witness.DerivationRow, ("conclusion",))},
    written_as={
        Mechanism: AnyMechanism,
        witness.DerivationRow: DerivationRow,
        witness.Numbers: dict[str, float],
    },
)
