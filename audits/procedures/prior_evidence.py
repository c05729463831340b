"""Evidence of earlier audits: log wealth, so that many audits share one probability of a false alarm."""

import math
from dataclasses import dataclass
from typing import Any, Self

from audits.bounds.e_process import LEVELS
from dpaudit import Claim
from dpaudit.checks import count

_FIELDS = ("against", "wealth", "best", "runs")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorEvidence:
    """Log wealth after `runs` runs: against `claim`, and against each epsilon of a grid, now and at its maximum.

    Raises: ValueError: a number that is not finite, a grid of another length, or a maximum below the present wealth.

    >>> PriorEvidence.nothing(Claim(epsilon=1.0, neighbours="replace_one")).runs
    0
    """

    claim: Claim
    against: float
    wealth: tuple[float, ...]
    best: tuple[float, ...]
    runs: int

    def __post_init__(self) -> None:
        count("runs", self.runs, at_least=0)
        for name in ("wealth", "best"):
            if len(getattr(self, name)) != len(LEVELS):
                raise ValueError(f"Expected {name} to have {len(LEVELS)} entries, got {len(getattr(self, name))}.")
        if not all(math.isfinite(value) for value in (self.against, *self.wealth, *self.best)):
            raise ValueError("Expected carried wealth to be finite.")
        if any(now > most for now, most in zip(self.wealth, self.best, strict=True)):
            raise ValueError("Expected wealth to be nowhere above its own best.")

    @classmethod
    def nothing(cls, claim: Claim) -> Self:
        """Return the evidence before the first run: wealth 1 against every epsilon."""
        zeros = (0.0,) * len(LEVELS)
        return cls(claim=claim, against=0.0, wealth=zeros, best=zeros, runs=0)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data, without the claim."""
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_dict(cls, claim: Claim, data: Any) -> Self:
        """Return the evidence that `to_dict` wrote, for the same claim.

        Raises: ValueError: not such data.
        """
        if not isinstance(data, dict) or set(data) != set(_FIELDS):
            raise ValueError(f"Expected carried evidence to have the fields {', '.join(_FIELDS)}.")
        try:
            grids = {name: tuple(float(value) for value in data[name]) for name in ("wealth", "best")}
            against = float(data["against"])
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"Expected carried evidence to hold numbers ({error}).") from None
        return cls(claim=claim, against=against, runs=data["runs"], **grids)
