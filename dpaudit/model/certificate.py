"""The certificate: the verdict on a claim, and everything needed to check it again; its JSON form."""

import hashlib
import json
from typing import Any

from dpaudit.arguments import settled
from dpaudit.model.bracket import Effort
from dpaudit.model.claim import Claim
from dpaudit.model.codec import encode
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Declaration
from dpaudit.model.measures.ends import Ends
from dpaudit.model.readings import PrintedReading, Slack, Tight, Trust, Verdict
from dpaudit.model.trace import Finding
from dpaudit.model.witness import DerivationRow, Witness

SCHEMA = "urn:dpaudit:schema:certificate:7"
"""The schema of what is written. The first had no kinds of conditions, the second no witnesses.

The third did not list every hypothesis of the theorems as a condition, the fourth did not say the effort.
The fifth said *certified* of what follows only from somebody else's statement. The sixth carried no derivation.
"""


@settled
class CertificateRecord:
    """The fields of a certificate and their JSON form; see `dpaudit.Certificate` for what they guarantee."""

    verdict: Verdict
    reasons: tuple[str, ...]
    claim: Claim
    tight: Tight | Ends
    printed: PrintedReading | None = None
    slack: Slack | None = None
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


def digest_of(data: dict[str, Any]) -> str:
    """Return the SHA-256 of `data` in canonical JSON: sorted keys, no spaces, no digest field."""
    content = {key: value for key, value in data.items() if key != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
