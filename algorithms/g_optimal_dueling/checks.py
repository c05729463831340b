"""The conditions that a run of the G-optimal dueling bandit checks, beside those of every dueling bandit."""

ONE_SUM = "Every answer entered one sum of one phase, and moved it by 1 at most."
