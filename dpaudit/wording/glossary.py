"""The glossary and the disclaimer of a report."""

from dpaudit.runtime.tables import table_of

_WORDS = table_of("dpaudit.wording", "glossary.toml")

DISCLAIMER: str = _WORDS["disclaimer"]
GLOSSARY: tuple[tuple[str, str], ...] = tuple(_WORDS["senses"].items())
"""Each word with its sense, in the order of a report."""
