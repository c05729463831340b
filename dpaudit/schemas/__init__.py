"""Published JSON Schemas (2020-12) of what this package writes, by name; each is generated from types."""

from importlib import import_module
from typing import Any

_DOCUMENTS = (
    ("audit", "Audit", "audits"),
    ("baseline", "Baseline", "gate"),
    ("certificate", "Certificate", "certificate"),
    ("check", "Check", "gate"),
    ("curve", "Curve", "reports"),
    ("ledger", "Ledger", "reports"),
    ("plan", "Audit plan", "audits"),
    ("report", "Report", "reports"),
    ("scores", "Audit of scores", "audits"),
    ("study", "Study", "studies"),
    ("synthesizer", "Audit of a synthesizer", "audits"),
    ("training", "Report of a training run", "reports"),
)
TITLES = {name: title for name, title, _ in _DOCUMENTS}
"""Each document by its name, with its title."""
MODULES = {name: module for name, _, module in _DOCUMENTS}
"""The module of this folder that has the type of each document; it is imported where the schema is asked for."""
NAMES = tuple(TITLES)


def load(name: str) -> dict[str, Any]:
    """Return the schema called `name`, complete: schemas that it refers to are among its definitions.

    Raises: KeyError: no such schema; `NAMES` lists them.

    >>> load("report")["$id"]
    'urn:dpaudit:schema:report:10'
    """
    if name not in TITLES:
        raise KeyError(name)
    return import_module("dpaudit.schemas.building").schema_of(name)
