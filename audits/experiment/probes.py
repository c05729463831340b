"""Probes of a user-supplied function before an audit: a few calls that show whether its runs are independent draws."""

import hashlib
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from audits.experiment.function_case import FunctionCase
from audits.outputs.calls import CallRaisedError, Raised, called, outcome
from audits.outputs.conversion import columns_of, columns_of_one, names_of
from audits.outputs.fields import NUMBER, Fields, stacked, taken
from audits.outputs.values import record
from dpaudit import DPAuditError
from dpaudit.model.mechanism import Array

_RUNS, _CALLS, _LEAST = 8, 30, 4
_SINGLES, _LARGE = 60, 256
_LEVEL = 1e-4
_SHUFFLES = 200
_PARTS = 16
_STREAM = 1_217


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Probed:
    """What the probes saw: the case as it must be run, remarks, and whether runs are independent draws.

    `sound` is false where they are not: then an audit that finds no violation is inconclusive. `repeatable` is false
    where the same random stream gave two outputs. `raised` names the exception that every probe of both sides raised.
    """

    case: FunctionCase
    remarks: tuple[str, ...] = ()
    sound: bool = True
    repeatable: bool = True
    raised: str = ""


@dataclass(slots=True)
class _Notes:
    """The remarks so far."""

    remarks: list[str] = field(default_factory=list[str])
    sound: bool = True
    repeatable: bool = True


def probe(case: FunctionCase, runs: int, seconds: float | None = None) -> Probed:
    """Return what a few calls of a function show, at most about 350 runs and an eighth of `runs`.

    The random streams are fixed and no audit uses them; no probe is counted.
    """
    notes = _Notes()
    before = _state_digests(case.neighbours)
    outcomes = [
        [outcome(case.run, data, _stream(side, number), seconds) for number in range(_LEAST)]
        for side, data in enumerate(case.neighbours)
    ]
    raised = [o.exception for side in outcomes for o in side if isinstance(o, Raised)]
    if len(raised) == 2 * _LEAST:
        return Probed(case=case, raised=raised[0], sound=False)
    alone = case.alone or bool(raised) or seconds is not None or _types_differ(outcomes)
    case = replace(case, alone=alone)
    if not raised:
        case = _examined(case, runs, notes)
    _compare_states(before, _state_digests(case.neighbours), notes)
    return Probed(case=case, remarks=tuple(notes.remarks), sound=notes.sound, repeatable=notes.repeatable)


