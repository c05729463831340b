"""The conditions that a run of the G-optimal dueling bandit checks, beside those of every dueling bandit."""

from dpaudit import Condition

ONE_SUM = Condition(
    kind="one_contribution",
    about=("answers",),
    text="No comparison was won more often than played, and no phase ran past the horizon.",
)
