"""The certificate: the verdict on a claim, and everything needed to check it again; its JSON form."""

import hashlib
import json
import math
from typing import Any, Self

from dpaudit.arguments import settled
from dpaudit.errors import CertificateError, DPAuditError
from dpaudit.model.bracket import Bracket, Effort
from dpaudit.model.claim import Claim
from dpaudit.model.codec import decode_claim, decode_declaration, encode
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Declaration
from dpaudit.model.measures.ends import Ends
from dpaudit.model.readings import Factor, FailedStep, PrintedReading, Slack, Tight, Trust, Verdict
from dpaudit.model.trace import Finding
from dpaudit.model.witness import DerivationRow, Entry, Witness

SCHEMA = "urn:dpaudit:schema:certificate:7"
"""The schema of what is written. The first had no kinds of conditions, the second no witnesses.

The third did not list every hypothesis of the theorems as a condition, the fourth did not say the effort.
The fifth said *certified* of what follows only from somebody else's statement. The sixth carried no derivation.
"""

_MALFORMED = (DPAuditError, KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What plain data raise that have a right digest and are no certificate."""


@settled
class CertificateRecord:
    """The fields of a certificate and their JSON form; see `dpaudit.Certificate` for what they guarantee."""

    verdict: Verdict
    reasons: tuple[str, ...]
    claim: Claim
    tight: Tight | Ends
    printed: PrintedReading | None
    slack: Slack | None
    witnesses: tuple[Witness, ...]
    conditions: tuple[Condition, ...]
    findings: tuple[Finding, ...]
    declaration: Declaration
    engines: tuple[str, ...]
    effort: Effort
    versions: tuple[tuple[str, str], ...]
    source_digest: str
    trust: Trust | None = None
    derivation: tuple[DerivationRow, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as plain data in the published field names, its digest included."""
        data: dict[str, Any] = encode(self)
        if isinstance(self.tight, Tight):
            for bracket in data["tight"].values():
                del bracket["engines"]
        data["versions"] = dict(self.versions)
        data["derivation"] = [row.plain() for row in self.derivation]
        data["schema"] = SCHEMA
        return data | {"digest": digest_of(data)}

    def to_json(self) -> str:
        """Return the certificate as JSON text, indented, with sorted keys."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the certificate that `text` spells.

        Raises: CertificateError: not JSON, truncated, another schema, an unknown or missing field, or a digest
            that does not match the rest.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CertificateError(f"The certificate is no JSON (truncated?): {error}.") from None
        if not isinstance(data, dict):
            raise CertificateError("Expected the certificate to be a JSON object.")
        stated = data.pop("digest", None)
        if stated != _digest(data):
            raise CertificateError(
                f"The certificate's digest {stated!r} does not match its content; it was altered or truncated."
            )
        if data.get("schema") != SCHEMA:
            raise CertificateError(
                f"Expected a certificate of schema {SCHEMA!r}; this one has {data.get('schema', 'none')!r}, as another "
                "version of dpaudit wrote it. Certify the configuration again."
            )
        try:
            return cls(**_fields(data))
        except _MALFORMED as error:
            raise CertificateError(f"The certificate is malformed: {error}.") from None


def digest_of(data: dict[str, Any]) -> str:
    """Return the SHA-256 of `data` in canonical JSON: sorted keys, no spaces, no digest field."""
    content = {key: value for key, value in data.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _digest(data: dict[str, Any]) -> str:
    """Return the digest of data that was read; an empty text, which is no digest, where they nest too deeply."""
    try:
        return digest_of(data)
    except RecursionError:
        return ""


def _fields(data: dict[str, Any]) -> dict[str, Any]:
    """Return the constructor's arguments from plain data."""
    claim = decode_claim(data["claim"])
    printed, slack = data.get("printed"), data.get("slack")
    return {
        "verdict": data["verdict"],
        "reasons": tuple(data["reasons"]),
        "claim": claim,
        "tight": _tight(data),
        "printed": _with_rows(PrintedReading, "problems", FailedStep, printed) if printed else None,
        "slack": _with_rows(Slack, "factors", Factor, slack) if slack else None,
        "witnesses": tuple(_witness(row) for row in data["witnesses"]),
        "conditions": tuple(Condition(**row | {"about": tuple(row["about"])}) for row in data["conditions"]),
        "findings": _all(Finding, data["findings"]),
        "declaration": decode_declaration(data["declaration"], claim.neighbours),
        "engines": tuple(data["engines"]),
        "effort": data["effort"],
        "versions": tuple(sorted(data["versions"].items())),
        "source_digest": data["source_digest"],
        "trust": _trust(data.get("trust")),
        "derivation": tuple(map(DerivationRow.read, data["derivation"])),
    }


def _trust(data: dict[str, Any] | None) -> Trust | None:
    """Return what rests on the word of others, if anything does."""
    if data is None:
        return None
    numbers: dict[str, Any] = _numbers(data) | {"sources": tuple(data["sources"])}
    return Trust(**numbers)


def _tight(data: dict[str, Any]) -> Tight | Ends:
    """Return the ends in the measure of the claim."""
    if "measure" in data["claim"]:
        return Ends.read(data["tight"])
    return Tight(**{side: _bracket(data["tight"][side], data["engines"]) for side in ("epsilon", "delta")})


def _bracket(data: dict[str, Any], engines: list[str]) -> Bracket:
    """Return a bracket from its two ends."""
    return Bracket(**_numbers(data), engines=tuple(engines))


def _witness(row: dict[str, Any]) -> Witness:
    """Return the witness of one row."""
    return Witness(labels=tuple(row["labels"]), plan=_all(Entry, row["plan"]), attained=row["attained"])


def _all(kind: type[Any], rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    """Return one object of `kind` for each row."""
    return tuple(kind(**_numbers(row)) for row in rows)


def _with_rows(kind: type[Any], field: str, row: type[Any], data: dict[str, Any]) -> Any:
    """Return one object of `kind` whose `field` is a table of objects of `row`."""
    values = _numbers(data)
    values[field] = _all(row, data[field])
    return kind(**values)


def _numbers(row: dict[str, Any]) -> dict[str, Any]:
    """Return `row` with the string "inf" read as a number."""
    return {key: math.inf if value == "inf" else value for key, value in row.items()}