def _examined(case: FunctionCase, runs: int, notes: _Notes) -> FunctionCase:
    """Examine streams and calls; return the case, run once a call where the runs of one call depend on each other."""
    data = case.neighbours[0]
    try:
        first, again, other = (_call(case, data, _stream(2, number), _RUNS) for number in (0, 0, 1))
        if not _equal(first, again):
            notes.repeatable = False
            notes.remarks.append("The same random stream gave two different outputs: the audit cannot be repeated.")
        elif _equal(first, other) and _varying(first):
            notes.sound = False
            notes.remarks.append(
                "The function ignores its random generator: two streams gave the same outputs. A seed fixed inside the "
                "function makes every call repeat the same noise; draw all noise from rng."
            )
            return case
        calls = min(_CALLS, runs // (8 * _RUNS))
        if case.alone or calls < _LEAST:
            return case
        batches = [_call(case, data, _stream(3, number), _RUNS) for number in range(calls)]
        singles = [_call(case, data, _stream(4, number), 1) for number in range(min(_SINGLES, runs // 32))]
        large = _call(case, data, _stream(6), min(_LARGE, runs // 8))
    except CallRaisedError:
        return replace(case, alone=True)
    case = _independent(case, batches, notes)
    if not case.alone and _laws_differ(large, stacked(singles)):
        notes.sound = False
        notes.remarks.append(
            f"The law of an output depends on n_runs: calls of one run and of {large.runs} runs differ. Each of the "
            "n_runs outputs must be an independent run of the algorithm; each run was a call of its own."
        )
        return replace(case, alone=True)
    return case


def _independent(case: FunctionCase, batches: list[Fields], notes: _Notes) -> FunctionCase:
    """Return the case, run once a call where the runs of one call depend on each other."""
    if all(not _varying(batch) for batch in batches) and _varying(stacked(batches)):
        notes.remarks.append(
            "The function draws its noise once a call, not once a run; each run was a call of its own."
        )
        return replace(case, alone=True)
    if _dependent(stacked(batches), len(batches)):
        notes.remarks.append("The runs of one call depend on each other; each run was a call of its own.")
        return replace(case, alone=True)
    return case


def _call(case: FunctionCase, data: Any, rng: np.random.Generator, n_runs: int) -> Fields:
    """Return the columns of one call."""
    return columns_of(called(case.run, data, rng, n_runs), n_runs)


def _stream(*key: int) -> np.random.Generator:
    """Return the random stream of one probe."""
    return np.random.default_rng([_STREAM, *key])


def _types_differ(outcomes: list[list[Any]]) -> bool:
    """Return whether the types or the names of single outputs vary, so that each run must be a call of its own."""
    kinds = set()
    for value in (value for side in outcomes for value in side if not isinstance(value, Raised)):
        fields = columns_of_one(value)
        kinds.add((float(fields["kind  call"][0, 0]), names_of(value)))
    return len(kinds) > 1


def _equal(first: Fields, second: Fields) -> bool:
    """Return whether two views are the same."""
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name], equal_nan=True) for name in first
    )


def _varying(fields: Fields) -> bool:
    """Return whether the outputs of the runs differ."""
    return not _equal(fields, taken(fields, np.zeros(fields.runs, dtype=int)))


def _dependent(fields: Fields, calls: int) -> bool:
    """Return whether runs of one call are more or less alike than runs of different calls, by a permutation test."""
    columns = _numbers(fields)
    if columns.shape[1] == 0:
        return False
    ranks = np.stack([_middle_ranks(column) for column in columns.T], axis=1)
    rng = _stream(5)
    seen = _between(ranks, calls)
    shuffled = np.stack([_between(ranks[rng.permutation(len(ranks))], calls) for _ in range(_SHUFFLES)])
    centre, spread = shuffled.mean(axis=0), shuffled.std(axis=0) + 1e-12
    return bool((np.abs(seen - centre) / spread > _sigmas(columns.shape[1])).any())


def _middle_ranks(values: Array) -> Array:
    """Return the rank of every value; equal values share the middle of their ranks."""
    ordered = np.sort(values)
    ranks: Array = (np.searchsorted(ordered, values, side="left") + np.searchsorted(ordered, values, side="right")) / 2
    return ranks


def _between(values: Array, calls: int) -> Array:
    """Return the variance between the means of the calls, column by column."""
    variance: Array = values.reshape(calls, -1, values.shape[1]).mean(axis=1).var(axis=0)
    return variance


def _laws_differ(first: Fields, second: Fields) -> bool:
    """Return whether two samples of outputs differ in law, by the Kolmogorov-Smirnov distance of each column."""
    left, right = _numbers(first), _numbers(second)
    if left.shape[1] != right.shape[1]:
        return True
    for one, two in zip(left.T, right.T, strict=True):
        points = np.concatenate([one, two])
        gaps = np.abs(
            np.searchsorted(np.sort(one), points, side="right") / len(one)
            - np.searchsorted(np.sort(two), points, side="right") / len(two)
        )
        runs = len(one) * len(two) / (len(one) + len(two))
        if 2 * np.exp(-2 * runs * gaps.max() ** 2) * left.shape[1] < _LEVEL:
            return True
    return False


def _numbers(fields: Fields) -> Array:
    """Return the number columns of a view, NaN as 0. Shape: (runs, columns)."""
    columns = [np.nan_to_num(fields[name]) for name in fields if name.startswith(NUMBER)]
    return np.concatenate(columns, axis=1) if columns else np.zeros((fields.runs, 0))


def _sigmas(columns: int) -> float:
    """Return how many standard deviations chance alone exceeds with probability below the level, for many columns."""
    return 6.0 + np.log10(columns)


def _state_digests(neighbours: Any) -> dict[str, str]:
    """Return digests of the global generators of Python, numpy and torch, and of the data."""
    states: dict[str, Callable[[], Any]] = {
        "Python's global generator": random.getstate,
        "numpy's global generator": np.random.get_state,
        "the data": lambda: neighbours,
    }
    if "torch" in sys.modules:
        states["torch's global generator"] = lambda: sys.modules["torch"].get_rng_state().tolist()
    return {name: _digest(state()) for name, state in states.items()}


def _digest(state: Any) -> str:
    """Return a digest of a state; an empty text for one that cannot be read."""
    if isinstance(state, np.ndarray) and not state.dtype.hasobject:
        return hashlib.sha256(np.ascontiguousarray(state).tobytes()).hexdigest()
    if isinstance(state, list | tuple) and len(state) < _PARTS:
        return " ".join(map(_digest, state))
    try:
        return repr(sorted(record(state).items()))
    except DPAuditError:
        return ""


def _compare_states(before: dict[str, str], after: dict[str, str], notes: _Notes) -> None:
    """Note which global states the function changed."""
    for name, digest in before.items():
        if digest == after[name]:
            continue
        if name == "the data":
            notes.sound = False
            notes.remarks.append("The function changes the data that it is given: later runs depend on earlier ones.")
        else:
            notes.repeatable = False
            notes.remarks.append(f"The function draws from {name}, not from rng: the seed does not repeat the audit.")
