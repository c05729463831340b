"""The one object that a report is written from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from dpaudit.model.audit_result import AuditResult
from dpaudit.model.certificate import Certificate
from dpaudit.model.deployment import Deployment
from dpaudit.model.system import System

if TYPE_CHECKING:
    from dpaudit.ledger import Balance


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A certificate and the audits that go with it, ready to be shown to somebody.

    `command` reproduces the report, from the configuration in `config_text`. `created` is an ISO date, passed
    in so that the same object always gives the same files. `notes` are sentences for the reader that belong to
    no condition and no finding (a constant that turned out vacuous, say). `deployment` is what people declare;
    `code` is where the algorithm's source is, where that is known without asking; `environment` names and values of
    what it ran on; `balance` an account of a ledger whose last digest is `ledger_head`; `previous` an earlier
    report's JSON, to compare with.
    Raises: ValueError: `created` is no ISO date, or an audit is about another claim than the certificate.

    >>> from dpaudit import Claim, Release, certify
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> certificate = certify(Release(label="count", mechanism=noise), Claim(epsilon=1.0, neighbours="add_remove"))
    >>> Report(system=System(name="a count"), certificate=certificate, created="2026-01-31").verdict
    'CERTIFIED WITH CAVEATS'
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
    balance: "Balance | None" = None
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
    def verdict(self) -> str:
        """The verdict in plain words, derived from those of the certificate and the audits."""
        from dpaudit.report.verdicts import outcome_of

        return outcome_of(self).word

    @property
    def meaning(self) -> str:
        """One sentence that says what the claim promises."""
        from dpaudit.report.verdicts import meaning_of

        return meaning_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data that validates against the schema `report`."""
        from dpaudit.report.facts import gather
        from dpaudit.report.plain import plain

        return plain(gather(self))

    def to_json(self) -> str:
        """Return the report as JSON text, indented, with sorted keys."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, allow_nan=False)
