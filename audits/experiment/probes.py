"""Probes of the code of a case before an audit: a few calls that show whether its runs are independent draws."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from audits.experiment.digests import digest_of
from audits.experiment.forms import precision_apart, rounded_by_data, types_apart
from audits.experiment.global_generators import global_states
from audits.experiment.published_seeds import published_seeds
from audits.experiment.unseen import unseen_outputs
from audits.outputs.calls import CallRaisedError, Raised, called, outcome
from audits.outputs.conversion import carried_columns, columns_of, columns_of_one, names_of
from audits.outputs.fields import NUMBER, Fields, stacked, taken
from dpaudit import AuditCase, DPAuditError
from dpaudit.model.mechanism import Array

_RUNS, _CALLS, _LEAST, _CONFIRMED = 8, 30, 4, 64
_SINGLES, _LARGE = 60, 256
_LEVEL = 1e-4
_NAMED = 3
_STREAM = 1_217


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Probed:
    """What the probes saw: the case as it must be run, remarks, and whether runs are independent draws.

    `sound` is false where they are not: then an audit that finds no violation is inconclusive. `repeatable` is false
    where the same random stream gave two outputs, `shared` true where one draw of noise serves all runs of a call, and
    `rounded` true where noise is rounded after data are added, so that last bits may show them. `raised` says what
    was raised first, where every probe of both sides raised.
    """

    case: AuditCase
    remarks: tuple[str, ...] = ()
    sound: bool = True
    repeatable: bool = True
    shared: bool = False
    rounded: bool = False
    raised: str = ""

    @property
    def nothing_released(self) -> str:
        """The remark where every probe of both sides raised."""
        text = " ".join(self.raised.split())
        return f"Every run on both data sets raised an exception ({text:.200}): nothing was released to attack."


@dataclass(slots=True)
class _Notes:
    """The remarks so far."""

    remarks: list[str] = field(default_factory=list[str])
    sound: bool = True
    repeatable: bool = True
    shared: bool = False

    def unsound(self, remark: str) -> None:
        """Note why runs are no independent draws, or what the data show beside them."""
        self.sound = False
        self.remarks.append(remark)


def probe(case: AuditCase, runs: int, seconds: float | None = None) -> Probed:
    """Return what a few calls of a function show, at most about 500 runs and an eighth of `runs`.

    120 runs more are made for each channel beside the output that follows the data. The random streams are fixed and no
    audit uses them; no probe is counted.
    """
    notes = _Notes()
    before = _states(case.neighbours)
    outcomes = [
        [outcome(case.run, data, _stream(side, number), seconds) for number in range(_LEAST)]
        for side, data in enumerate(case.neighbours)
    ]
    raised = [o.says for side in outcomes for o in side if isinstance(o, Raised)]
    if len(raised) == 2 * _LEAST:
        return Probed(case=case, raised=raised[0], sound=False)
    case = replace(case, alone=case.alone or bool(raised) or seconds is not None)
    case = _read(case, outcomes, 0 if raised else runs, notes)
    _compare_forms(case, outcomes, runs // (64 if case.alone else 8), notes)
    _compare_states(case, before, seconds, notes)
    _look_beside(case, runs, seconds, notes)
    return Probed(
        case=case,
        remarks=tuple(notes.remarks),
        sound=notes.sound,
        repeatable=notes.repeatable,
        shared=notes.shared,
        rounded=not (raised or case.alone) and rounded_by_data(case.run, case.neighbours, runs // 8),
    )


def _read(case: AuditCase, outcomes: list[list[Any]], runs: int, notes: _Notes) -> AuditCase:
    """Read the outputs and, for `runs` above 0, examine streams and calls; return the case as it must be run."""
    try:
        case = replace(case, alone=case.alone or _types_differ(outcomes))
        return _examined(case, runs, notes) if runs else case
    except DPAuditError as error:
        if case.score is None:
            raise
        said = " ".join(str(error).split())
        notes.remarks.append(
            f"Not all outputs could be read before the audit, so that draws were not compared: {said:.120}"
        )
        return case


def _look_beside(case: AuditCase, runs: int, seconds: float | None, notes: _Notes) -> None:
    """Note channels beside the output that follow the data, and seeds of noise among the outputs."""
    further = min(_SINGLES, runs // 64) if case.alone else 0
    unseen = unseen_outputs(case.run, case.neighbours, seconds, calls=further)
    if unseen:
        notes.unsound(
            f"The data show in {' and in '.join(unseen)}, which no attack reads: return what it holds as an output, or "
            "leave it out."
        )
    seeded = published_seeds(case.run, case.neighbours, seconds)
    if seeded:
        notes.unsound(
            "The outputs hold the seed of a generator that the function makes. With that seed "
            f"{_listed(seeded)} follows from the data alone: whoever sees the seed can take its noise away. Do not "
            "publish seeds of noise."
        )


def _compare_forms(case: AuditCase, outcomes: list[list[Any]], runs: int, notes: _Notes) -> None:
    """Note numbers whose type or precision follows the data."""
    named = types_apart(outcomes)
    if named or precision_apart(case.run, case.neighbours, runs):
        where = f"the type of {' and '.join(named[:_NAMED])}" if named else "how many bits the numbers use"
        notes.unsound(
            f"The data show in {where}, which no noise covers: return numbers of one type and precision on all data."
        )


def _listed(names: tuple[str, ...]) -> str:
    """Return the names of outputs as words; that of the only output is empty."""
    return " and ".join(repr(name.lstrip(".")) if name.lstrip(".") else "the output" for name in names[:_NAMED])


def _examined(case: AuditCase, runs: int, notes: _Notes) -> AuditCase:
    """Examine streams and calls; return the case, run once a call where the runs of one call depend on each other."""
    data = case.neighbours[0]
    try:
        first, again, other = (_call(case, data, _stream(2, number), _RUNS) for number in (0, 0, 1))
        if not _equal(first, again):
            notes.repeatable = False
            notes.remarks.append("The same random stream gave two different outputs: the audit cannot be repeated.")
        elif _equal(first, other) and _varying(first) and _repeats(case, data):
            notes.unsound(
                "The function ignores its random generator: two streams gave the same outputs. A seed fixed inside the "
                "function makes every call repeat the same noise; draw all noise from rng."
            )
            return case
        calls = min(_CALLS, runs // (8 * _RUNS))
        if case.alone or calls < _LEAST:
            return case
        batches = _calls(case, data, _stream(3), [_RUNS] * calls)
        singles = _calls(case, data, _stream(4), [1] * min(_SINGLES, runs // 32))
        large = _call(case, data, _stream(6), min(_LARGE, runs // 8))
    except CallRaisedError:
        return replace(case, alone=True)
    case = _independent(case, batches, calls, notes)
    if not case.alone and _laws_differ(large, singles):
        notes.unsound(
            f"The law of an output depends on n_runs: calls of one run and of {large.runs} runs differ. Each of the "
            "n_runs outputs must be an independent run of the algorithm; each run was a call of its own."
        )
        return replace(case, alone=True)
    return case


def _repeats(case: AuditCase, data: Any) -> bool:
    """Return whether two more streams give the same outputs: eight yes-or-no answers are often equal by chance."""
    first, other = (_call(case, data, _stream(7, number), _CONFIRMED) for number in range(2))
    return _equal(first, other)


def _independent(case: AuditCase, batches: Fields, calls: int, notes: _Notes) -> AuditCase:
    """Return the case, run once a call where the runs of one call depend on each other."""
    firsts = np.repeat(np.arange(calls) * _RUNS, _RUNS)
    if _equal(batches, taken(batches, firsts)) and _varying(batches):
        notes.shared = True
        notes.remarks.append(
            "The function draws its noise once a call, not once a run; each run was a call of its own."
        )
        return replace(case, alone=True)
    if _dependent(batches, calls):
        notes.remarks.append("The runs of one call depend on each other; each run was a call of its own.")
        return replace(case, alone=True)
    return case


def _calls(case: AuditCase, data: Any, rng: np.random.Generator, sizes: list[int]) -> Fields:
    """Return the columns of several calls on one random stream."""
    return stacked([_call(case, data, rng, size) for size in sizes])


def _call(case: AuditCase, data: Any, rng: np.random.Generator, n_runs: int) -> Fields:
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
        carried = carried_columns(value)
        numbers = tuple(carried[name].tobytes() for name in sorted(carried))
        kinds.add((float(fields["kind  call"][0, 0]), names_of(value), tuple(sorted(carried)), numbers))
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
    """Return whether runs of one call are more alike than runs of different calls, by the variance between calls.

    The ranks of independent runs give about a chi-squared variable with `calls - 1` degrees of freedom.
    """
    columns = _numbers(fields)
    if columns.shape[1] == 0:
        return False
    ranks = np.stack([_middle_ranks(column) for column in columns.T], axis=1)
    spread = ranks.var(axis=0, ddof=1) + 1e-300
    excess = len(ranks) * _between(ranks, calls) / spread - (calls - 1)
    return bool((np.abs(excess) / np.sqrt(2.0 * (calls - 1)) > _sigmas(columns.shape[1])).any())


def _middle_ranks(values: Array) -> Array:
    """Return the rank of every value; equal values share the middle of their ranks."""
    ordered = np.sort(values)
    return (np.searchsorted(ordered, values, side="left") + np.searchsorted(ordered, values, side="right")) / 2


def _between(values: Array, calls: int) -> Array:
    """Return the variance between the means of the calls, column by column."""
    return values.reshape(calls, -1, values.shape[1]).mean(axis=1).var(axis=0)


def _laws_differ(first: Fields, second: Fields) -> bool:
    """Return whether two samples of outputs differ in law, by the Kolmogorov-Smirnov distance of each column."""
    left, right = _numbers(first), _numbers(second)
    if left.shape[1] != right.shape[1]:
        return True
    for ours, theirs in zip(left.T, right.T, strict=True):
        points = np.concatenate([ours, theirs])
        gaps = np.abs(
            np.searchsorted(np.sort(ours), points, side="right") / len(ours)
            - np.searchsorted(np.sort(theirs), points, side="right") / len(theirs)
        )
        runs = len(ours) * len(theirs) / (len(ours) + len(theirs))
        if 2 * np.exp(-2 * runs * gaps.max() ** 2) * left.shape[1] < _LEVEL:
            return True
    return False


def _numbers(fields: Fields) -> Array:
    """Return the number columns of a view, NaN as 0. Shape: (runs, columns)."""
    columns = [np.nan_to_num(fields[name]) for name in fields if name.startswith(NUMBER)]
    return np.concatenate(columns, axis=1) if columns else np.zeros((fields.runs, 0))


def _sigmas(columns: int) -> float:
    """Return how many standard deviations chance alone exceeds with probability below the level, for many columns."""
    return 6.0 + float(np.log10(columns))


def _states(neighbours: Any) -> dict[str, Any]:
    """Return the states of the global generators, and a digest of the data."""
    return {**global_states(), "the data": _digest(neighbours)}


def _digest(data: Any) -> str:
    """Return a digest of data; an empty text for what cannot be read."""
    try:
        return digest_of(data)
    except DPAuditError:
        return ""


def _compare_states(case: AuditCase, before: dict[str, Any], seconds: float | None, notes: _Notes) -> None:
    """Note which global states the function changed; not those that it sets by its own random stream."""
    after = _states(case.neighbours)
    changed = [name for name, digest in before.items() if digest != after[name]]
    again = []
    for _ in range(2 if set(changed) - {"the data"} else 0):
        outcome(case.run, case.neighbours[0], _stream(0, 0), seconds)
        again.append(_states(case.neighbours))
    for name in changed:
        if name != "the data" and again[0][name] == again[1][name]:
            continue
        if name == "the data":
            notes.unsound("The function changes the data that it is given: later runs depend on earlier ones.")
        else:
            notes.repeatable = False
            notes.remarks.append(f"The function draws from {name}, not from rng: the seed does not repeat the audit.")
