"""Published JSON Schemas (2020-12) of what this package writes, by name."""

import json
from importlib.resources import files
from typing import Any

NAMES = (
    "audit",
    "baseline",
    "certificate",
    "check",
    "curve",
    "ledger",
    "plan",
    "report",
    "scores",
    "study",
    "synthesizer",
    "training",
)


def load(name: str) -> dict[str, Any]:
    """Return the schema called `name`, complete: schemas that it refers to are among its definitions.

    Raises: KeyError: no such schema; `NAMES` lists them.

    >>> load("report")["$id"]
    'urn:dpaudit:schema:report:10'
    """
    if name not in NAMES:
        raise KeyError(name)
    schema = _read(name)
    if name in ("audit", "check", "ledger", "report", "scores", "synthesizer", "training"):
        scored, planned = ("scores",) if name in ("check", "report") else (), ("plan",) if name == "report" else ()
        others = ("certificate",) if name in ("audit", "training") else ("certificate", "audit", *scored, *planned)
        own = schema.get("$defs", {})
        schema["$defs"] = own | {other: _read(other) for other in others}
    return schema


def _read(name: str) -> dict[str, Any]:
    """Return one schema file as it is."""
    schema: dict[str, Any] = json.loads((files(__name__) / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema
