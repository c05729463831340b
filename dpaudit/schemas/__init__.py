"""Published JSON Schemas (2020-12) of what this package writes, by name; each is generated from types."""

from importlib import import_module
from typing import Any

TITLES = {
    "audit": "Audit",
    "baseline": "Baseline",
    "certificate": "Certificate",
    "check": "Check",
    "curve": "Curve",
    "ledger": "Ledger",
    "plan": "Audit plan",
    "report": "Report",
    "scores": "Audit of scores",
    "study": "Study",
    "synthesizer": "Audit of a synthesizer",
    "training": "Report of a training run",
}
"""Each document by its name, with its title; the types are imported where a schema is asked for."""
NAMES = tuple(TITLES)


def load(name: str) -> dict[str, Any]:
    """Return the schema called `name`, complete: schemas that it refers to are among its definitions.

    Raises: KeyError: no such schema; `NAMES` lists them.

    >>> load("report")["$id"]
    'urn:dpaudit:schema:report:10'
    """
    if name not in TITLES:
        raise KeyError(name)
    schema: dict[str, Any] = import_module("dpaudit.schemas.building").schema_of(name)
    return schema
