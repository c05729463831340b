"""Settings of the two tabular baselines, and their checks."""

from dpaudit.arguments import settled
from dpaudit.checks import Count, OpenProbability, Positive


@settled
class TabularSettings:
    """Everything that a user chooses about PUCB and LDP-OBI.

    Fields that matter for privacy: `epsilon` in nats; `episodes` K and `steps` H of each.
    Fields that matter for usefulness only: `bonus_scale`, which shrinks the bonus; `fail_prob` of the regret analysis;
    `planning_period`, how many episodes a policy is kept.
    Raises: ValueError: a field outside its range; the message names it, its value and the rule.
    """

    # These fields decide what is released and how much noise it carries.
    epsilon: Positive
    episodes: Count
    steps: Count

    # These fields act on released counts only: no value of theirs changes the privacy of a run.
    bonus_scale: Positive = 1.0
    fail_prob: OpenProbability = 0.05
    planning_period: Count = 1

    @property
    def number_of_units(self) -> int:
        """The number of units that the claim is about: one user an episode."""
        return self.episodes
