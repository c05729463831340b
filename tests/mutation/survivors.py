"""Mutants that nothing here catches, each with the reason."""

SURVIVORS: dict[str, str] = {}
