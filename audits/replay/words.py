"""The words of what replays show: the event in the output's own names, and where noise was drawn."""

import re
from collections.abc import Mapping
from math import isinf
from typing import Any

import numpy as np

from audits.outputs.calls import OUTCOME
from audits.outputs.fields import NUMBER
from audits.replay.noise_model import NoiseModel
from audits.replay.one_call import Call
from audits.replay.seen_law import SeenLoss

_NAMED = 3
SIDES = "the first data set", "the second data set"


def column_words(name: str) -> str:
    """Return the name of a column as the name of a part of the output.

    >>> column_words("number .total"), column_words("number [2]"), column_words("number #0 rest")
    ("'total'", 'entry [2] of the output', 'number 1 of the text')
    >>> column_words("number .columns.age[3]")
    "row 3 of the column 'age'"
    """
    path = name.partition(" ")[2].lstrip(".").replace(" NaN bits", "").replace("NaN bits", "")
    path = path.removesuffix(" text").removesuffix("length").strip()
    if place := re.match(r"#(\d+)", path):
        return f"number {int(place[1]) + 1} of the text"
    if cell := re.fullmatch(r"columns\.([^.\[]+)(?:\[(\d+)\])?.*", path):
        row = f"row {cell[2]} of " if cell[2] else ""
        return f"{row}the column '{cell[1]}'"
    if path.startswith("["):
        return f"entry {path} of the output"
    return f"'{path}'" if path else "the output"


def event_words(name: str, here: Call, there: Call, side: int, *, always: bool) -> str:
    """Return in words the event that every run of one data set shows in a column.

    `always` says that no run of the other data set shows it; else some do not, as `there`.
    """
    never = "in no run" if always else "not in every run"
    on, other = SIDES[side], SIDES[1 - side]
    if name == OUTCOME:
        ends = f"raises {here.raised}" if here.raised else "returns"
        instead = f"raises {there.raised}" if there.raised else "returns"
        often = "every run" if always else "some runs"
        return f"The function {ends} in every run on {on}, and {instead} in {often} on {other}."
    form = _form_words(here.returned, there.returned, "the output")
    if not name.startswith(NUMBER) and form:
        return f"On {on} {form[0]} in every run; on {other} {form[1]}{'' if always else ' in some runs'}."
    if "NaN bits" in name:
        return f"{_upper(column_words(name))} is NaN in every run on {on}, and {never} on {other}."
    if name in here.columns and name.startswith(NUMBER):
        value = here.columns[name]
        drawn = "" if here.draws else " The function draws nothing from rng here."
        return f"{_upper(column_words(name))} is {value:.10g} in every run on {on}, and {never} on {other}.{drawn}"
    return f"{_upper(column_words(name))} takes a value or form in every run on {on} that it takes {never} on {other}."


def _form_words(here: Any, there: Any, name: str) -> tuple[str, str] | None:
    """Return what is special about the form of two outputs, in words; None where it is in no simple part of them."""
    here, there = (value[0] if isinstance(value, list) and len(value) == 1 else value for value in (here, there))
    if type(here) is not type(there):
        return f"{name} is of type {type(here).__name__}", f"it is of type {type(there).__name__}"
    if isinstance(here, Mapping):
        keys = list(here), list(there)
        if set(keys[0]) != set(keys[1]):
            more = [str(key) for key in keys[0] if key not in there]
            less = [str(key) for key in keys[1] if key not in here]
            words = f"{'has' if more else 'lacks'} the key {(more or less)[0]!r}"
            return f"{name} {words}", f"it {'does not' if more else 'has it'}"
        if keys[0] != keys[1]:
            return f"the keys of {name} are in the order {keys[0]!r:.60}", f"in the order {keys[1]!r:.60}"
        parts = (_form_words(here[key], there[key], repr(key)) for key in keys[0])
        return next((part for part in parts if part), None)
    if isinstance(here, np.ndarray | np.generic) and (here.shape, here.dtype) != (there.shape, there.dtype):
        return f"{name} is of type {here.dtype} and shape {here.shape}", f"{there.dtype} and {there.shape}"
    if isinstance(here, list | tuple | str) and len(here) != len(there):
        return f"{name} has length {len(here)}", f"length {len(there)}"
    if isinstance(here, list | tuple):
        entries = enumerate(zip(here, there, strict=True))
        parts = (_form_words(one, other, f"entry [{place}] of {name}") for place, (one, other) in entries)
        return next((part for part in parts if part), None)
    return (f"{name} is {here!r:.60}", f"{there!r:.60}") if isinstance(here, str) and here != there else None


def law_words(loss: SeenLoss, first: NoiseModel, second: NoiseModel) -> str:
    """Return in words what the seen laws of two data sets show, with the answers and the lines of code."""
    named = ", ".join(column_words(name) for name in loss.names[:_NAMED])
    named += f" and {len(loss.names) - _NAMED} more" if len(loss.names) > _NAMED else ""
    answers = [", ".join(f"{value:.6g}" for value in model.exact[:_NAMED]) for model in (first, second)]
    lines = f" (noise drawn at {', '.join(loss.sites[:_NAMED])})" if loss.sites else ""
    total = "is not bounded" if isinf(loss.epsilon) else f"is {loss.epsilon:.4g}"
    return (
        f"{_upper(named)}: {loss.cause}{lines}. Without noise: {answers[0]} on {SIDES[0]}, {answers[1]} on {SIDES[1]}. "
        f"By the law of the draws the privacy loss {total}."
    )


def _upper(words: str) -> str:
    """Return a sentence with a capital first letter."""
    return words[:1].upper() + words[1:]
