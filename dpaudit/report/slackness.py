"""The slack of a claim as steps from the declared noise to the needed noise."""

import math
from dataclasses import dataclass

from dpaudit.model.readings import Slack
from dpaudit.wording.certificates import UNNAMED


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One factor: from `start` to `end` times the noise that the claim needs."""

    name: str
    start: float
    end: float

    @property
    def factor(self) -> float:
        """How many times less noise this step leaves."""
        return self.start / self.end


def steps_of(slack: Slack) -> tuple[Step, ...]:
    """Return the factors in noise, in order, and what no named factor explains as a last step.

    Edge cases: no steps where the ratio is zero or infinite, or where there is nothing to explain.
    """
    level = slack.noise_ratio
    if not 0 < level < math.inf:
        return ()
    steps: list[Step] = []
    for factor in slack.factors:
        if not 0 < factor.noise_factor < math.inf:
            continue
        end = level / factor.noise_factor
        steps.append(Step(name=factor.name, start=level, end=end))
        level = end
    if abs(math.log(level)) >= UNNAMED:
        steps.append(Step(name="not named", start=level, end=1.0))
    return tuple(steps)


def loose(slack: Slack) -> bool:
    """Return whether some step changes the noise by more than half a percent; else there is nothing to explain."""
    return any(abs(step.factor - 1) > 0.005 for step in steps_of(slack))
