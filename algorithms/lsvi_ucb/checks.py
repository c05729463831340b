"""Texts of the conditions that runs of LSVI-UCB check about when policies change."""

SCHEDULE = "Policies changed at episodes that were fixed before any data was seen."
SWITCHES = "Policies changed by noisy matrices alone, and not more often than declared."
