"""How loose a claim is, as steps from the declared noise down to the noise that it needs."""

import math
from dataclasses import dataclass

from dpaudit.model.readings import Slack
from dpaudit.wording.numerals import times

_UNNAMED = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One factor: from `start` to `end` times the noise that the claim needs."""

    name: str
    start: float
    end: float
    sentence: str

    @property
    def factor(self) -> float:
        """How many times less noise this step leaves."""
        return self.start / self.end


def noise_sentence(slack: Slack) -> str:
    """Return in one sentence how much noise there is against what the claim needs.

    >>> noise_sentence(Slack(epsilon_ratio=24.0, noise_ratio=18.447))
    'The noise is 18.4 times larger than the claim needs.'
    """
    ratio = slack.noise_ratio
    if ratio == math.inf:
        return "The claim needs no noise at all, so that any noise is more than it needs."
    if ratio <= 0:
        return "No amount of noise of this kind meets the claim."
    if abs(math.log(ratio)) < _UNNAMED:
        return "The noise is what the claim needs, no more and no less."
    size = "larger" if ratio > 1 else "smaller"
    return f"The noise is {times(ratio if ratio > 1 else 1 / ratio)} times {size} than the claim needs."


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
        steps.append(Step(name=factor.name, start=level, end=end, sentence=factor.sentence))
        level = end
    if abs(math.log(level)) >= _UNNAMED:
        steps.append(Step(name="not named", start=level, end=1.0, sentence="What no factor above accounts for."))
    return tuple(steps)
