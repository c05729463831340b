"""From text to JSON data, strictly: limits on size and depth, no duplicate key, no number that is not finite."""

import json
import math
import re
from typing import Any

from dpaudit.verifier.refusals import Rejection, Table, require

LONGEST, DEEPEST = 2**24, 400  # characters of a file; brackets inside brackets
_TOKENS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
"""A string, to the end of the text where it has no end, or a bracket; possessive, so that no way back is remembered."""


class Unreadable(Rejection):
    """The text is no JSON, or more than this checker reads."""


def read(text: str) -> Any:
    """Return the data that `text` spells.

    Raises:
        Unreadable: no JSON (NaN and Infinity are none), too long, or nested too deeply.
        Rejection: JSON with a key twice in one object, or a number beyond floating point.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"the file has {len(text)} characters; at most {LONGEST} are read")
    if _depth(text) > DEEPEST:
        raise Unreadable(f"the file nests more than {DEEPEST} brackets")
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise Unreadable(f"the file is no JSON: {error}") from None


def _depth(text: str) -> int:
    """Return how deeply brackets nest, those inside of strings not counted."""
    depth = deepest = 0
    for token in _TOKENS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        deepest = max(deepest, depth)
    return deepest


def _once(pairs: list[tuple[str, Any]]) -> Table:
    """Return an object whose keys are all different."""
    table: Table = {}
    for key, value in pairs:
        require(key not in table, f"the key {key!r:.80} stands twice in one object")
        table[key] = value
    return table


def _constant(name: str) -> float:
    """Refuse NaN and the infinities, which are no JSON; infinity is written as the string "inf"."""
    raise Unreadable(f"the file is no JSON: {name} is no number")


def _finite(digits: str) -> float:
    """Return a number that floating point can hold."""
    value = float(digits)
    rounded_away = not value and re.search("[1-9]", digits.lower().partition("e")[0])
    require(math.isfinite(value) and not rounded_away, f"the number {digits:.40} is beyond floating point")
    return value
