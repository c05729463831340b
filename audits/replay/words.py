"""The words of what replays show: the event in the output's own names, and where noise was drawn."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from math import isinf
from typing import Any

import numpy as np

from audits.outputs.calls import OUTCOME
from audits.outputs.fields import MOMENT, NUMBER
from audits.replay.conditions import WHOLE_OUTPUT, Condition
from audits.replay.coupled_runs import Shown
from audits.replay.decided_laws import Decided
from audits.replay.noise_model import NoiseModel
from audits.replay.one_call import Call
from audits.replay.seen_law import SeenLoss

_NAMED = 3
_LONG, _BEFORE, _SHOWN = 50, 20, 60
"""Of longer texts what is said begins so few letters before they part, and ends after so many."""

_EQUAL = 0.05
"""Moves that differ by this share may be equal ones that were rounded."""

_MOST_MICROSECONDS = 6e16
"""Beyond so many microseconds since 1970 no date is written."""

SIDES = "the first data set", "the second data set"


def column_words(name: str) -> str:
    """Return the name of a column as the name of a part of the output.

    >>> column_words("number .total"), column_words("number [2]"), column_words("number #0 rest")
    ("'total'", 'entry [2] of the output', 'number 1 of the text')
    >>> column_words("number .case#1")
    "number 2 of 'case'"
    >>> column_words("number .columns.age[3]")
    "row 3 of the column 'age'"
    """
    number, times, factor = name.partition(" times ")
    if times:
        return f"{column_words(number)} times {factor}"
    path = name.partition(" ")[2].lstrip(".").replace(" NaN bits", "").replace("NaN bits", "")
    path = path.removesuffix(" text").removesuffix("length").removesuffix(MOMENT).strip()
    if match := re.fullmatch(r"(.*)#(\d+)(?: \w+)?", path):
        return f"number {int(match[2]) + 1} of {column_words(f'{NUMBER}.{match[1]}') if match[1] else 'the text'}"
    if cell := re.fullmatch(r"columns\.([^.\[]+)(?:\[(\d+)\])?.*", path):
        row = f"row {cell[2]} of " if cell[2] else ""
        return f"{row}the column '{cell[1]}'"
    if path.startswith("["):
        return f"entry {path} of the output"
    return f"'{path}'" if path else "the output"


def value_words(name: str, value: float, digits: int = 6) -> str:
    """Return the value of a number as it stands in a sentence: a date for microseconds since 1970.

    >>> value_words("number .total", 2 / 3), value_words("number .opened since 1970", 1.7e15)
    ('0.666667', '2023-11-14 22:13:20')
    """
    if name.endswith(MOMENT) and abs(value) < _MOST_MICROSECONDS:
        moment = datetime(1970, 1, 1) + timedelta(microseconds=value)  # noqa: DTZ001 - as the output has it
        return str(moment).removesuffix(" 00:00:00")
    return f"{value:.{digits}g}"


def event_words(name: str, here: Call, there: Call, side: int, *, always: bool) -> str:
    """Return in words an event that runs of one data set show in a column.

    `always` says that all of them do, and none of the other data set; else some of these do not, as `there`.
    """
    on, other = SIDES[side], SIDES[1 - side]
    where = f"in every run on {on}, and in no run on {other}" if always else f"more often on {on} than on {other}"
    if name == OUTCOME:
        ends, instead = (f"raises {call.raised}" if call.raised else "returns" for call in (here, there))
        if always:
            return f"The function {ends} in every run on {on}, and {instead} in every run on {other}."
        return f"The function {ends} {where}, where it {instead} too."
    form = form_words(here.returned, there.returned)
    if not name.startswith(NUMBER) and form:
        if always:
            return f"On {on} {form[0]} in every run; on {other} {form[1]}."
        return f"More often on {on} than on {other} {form[0]}; else {form[1]}."
    if "NaN bits" in name:
        return f"{_upper(column_words(name))} is NaN {where}."
    if name in here.columns and name.startswith(NUMBER):
        value = here.columns[name]
        drawn = "" if here.draws else " The function draws nothing from rng here."
        return f"{_upper(column_words(name))} is {value_words(name, value, 10)} {where}.{drawn}"
    return f"{_upper(column_words(name))} has one value or form {where}."


def reach_words(name: str, near: Call, wanted: Call, side: int) -> str:
    """Return in words that no noise that was found on data set `side` gives an output of the other one.

    The nearest output differs in the column `name`.
    """
    form = form_words(wanted.returned, near.returned)
    if wanted.raised or near.raised:
        form = f"the function ends with {wanted.raised or 'an output'}", f"it ends with {near.raised or 'an output'}"
    elif name.startswith(NUMBER):
        ours, theirs = (call.column(name) for call in (wanted, near))
        form = (
            f"{column_words(name)} is {value_words(name, ours)}",
            f"{column_words(name)} is {value_words(name, theirs)}",
        )
    elif form is None:
        form = f"{column_words(name)} has a type or form", "it has another one"
    on, other = SIDES[1 - side], SIDES[side]
    how = ", as through a mean without noise, or through noise that is rounded before it is added"
    return (
        f"In some runs on {on} {form[0]}. No noise that a search found gives such an output on {other}: where the "
        f"numbers come closest, {form[1]}. So exact data enter the output beside its noise, there or in another part"
        f"{how if name.startswith(NUMBER) else ''}."
    )


def form_words(here: Any, there: Any) -> tuple[str, str] | None:
    """Return what is special about the form of two outputs, in words; None where it is in no simple part of them.

    >>> form_words({"town": "Uri"}, {"town": "Genf"})
    ("'town' is 'Uri'", "it is 'Genf'")
    >>> form_words({"types": np.array(["str, " * 12 + "int"])}, {"types": np.array(["str, " * 12 + "float"])})
    ("'types' is '… str, str, str, str, int'", "it is '… str, str, str, str, float'")
    >>> form_words("yes" * 21, "no")[0]
    "the output is 'yesyesyesyesyesyesyesyesyesyesyesyesyesyesyesyesyesyesyesyes …'"
    """
    first, second = (value[0] if isinstance(value, list) and len(value) == 1 else value for value in (here, there))
    return _form_words(first, second, "the output")


def _form_words(here: Any, there: Any, name: str) -> tuple[str, str] | None:
    """Return what is special about the form of two parts of an output called `name`."""
    here, there = (_parts(value) for value in (here, there))
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
            return f"the keys of {name} are in the order {keys[0]!r:.60}", f"they are in the order {keys[1]!r:.60}"
        return _first_part((here[key], there[key], repr(key)) for key in keys[0])
    if _other_texts(here, there):
        first, second = (value.item() if value.size == 1 else value.tolist() for value in (here, there))
        return _form_words(first, second, name)
    if isinstance(here, np.ndarray | np.generic) and (here.shape, here.dtype) != (there.shape, there.dtype):
        words = f"{name} is of type {here.dtype} and shape {here.shape}"
        return words, f"it is of type {there.dtype} and shape {there.shape}"
    if isinstance(here, list | tuple):
        if len(here) != len(there):
            return f"{name} has length {len(here)}", f"it has length {len(there)}"
        entries = enumerate(zip(here, there, strict=True))
        return _first_part((left, right, f"entry [{index}] of {name}") for index, (left, right) in entries)
    return _text_words(here, there, name) if isinstance(here, str) and here != there else None


def _text_words(here: str, there: str, name: str) -> tuple[str, str]:
    """Return two texts, of long ones what stands where they part."""
    like = "reads like" if any(letter.isdigit() for letter in here) else "is"
    alike = next((index for index, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), 0)
    start = max(0, alike - _BEFORE) if max(len(here), len(there)) > _LONG else 0
    excerpts = (f"… {text[start:].strip()}" if start else text for text in (here, there))
    left, right = (text if len(text) <= _SHOWN else f"{text[:_SHOWN].strip()} …" for text in excerpts)
    return f"{name} {like} {left!r}", f"it {like} {right!r}"


def _other_texts(here: Any, there: Any) -> bool:
    """Return whether two arrays of one shape hold texts, and not the same ones."""
    if not isinstance(here, np.ndarray | np.generic) or here.dtype.kind != "U" or there.dtype.kind != "U":
        return False
    return bool(here.shape == there.shape and not np.array_equal(here, there))


def _first_part(parts: Iterable[tuple[Any, Any, str]]) -> tuple[str, str] | None:
    """Return what is special about the first of some parts whose form differs."""
    return next((words for words in (_form_words(*part) for part in parts) if words), None)


def _parts(value: Any) -> Any:
    """Return the index and the columns of a pandas frame or series by name; any other value as it is."""
    if not hasattr(value, "index") or not hasattr(value, "to_numpy"):
        return value
    columns = value.items() if value.ndim > 1 else [("values", value)]
    return {"index": list(value.index)} | {str(name): list(column) for name, column in columns}


def drawn_words(names: Sequence[str], quiet: Sequence[Call], loud: Sequence[Call]) -> str:
    """Return in words what enters the numbers: their answers without additive noise, and the draws of a run.

    `quiet` holds one call without noise on each data set, `loud` several with it. Empty where nothing is drawn.
    """
    kinds: dict[tuple[str, str], list[float]] = {}
    for draw in (draw for call in loud for draw in call.draws):
        kinds.setdefault((draw.law, draw.site), []).extend(np.unique(draw.scale).tolist())
    if not kinds:
        return ""
    draws = [f"{law}{_between(scales, ' of scale ')} at {site}" for (law, site), scales in list(kinds.items())[:_NAMED]]
    numbers = [len(call.draws) for call in loud]
    times = f"{_between(numbers, '')} draws a run" if max(numbers) > 1 else "one draw a run"
    varied = ", and how many differs from run to run" if min(numbers) < max(numbers) else ""
    answers = [
        f"{column_words(name)} is {_both(name, [call.numbers[name] for call in quiet])}"
        for name in list(names)[:_NAMED]
    ]
    additive = answers and any(len(call.noise) for call in loud)
    without = f" Without additive noise {', '.join(answers)}." if additive else ""
    return f"Drawn from rng: {', '.join(draws)}; {times}{varied}.{without}"


def _both(name: str, numbers: Sequence[float]) -> str:
    """Return a number of each data set in words."""
    return " and ".join(f"{value_words(name, number)} on {side}" for number, side in zip(numbers, SIDES, strict=True))


def _between(numbers: Sequence[float], begins: str) -> str:
    """Return the smallest and the largest number in words; nothing where there are none."""
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    return f"{begins}{low:.4g}" + (f" to {high:.4g}" if low < high else "")


def law_words(loss: SeenLoss, first: NoiseModel, second: NoiseModel) -> str:
    """Return in words what the seen laws of two data sets show, with the answers and the lines of code."""
    named = ", ".join(column_words(name) for name in loss.names[:_NAMED])
    named += f" and {len(loss.names) - _NAMED} more" if len(loss.names) > _NAMED else ""
    answers = [", ".join(map(value_words, loss.names[:_NAMED], model.exact)) for model in (first, second)]
    lines = f" (noise drawn at {', '.join(loss.sites[:_NAMED])})" if loss.sites else ""
    total = "is not bounded" if isinf(loss.epsilon) else f"is {loss.epsilon:.4g}"
    return (
        f"{_upper(named)}: {loss.cause}{lines}. Without noise: {answers[0]} on {SIDES[0]}, {answers[1]} on {SIDES[1]}. "
        f"By the law of the draws {_measured_words(loss) or f'the privacy loss {total}'}."
    )


def coupled_words(shown: Shown) -> str:
    """Return in words which outputs coupled runs show too often, and which noise decides them."""
    coupling = shown.coupled.coupling
    moved = np.flatnonzero(coupling.shift)
    moved = moved[moved < len(shown.example.scales)]
    sites = [draw.site for draw in shown.example.draws for _ in draw.noise]
    lines = list(dict.fromkeys(sites[index] for index in moved))
    total = float(np.abs(coupling.shift[moved] / shown.example.scales[moved]).sum())
    named = list(dict.fromkeys(column_words(condition.name) for condition in shown.coupled.conditions))
    value = shown.example.returned
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    like = f"{', '.join(named[:_NAMED])}: outputs like" if named else "Outputs like"
    shares = np.clip(shown.shares, 0.0, 1.0)  # they are estimated
    chances = " and ".join(f"{share:.3g} on {side}" for share, side in zip(shares, SIDES, strict=True))
    like = f"{_upper(like)} {' '.join(repr(value).split()):.60} have probability {chances}."
    if not len(moved):
        lines = list(dict.fromkeys(draw.site for draw in shown.example.weighed.values()))
        why = "The data move the probabilities of a draw that far, or what it chooses among"
        return f"{like} {why} (drawn at {', '.join(lines[:_NAMED])})."
    moves = f"{len(moved)} draws of noise move in all by {total:.3g} times their scales"
    moves = f"one draw of noise moves by {total:.3g} times its scale" if len(moved) == 1 else moves
    return (
        f"{like} Where {moves}, one data set gives the outputs of the other (noise drawn at "
        f"{', '.join(lines[:_NAMED])})."
    )


def decided_words(event: Decided) -> str:
    """Return in words an event that one number decides, with its probabilities and the line that draws it."""
    parts, sites = event.models[0].parts, ", ".join(event.loss.sites[:_NAMED])
    chances = " and ".join(
        f"{together.share:.3g} on {side}" for together, side in zip(event.models, SIDES, strict=True)
    )
    named = [_condition_words(part.condition, event.example) for part in parts[:_NAMED]]
    shown = _upper(" and ".join([*named, *([f"{len(parts) - _NAMED} more such events"] if parts[_NAMED:] else [])]))
    decide = "One draw of {} at {} decides it" if len(parts) == 1 else f"{len(parts)} draws of {{}} at {{}} decide it"
    return f"{shown} with probability {chances}. {decide.format(event.loss.cause, sites)}."


def effect_words(name: str, quiet: Sequence[Call], loud: Sequence[Call]) -> str:
    """Return in words how far equal draws move a number on two data sets; empty where they move it equally far."""
    both = [
        (low.numbers[name], high.numbers[name])
        for low, high in zip(quiet, loud, strict=True)
        if name in low.numbers and name in high.numbers
    ]
    moves = [high - low for low, high in both]
    if len(moves) < 2 or not np.isfinite(moves).all() or abs(moves[0] - moves[1]) <= _EQUAL * max(map(abs, moves)):
        return ""
    far = " and ".join(f"by {move:.3g} on {side}" for move, side in zip(moves, SIDES, strict=True))
    return f" Equal draws move {column_words(name)} {far}."


def _condition_words(condition: Condition, example: Call) -> str:
    """Return a condition in words; of a value that is no number, an output with it."""
    name = column_words(condition.name)
    if condition.values and condition.name.startswith(NUMBER):
        values = sorted(condition.values)
        return f"{name} is {' or '.join(value_words(condition.name, value, 10) for value in values[:_NAMED])}"
    if condition.values or condition.name == WHOLE_OUTPUT:
        value = example.returned
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
        return f"the output is {' '.join(repr(value).split()):.60} or like it in {name}"
    return (
        f"{name} is at least {value_words(condition.name, condition.low)}"
        if isinf(condition.high)
        else f"{name} is at most {value_words(condition.name, condition.high)}"
    )


def _measured_words(loss: SeenLoss) -> str:
    """Return how far a law is beyond the numbers of a claim in its own measure; empty where it keeps them."""
    beyond = [number for number in loss.numbers if number.refuted]
    kinds = {"renyi": "Renyi divergence of order {:g}", "profile": "delta at epsilon {:g}"}
    named = [(kinds.get(loss.measure, loss.measure).format(number.at), number) for number in beyond[:_NAMED]]
    return "; ".join(f"{name} is at least {row.lower:.4g}, and the claim says {row.claimed:.4g}" for name, row in named)


def _upper(words: str) -> str:
    """Return a sentence with a capital first letter."""
    return words[:1].upper() + words[1:]
