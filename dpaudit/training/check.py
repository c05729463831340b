"""One number that was looked at in a training run, against its declaration."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One number that was looked at: `observed` against `declared`, and the factors that would have been caught.

    `rule` is empty where they agree. `caught_below` and `caught_above`: a factor this small, or this large, on the
    declared number is noticed with probability `POWER` at least; 0 and infinity where that side is not looked at.
    `agrees` says in words what was looked at, where this is no number of the declaration. `safer` says in words that
    the loop departs from its declaration in the direction that protects more: no finding, as the declared epsilon
    holds, but not what is declared.
    """

    name: str
    observed: float
    declared: float
    caught_below: float = 0.0
    caught_above: float = math.inf
    rule: str = ""
    message: str = ""
    agrees: str = ""
    safer: str = ""

    @property
    def sentence(self) -> str:
        """The check in words, with its power."""
        if self.rule or self.agrees or self.safer:
            return self.message or self.agrees or self.safer
        sides = [f"below {self.caught_below:.4g}"] if self.caught_below > 0 else []
        sides += [f"above {self.caught_above:.4g}"] if self.caught_above < math.inf else []
        return (
            f"The {self.name} observed in the training loop, {self.observed:.6g}, agrees with the declared "
            f"{self.declared:.6g}; a factor {' or '.join(sides)} would have been caught."
        )
