"""The inputs of a report: certificate, audits, and what people declare."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from dpaudit.certification.certificate import Certificate
from dpaudit.ledger import Balance
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.deployment import Deployment
from dpaudit.model.system import System


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInputs:
    """A certificate, the audits of the same claim, and the context that a reader needs.

    `command` reproduces the report from the configuration in `config_text`. `created` is an ISO date; it is an
    argument, so that equal inputs give equal files. `notes` are sentences for the reader that belong to no condition
    and no finding (on a vacuous constant, for example). `deployment` is what people declare. `code` is the file and
    class of the algorithm, where they are known. `environment` has names and values of the platform. `balance` is an
    account of a ledger whose last digest is `ledger_head`. `previous` is the JSON of an earlier report to compare with.
    Raises: ValueError: `created` is no ISO date, or an audit is about another claim than the certificate.
    """

    certificate: Certificate
    audits: tuple[AuditResult, ...] = ()
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

    def __post_init__(self) -> None:
        try:
            canonical = date.fromisoformat(self.created).isoformat()
        except ValueError:
            canonical = None
        if canonical != self.created:
            raise ValueError(f"Expected created={self.created!r} to be an ISO date, as in '2026-01-31'.")
        claim = self.certificate.claim
        for audit in self.audits:
            for name in ("epsilon", "delta", "neighbours", "model"):
                if getattr(audit.claim, name) != getattr(claim, name):
                    raise ValueError(
                        f"Expected the audit {audit.name!r} to be about the certificate's claim; its {name} is "
                        f"{getattr(audit.claim, name)!r}, the certificate's {getattr(claim, name)!r}. "
                        "Write one report for each claim."
                    )

    @property
    def unit(self) -> str:
        """What one record is: the owner's words where there are any, else the claim's."""
        return self.system.unit.strip() or self.certificate.claim.unit

    @property
    def seeds(self) -> str:
        """The recorded seeds of the audits, in one line."""
        return "; ".join(f"{audit.name}: {audit.seed}" for audit in self.audits if audit.seed is not None)
