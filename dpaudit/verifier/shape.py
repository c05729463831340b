"""The form of a certificate: which keys each table has, what stands under each, and this checker's own table of texts.

`tables.json` holds both. A form names a table's keys (a trailing ? marks one that may be missing) with the form of what
stands there: a kind of value below, `[form]` for a list, words parted by | for a choice of them, or another table.
"""

import json
from pathlib import Path
from typing import Any

from dpaudit.verifier.losses import Table, extended, number, require, whole

_DEPTH, _ITEMS = 200, 100_000  # how deep a declaration may be, and how many nodes it may have
TABLES: Table = json.loads(Path(__file__).with_name("tables.json").read_text(encoding="utf-8"))
_KINDS = {
    "number": number,
    "extended": extended,
    "count": lambda value, name: whole({name: value}, name),
    "text": lambda value, name: require(_is_text(value), f"{name}={value!r:.80} is no text"),
    "truth": lambda value, name: require(type(value) is bool, f"{name}={value!r:.80} is neither true nor false"),
    "sign": lambda value, name: require(type(value) is int and abs(value) == 1, f"{name}={value!r:.80} is no sign"),
    "digest": lambda value, name: require(
        isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef"), f"{name} is no SHA-256"
    ),
    "words": lambda value, name: require(
        isinstance(value, dict) and all(map(_is_text, value.values())), f"{name} is no table of words"
    ),
}


def check_shape(data: Any) -> str:
    """Refuse a certificate that has not its form; return the version of its schema."""
    require(isinstance(data, dict) and isinstance(data.get("declaration"), dict), "this is no certificate")
    level, below, count = [data["declaration"]], 0, 0
    while level:
        below, count = below + 1, count + len(level)
        require(
            below <= _DEPTH and count <= _ITEMS, f"a declaration deeper than {_DEPTH} or larger than {_ITEMS} nodes"
        )
        level = [held for node in level for held in _inside(node)]
    _check(data, "certificate", "the certificate")
    version: str = TABLES["schemas"][data.get("schema", "")]
    named = all(("kind" in row) == ("about" in row) == (version != "1") for row in data["conditions"])
    require(named, "conditions have kinds from the second schema on")
    return version


def _is_text(value: Any) -> bool:
    """Return whether this is text that says something."""
    return isinstance(value, str) and bool(value.strip())


def _inside(node: Table) -> list[Table]:
    """Return the tables in a node, whatever its kind."""
    found = [held for value in node.values() for held in (value if isinstance(value, list) else [value])]
    return [held for held in found if isinstance(held, dict)]


def _check(value: Any, form: str, name: str) -> None:
    """Refuse a value that has not its form."""
    if form in _KINDS:
        _KINDS[form](value, name)
    elif form[0] == "[":
        require(isinstance(value, list), f"{name} is no list")
        for i, item in enumerate(value):
            _check(item, form[1:-1], f"{name}[{i}]")
    elif "|" in form:
        require(isinstance(value, str) and value in form.split("|"), f"{name}={value!r:.80} is none of {form}")
    else:
        _check_table(value, form, name)


def _check_table(value: Any, form: str, name: str) -> None:
    """Refuse a table with other keys than its form; nodes and mechanisms name theirs."""
    require(isinstance(value, dict), f"{name} is no table")
    if form in ("node", "mechanism"):
        tag = "node" if form == "node" else "name"
        form = f"{tag} {value.get(tag)!s:.80}"
        require(form in TABLES["forms"], f"{name}: {form!r} cannot be derived again by this checker")
    fields = TABLES["forms"][form]
    known = {key.rstrip("?"): held for key, held in fields.items()}
    unknown, missing = value.keys() - known.keys(), fields.keys() - {f"{key}?" for key in known} - value.keys()
    require(not unknown, f"{name} has the unknown keys {', '.join(sorted(unknown))}")
    require(not missing, f"{name} lacks {', '.join(sorted(missing))}")
    for key, held in value.items():
        _check(held, known[key], f"{name}.{key}")
