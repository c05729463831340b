"""Conditions that runs of LSVI-UCB check about when policies change."""

from dpaudit import Condition

SCHEDULE = Condition(
    kind="public_schedule",
    about=("policies",),
    text="Policies changed at ends of batches, and not more often than declared.",
)
SWITCHES = Condition(
    kind="public_schedule",
    about=("switches of policy",),
    text="Policies changed not more often than declared.",
)
