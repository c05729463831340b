"""The audit of a synthesizer: membership decides against its claim, disclosure risks stand beside it.

audit_synthesizer(fit_and_sample, data, claim, runs=2_000, rng=rng)
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from audits.experiment.settings import PLAIN, Settings, generator_of
from audits.outputs.calls import Raised, outcome
from audits.procedures.anytime import Stop
from audits.procedures.audit import audit
from audits.replay.record_values import categories_of, index_of, numbers_of
from audits.replay.records import records_of
from audits.synthetic.columns import plain, table_columns
from audits.synthetic.disclosure import disclosure_risks
from audits.synthetic.view import Synthetic, TableView, table_statistics, table_view
from dpaudit import AuditResult, Claim
from dpaudit.model.synthesizer_result import SynthesizerResult

_MOST = 8


def target_records(data: Any, other: Any = None) -> Any:
    """Return at most eight records of a data set, in its form: those that `other` lacks first, then telling ones.

    >>> target_records([(1, "a"), (1, "b"), (1, "a")], [(1, "a"), (1, "a")])[0]
    (1, 'b')
    """
    columns = table_columns(data)
    by_column = [list(_telling(values)) for values in columns.values()]
    telling = [row for rows in zip_longest(*by_column) for row in rows if row is not None]
    missing = [] if other is None else _missing(_rows(columns), _rows(table_columns(other)))
    chosen = dict.fromkeys((*missing, *telling, len(data) - 1))
    return records_of(data).taken(list(islice(chosen, _MOST)))


def _telling(values: Sequence[Any]) -> Iterator[int]:
    """Yield the rows of the rarest category, of the largest and smallest number, and of the second rarest category."""
    rarest = list(categories_of(values))[:2]
    numbers = numbers_of(values)
    yield from (index_of(values, value) for value in rarest[:1])
    if numbers is not None and np.isfinite(numbers).any():
        yield int(np.nanargmax(np.where(np.isfinite(numbers), numbers, np.nan)))
        yield int(np.nanargmin(np.where(np.isfinite(numbers), numbers, np.nan)))
    yield from (index_of(values, value) for value in rarest[1:])


def _rows(columns: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """Return the rows of a table as they are compared."""
    return list(zip(*([plain(value) for value in values] for values in columns.values()), strict=True))


def _missing(rows: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> list[int]:
    """Return the rows that occur more often than in the other table."""
    left = Counter(map(repr, others))
    missing = []
    for number, row in enumerate(map(repr, rows)):
        left[row] -= 1
        if left[row] < 0:
            missing.append(number)
    return missing


_LEAST_RECORDS, _ATTACKS = 20, 500
_FEW = "fewer than {} records: half of them are controls, which the table is not made from"
_RAISED = "the synthesizer raised {} on half of the records"
_NO_TABLE = "the synthetic table has no row, or no column of the records"


def audit_synthesizer(
    fit_and_sample: Callable[..., Any],
    data: Any,
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    neighbours: tuple[Any, Any] | None = None,
    significance: float = 0.01,
    stop: Stop | None = None,
    how: Settings = PLAIN,
) -> SynthesizerResult:
    """Return what audits of a synthesizer show of its claim, and what one table of it discloses beside that.

    `fit_and_sample(data, rng)` fits a model to a table and returns a synthetic one, in the form of the data: an array,
    a list of rows or a pandas frame. One of (data) alone draws from entropy of its own. Where the fitted model is
    published as well, it returns `Synthetic(table=..., log_likelihood=...)`. Up to twelve columns are read.
    *Membership* decides: `audit`, which takes `stop` and `how`, runs neighbours that cover the data: each rare row and
    category present or absent, extreme and missing values, small tables. Synthetic tables are read as statistics that
    the data fix beforehand: number and form of rows, answered marginals, cells of two columns, the distance of the
    nearest row to eight telling records, their likelihood. Runs that decide nothing teach which of these tell. A slow
    synthesizer is given one pair as `neighbours`.
    *Disclosure risks* are measured on one further table, made from a random half of the data; at most 500 of
    these records and of the other half are targets. They enter no verdict. With a `unit`, the halves share no person.
    Guarantee: that of `audit` for the claim; for the risks that of `disclosure_risks`.
    Raises: ValueError, UnsupportedError: as `audit`; data whose rows are not known.

    >>> def histogram(data, rng):
    ...     noisy = np.bincount(data[:, 0], minlength=3) + rng.laplace(0.0, 1.0, 3)
    ...     weights = np.maximum(noisy, 0.01)
    ...     return rng.choice(3, (20, 1), p=weights / weights.sum())
    >>> table = np.arange(40)[:, None] % 3
    >>> claim = Claim(epsilon=1.0, neighbours="add_remove")
    >>> result = audit_synthesizer(histogram, table, claim, runs=200, rng=np.random.default_rng(0))
    >>> result.audit.verdict == "violation", [risk.name for risk in result.risks]
    (False, ['singling out'])
    """
    generator_of(rng)
    (beside,) = rng.spawn(1)
    first, second = (data, None) if neighbours is None else neighbours
    view = table_view(fit_and_sample, table_statistics(first, target_records(first, second), second))
    given = {"neighbours": neighbours} if neighbours is not None else {"data": data}
    asked = how if neighbours is None else replace(how, unit=None)
    result = audit(view, claim=claim, runs=runs, rng=rng, significance=significance, stop=stop, how=asked, **given)
    result = replace(result, name="synthesizer", view="synthetic table")
    return _with_risks(result, view, records_of(data, how.unit), significance, beside)


def _with_risks(
    result: AuditResult, view: TableView, records: Any, significance: float, rng: np.random.Generator
) -> SynthesizerResult:
    """Return the audit with the disclosure risks of one table that is made from a random half of the records."""
    groups = records.groups
    half = len(groups) // 2
    if len(groups) < _LEAST_RECORDS:
        return SynthesizerResult(audit=result, unmeasured=_FEW.format(_LEAST_RECORDS))
    order, fit, attack = rng.permutation(len(groups)), *rng.spawn(2)
    own, others = (
        records.taken(sorted(row for number in part for row in groups[number])) for part in (order[:half], order[half:])
    )
    released = outcome(lambda data, stream, _: view.released(data, stream), own, fit, None)
    if isinstance(released, Raised):
        return SynthesizerResult(audit=result, unmeasured=_RAISED.format(released.exception))
    table = released.table if isinstance(released, Synthetic) else released
    risks = disclosure_risks(table, own, others, attacks=_ATTACKS, significance=significance, rng=attack)
    if not risks:
        return SynthesizerResult(audit=result, unmeasured=_NO_TABLE)
    return SynthesizerResult(audit=result, risks=risks, records=len(own), controls=len(others))
