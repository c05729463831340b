"""One check of a contract: its subject, what came of it, and a sentence."""

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "not looked at", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check: "failed" is a fact about the code, "not looked at" says that nothing is known.

    >>> Check(what="law", outcome="failed", says="about half the stated size").failed
    True
    """

    what: str
    outcome: Outcome
    says: str

    @property
    def failed(self) -> bool:
        """Whether the contract is broken."""
        return self.outcome == "failed"
