"""The event of an output that tells two data sets apart best, in the output's own names, with counts of fresh runs."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import inf, log
from typing import Any

import numpy as np

from audits.bounds.binomial import proportion_lower, proportion_upper
from audits.experiment.own_values import OWN, own_values
from audits.outputs.calls import OUTCOME, Raised, outcome, row_of
from audits.outputs.fields import NUMBER, stacked
from audits.replay.words import SIDES, column_words, form_words, value_words
from dpaudit import DPAuditError
from dpaudit.model.case import Run
from dpaudit.model.mechanism import Array

_MOST_RUNS, _SHARE, _COLUMNS = 400, 8, 256
"""Fresh runs of each data set: an eighth of those of the audit, and so many at most."""

_VALUES, _CUTS = 6, 16
"""A column with more distinct values than the first is cut at so many quantiles."""

_LEVEL = 0.01
_JOINED, _MORE = 48, 0.3
"""So many events are joined in pairs; a pair is named where its logarithm is larger by so much."""

_OWN_WORDS = "the output holds a value that only"

_Event = tuple[str, Array]
"""What happens in words, and in which runs."""


def telling_event(
    run: Run, pair: tuple[Any, Any], rng: np.random.Generator, *, audited: int, seconds: float | None = None
) -> str:
    """Return a sentence on the event of one column that parts two data sets most, on at most 400 fresh runs of each.

    Where none is seen to part them, it says in how many runs the output holds a value that one data set alone has.

    An audit of `audited` runs affords an eighth of them for each data set.

    It explains what an attack found, and decides nothing. Empty where no event is seen, or outputs cannot be read.

    >>> def count(data, rng, n_runs):
    ...     return data + rng.integers(0, 2, n_runs)
    >>> telling_event(count, (5, 6), np.random.default_rng(0), audited=20_000)
    'The output = 7: 0 of 400 fresh runs on the first data set, 206 of 400 on the second.'
    """
    runs = min(_MOST_RUNS, audited // _SHARE)
    returned = [outcome(run, data, stream, seconds) for data in pair for stream in rng.spawn(runs)]
    try:
        fields = own_values(pair).beside(stacked([row_of(output) for output in returned]))
    except (DPAuditError, ValueError, TypeError):
        return ""
    columns = [(name, index) for name, column in fields.items() for index in range(column.shape[1])]
    columns.sort(key=lambda column: not column[0].startswith(OWN))
    events = [
        event
        for name, index in sorted(columns[:_COLUMNS], key=_importance)
        for event in _events(
            name if fields[name].shape[1] == 1 else f"{name}[{index}]", fields[name][:, index], returned
        )
    ]
    named = _named(events)
    if named is None:
        return ""
    words, happens = named
    counts = int(happens[:runs].sum()), int(happens[runs:].sum())
    return (
        f"{words[:1].upper()}{words[1:]}: {counts[0]} of {runs} fresh runs on the first data set, {counts[1]} of "
        f"{runs} on the second."
    )


def _named(events: Sequence[_Event]) -> _Event | None:
    """Return the event that parts the data sets most; else that of a value that one of them alone has, if any."""
    best = max(events, key=_telling, default=None)
    both = max(map(_both, combinations(events[:_JOINED], 2)), key=_telling, default=best)
    if best is None or both is None:
        return None
    if max(_telling(best), _telling(both)) <= 0:
        return next((event for event in events if event[0].startswith(_OWN_WORDS) and event[1].any()), None)
    return both if _telling(both) > _telling(best) + _MORE else best


def _both(pair: tuple[_Event, _Event]) -> _Event:
    """Return the event that both of two happen."""
    (first_words, first), (second_words, second) = pair
    return f"{first_words} and {second_words}", first & second


def _importance(column: tuple[str, int]) -> tuple[bool, bool, int, int]:
    """Order columns: the outcome first, then numbers, the whole before its parts."""
    name, index = column
    return name != OUTCOME, not name.startswith(NUMBER), len(name), index


def _telling(event: _Event) -> float:
    """Return the logarithm of the ratio that the counts of an event show, the larger over the smaller."""
    runs = len(event[1]) // 2
    counts = event[1][:runs].sum(), event[1][runs:].sum()
    low = float(proportion_lower(max(counts), runs, _LEVEL))
    return log(low / float(proportion_upper(min(counts), runs, _LEVEL))) if low > 0 else -inf


def _events(name: str, column: Array, returned: list[Any]) -> Iterator[_Event]:
    """Yield what may happen in one column."""
    where = column_words(name)
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    number = name.startswith(NUMBER)
    if number and np.isnan(column).any():
        yield f"{where} is missing or no number", np.isnan(column)
    if number and len(values) > _VALUES:
        for cut in np.unique(np.quantile(values, np.arange(1, _CUTS) / _CUTS, method="nearest")):
            yield f"{where} is below {value_words(name, cut)}", column < cut
            yield f"{where} is at least {value_words(name, cut)}", column >= cut
    if name.startswith(OWN):
        values, counts = values[values > 0], counts[values > 0]
    for value in values[np.argsort(-counts, kind="stable")][:_VALUES]:
        happens = column == value
        if number:
            yield f"{where} = {value_words(name, value, 10)}", happens
        else:
            shown, other = returned[int(np.argmax(happens))], returned[int(np.argmin(happens))]
            yield _words(name, where, shown, other), happens


def _words(name: str, where: str, shown: Any, other: Any) -> str:
    """Return in words that a run ends as an example does, or has its form or category, which `other` has not."""
    if name.startswith(OWN):
        return f"{_OWN_WORDS} {SIDES[int(name[-1])]} has"
    if name == OUTCOME:
        return f"the function raises {shown.exception}" if isinstance(shown, Raised) else "the function returns"
    form = form_words(shown, other)
    return (
        form[0] if form else f"{where} has the form or the category that it has in {' '.join(repr(shown).split()):.80}"
    )
