"""The questions that every kind of evidence from scores answers."""

from typing import Protocol

from audits.bounds.trade_offs import TradeOff
from dpaudit.model.audit_result import Counts, LowerBound


class Evidence(Protocol):
    """Counts under one rule that fixes thresholds validly, and the tests that are exact for it."""

    @property
    def rule(self) -> str:
        """What was counted, in words."""
        ...

    @property
    def counts(self) -> Counts:
        """The counts that the bound rests on."""
        ...

    def refutes(self, trade_off: TradeOff, significance: float) -> bool:
        """Return whether the counts refute a trade-off; a true one with probability at most `significance`."""
        ...

    def bound(self, delta: float, significance: float) -> LowerBound:
        """Return a lower bound on epsilon at `delta` without assumption."""
        ...

    def others(self, delta: float, significance: float) -> tuple[LowerBound, ...]:
        """Return further bounds, which decide nothing."""
        ...

    def perfect(self) -> "Evidence":
        """Return the evidence of scores that tell members from others without an error."""
        ...
