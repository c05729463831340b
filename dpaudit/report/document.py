"""The report as an object: its inputs, and the answers that are derived from them."""

import json
from dataclasses import dataclass
from typing import Any

from dpaudit.report.facts import gather
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import meaning_of
from dpaudit.report.signed import signed
from dpaudit.report.verdicts import outcome_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(ReportInputs):
    """A report: the fields of `ReportInputs`, its verdict, its meaning and its JSON.

    >>> from dpaudit import Claim, Release, certify
    >>> from dpaudit.report import System
    >>> from mechanisms import Laplace
    >>> noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    >>> certificate = certify(Release(label="count", mechanism=noise), Claim(epsilon=1.0, neighbours="add_remove"))
    >>> Report(system=System(name="a count"), certificate=certificate, created="2026-01-31").verdict
    'CERTIFIED WITH CAVEATS'
    """

    @property
    def verdict(self) -> str:
        """The verdict in plain words, derived from those of the certificate and the audits."""
        return outcome_of(self).word

    @property
    def meaning(self) -> str:
        """One sentence that says what the claim promises, or promised."""
        return meaning_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data that validates against the schema `report`."""
        return signed(gather(self))

    def to_json(self) -> str:
        """Return the report as JSON text, indented, with sorted keys."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, allow_nan=False)
