"""The result of an audit of a synthesizer: the audit of its claim, and beside it what one release discloses."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from dpaudit.arguments import settled
from dpaudit.checks import Count, Natural, OpenProbability, Share
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.codec import encode

SCHEMA = "urn:dpaudit:schema:synthesizer:1"

RiskName = Literal["singling out", "linkability", "attribute inference"]


@settled
class AttackRate:
    """How often an attack was right, with the exact limits of the probability that it is right on another target.

    Each limit is wrong with probability at most half of the significance of the risk, alone.

    >>> AttackRate(attacks=200, right=30, limits=(0.09, 0.23)).rate
    0.15
    """

    attacks: Count
    right: Natural
    limits: tuple[Share, Share]

    @property
    def rate(self) -> float:
        """The share of right attacks."""
        return self.right / self.attacks


@settled
class DisclosureRisk:
    """How often an attack by one synthetic table is right about records that it was made from, and about others.

    `base` is the rate on control records, which the table was not made from: what the attack learns of the population.
    It is a description of one release: it bounds no epsilon, and no verdict rests on it.

    >>> rate = AttackRate(attacks=200, right=30, limits=(0.09, 0.23))
    >>> DisclosureRisk(name="linkability", rate=rate, base=rate, significance=0.01).above_base
    False
    """

    name: RiskName
    rate: AttackRate
    base: AttackRate
    significance: OpenProbability

    @property
    def above_base(self) -> bool:
        """Whether the rate exceeds the base rate: wrong with probability at most the significance."""
        return self.rate.limits[0] > self.base.limits[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesizerResult:
    """The audit of a synthesizer's claim, and beside it the disclosure risks of one table, no part of the verdict.

    `records` is the number of records from which the table of the risks was made, `controls` that of the control
    records, and `unmeasured` says why there are no risks.
    """

    audit: AuditResult
    risks: tuple[DisclosureRisk, ...] = ()
    records: Natural = 0
    controls: Natural = 0
    unmeasured: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, in the published field names."""
        risks = [encode(risk) | {"above_base": risk.above_base} for risk in self.risks]
        beside = {"records": self.records, "controls": self.controls, "unmeasured": self.unmeasured, "risks": risks}
        return {"schema": SCHEMA, "audit": self.audit.to_dict(), "disclosure": beside}

    def to_json(self) -> str:
        """Return the result as JSON text, indented, with sorted keys."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, allow_nan=False)
