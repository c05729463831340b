"""Conditions that runs of LSVI-UCB check about when policies change."""

from dpaudit import Condition

SCHEDULE = Condition(
    kind="public_schedule",
    about=("policies",),
    text="Policies changed at episodes that were fixed before any data was seen.",
)
SWITCHES = Condition(
    kind="public_schedule",
    about=("switches of policy",),
    text="Policies changed by noisy matrices alone, and not more often than declared.",
)
