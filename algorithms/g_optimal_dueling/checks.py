"""The conditions that a run of the G-optimal dueling bandit checks, beside those of every dueling bandit."""

from dpaudit import Condition

ONE_SUM = Condition(
    kind="one_contribution",
    about=("answers",),
    text="Every answer entered one sum of one phase, and moved it by 1 at most.",
)
