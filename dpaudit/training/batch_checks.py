"""Tests of how batches were drawn: each record as often as declared, by itself, and afresh in every batch.

A test looks at one thing over all runs and sums up in one probability, that of so strange a sight under the declared
law. Counts of pairs and cells are compared with binomial ones, which are exact for Poisson samples; where a law deals
without replacement they spread more widely than the truth, so that right code is flagged less often.
Source: Hoeffding (1963), Theorem 4, for samples without replacement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import bdtrc

from dpaudit.looks import Look, Search, binomial_tails
from dpaudit.model.mechanism import Array
from dpaudit.training.batch_law import BatchLaw, Sampled, batch_law, dealt_law, poisson_law
from dpaudit.training.size_checks import evenness, sizes, spread

_LAGS, _BLOCKS, _STEPS, _PAIRED = 64, 64, 512, 1500
_CELLS = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnBatches:
    """The batches of one run, in order: who was in each, as indices of the law's records.

    >>> drawn = DrawnBatches.dealt((np.array([0, 3]), np.array([1, 2])), records=4, number=2)
    >>> drawn.inside.sum(axis=0).tolist()
    [1, 1, 1, 1]
    """

    law: BatchLaw
    batches: Sequence[Array]

    @classmethod
    def poisson(cls, batches: Sequence[Array], *, records: int, rate: float) -> Self:
        """Return batches that are declared to hold each record with probability `rate`, by itself."""
        return cls(law=poisson_law(records, rate), batches=batches)

    @classmethod
    def dealt(cls, batches: Sequence[Array], *, records: int, number: int) -> Self:
        """Return batches of a loader that is declared to deal all records once an epoch, into so many equal batches."""
        return cls(law=dealt_law(records, number), batches=batches)

    @classmethod
    def declared(cls, batches: Sequence[Array], *, records: int, node: Sampled) -> Self:
        """Return batches that are drawn as a node of a declaration says."""
        return cls(law=batch_law(node, records), batches=batches)

    @property
    def inside(self) -> Array:
        """How often each record stands in each batch. Shape: (batches, records)."""
        table = np.zeros((len(self.batches), self.law.records), dtype=np.int16)
        for row, batch in zip(table, self.batches, strict=True):
            np.add.at(row, np.asarray(batch, dtype=np.int64), 1)
        return table


def sights(runs: Sequence[DrawnBatches]) -> tuple[Look, ...]:
    """Return what is seen in the batches of independent runs. Memory: 2 bytes a batch and record of one run.

    Raises: ValueError: no batches, or a record that does not exist.

    >>> drawn = DrawnBatches.dealt((np.array([0, 3]), np.array([1, 3])), records=4, number=2)
    >>> [sight.name for sight in sights([drawn]) if sight.probability < 1e-9]
    ['once an epoch']
    """
    if not runs or not all(len(run.batches) for run in runs):
        raise ValueError("Expected at least one batch in every run.")
    for run in runs:
        named = np.concatenate([np.asarray(batch, dtype=np.int64) for batch in run.batches])
        if named.size and not 0 <= named.min() <= named.max() < run.law.records:
            raise ValueError(f"A batch names record {named.max()}; there are {run.law.records}.")
    tables = [run.inside for run in runs]
    laws = [run.law for run in runs]
    repeats = tuple(_repeats(laws, tables))
    tables = [table[: law.epoch] if law.repeated else table for law, table in zip(laws, tables, strict=True)]
    return repeats + tuple(
        sight
        for look in (sizes, spread, evenness, _whole, _again, _often, _cells, _neighbours, _pairs, _steps, _later)
        for sight in look(laws, tables)
    )


def _repeats(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield whether every epoch has the batches of the first one, where the law says so; one epoch then tells all."""
    if not any(law.repeated for law in laws):
        return
    other = sum(
        int((table[start : start + law.epoch] != table[: len(table[start : start + law.epoch])]).any())
        for law, table in zip(laws, tables, strict=True)
        if law.repeated and law.epoch
        for start in range(law.epoch, len(table), law.epoch)
    )
    says = f"{other} epochs have other batches than the first one, and the same ones are declared."
    yield Look(name="the same batches again", probability=0.0 if other else 1.0, words=says)


def _whole(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield whether every record is in as many batches of an epoch as declared."""
    if laws[0].epoch is None:
        return
    wrong = epochs = 0
    for law, table in zip(laws, tables, strict=True):
        for start in range(0, len(table), law.epoch or 1):
            times = table[start : start + (law.epoch or 1)].sum(axis=0)
            full = len(table) - start >= (law.epoch or 1)
            wrong += int(((times != law.per_epoch) if full else (times > law.per_epoch)).sum())
            epochs += 1
    says = f"{wrong} times in {epochs} epochs a record was in more or fewer batches than declared."
    yield Look(name="once an epoch", probability=0.0 if wrong else 1.0, words=says)


def _again(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield records that stand twice in one batch."""
    if laws[0].several:
        return
    twice = sum(int((table > 1).sum()) for table in tables)
    says = f"{twice} times a record stands in a batch more than once."
    yield Look(name="once in a batch", probability=0.0 if twice else 1.0, words=says)


def _often(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield the record that was drawn too often or too seldom, in one run or in all of them."""
    search = Search()
    same = len({law.records for law in laws}) == 1 and len({table.shape for table in tables}) == 1
    for law, table in (*zip(laws, tables, strict=True), *([(laws[0], np.concatenate(tables))] if same else [])):
        if law.epoch is not None:
            continue
        times = table.sum(axis=0)
        trials = len(table) * (round(law.share * law.records) if law.several else 1)
        share = 1 / law.records if law.several else law.share
        if at := search.stranger(binomial_tails(times, trials, share)):
            drawn, expected = int(times[at]), share * trials
            search.words = f"Record {at[0] + 1} was drawn {drawn} times in {trials}; {expected:.4g} are declared."
    if search.looks:
        yield search.look("each record")


def _cells(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield the stretch of records and of batches in which too many or too few were drawn, over all runs."""
    search, totals = Search(), _stretches(laws, tables)
    for size in (1, 2, 4, 8, 16, 32, 64):
        for long in (1, 2, 4, 8, 16, 32, 64):
            if size > totals.shape[0] or long > totals.shape[1]:
                continue
            drawn, expected, trials = (_merged(totals[..., k], size, long) for k in range(3))
            if at := search.stranger(binomial_tails(drawn, trials, expected / np.maximum(trials, 1))):
                search.words = (
                    f"Stretch {at[1] + 1} of {long} of the records was drawn {int(drawn[at])} times in stretch "
                    f"{at[0] + 1} of {size} of the batches; {expected[at]:.6g} are declared."
                )
    if search.looks:
        yield search.look("stretches of records and batches")


def _stretches(laws: list[BatchLaw], tables: list[Array]) -> Array:
    """Return draws, declared draws and trials, by 64 stretches at most of batches in an epoch and of records."""
    rows = min(_BLOCKS, *(law.epoch or len(table) for law, table in zip(laws, tables, strict=True)))
    columns = min(_BLOCKS, *(law.records for law in laws))
    totals = np.zeros((rows, columns, 3))
    for law, table in zip(laws, tables, strict=True):
        period = law.epoch or len(table)
        at = (np.arange(len(table)) % period) * rows // period
        of = np.arange(law.records) * columns // law.records
        times = np.add.reduceat(table.astype(np.int64), np.searchsorted(of, np.arange(columns)), axis=1)
        np.add.at(totals[..., 0], at, times)
        shares = table.sum(axis=1) / law.records if law.sizes is not None else np.full(len(table), law.share)
        widths = np.bincount(of, minlength=columns)
        np.add.at(totals[..., 1], at, shares[:, None] * widths)
        many = 1 if not law.several else round(law.share * law.records)
        np.add.at(totals[..., 2], at, np.full((len(table), 1), many) * widths)
    return totals


def _merged(values: Array, rows: int, columns: int) -> Array:
    """Return sums over so many stretches of either axis."""
    first = np.add.reduceat(values, np.arange(rows) * len(values) // rows, axis=0)
    return np.add.reduceat(first, np.arange(columns) * values.shape[1] // columns, axis=1)


def _neighbours(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield how often records so far apart in the order of the data come together, over disjoint pairs of them."""
    search = Search()
    longest = min(_LAGS, *(law.records // 2 for law in laws))
    room = max(1, _CELLS // max(1, sum(table.size for table in tables)))
    for lag in range(1, min(longest, room) + 1):
        together = trials = 0
        declared = 0.0
        for law, table in zip(laws, tables, strict=True):
            left = np.flatnonzero(np.arange(law.records - lag) // lag % 2 == 0)
            both = (table[:, left] > 0) & (table[:, left + lag] > 0)
            together, trials = together + int(both.sum()), trials + both.size
            declared += float(_pair_shares(law, table).sum()) * len(left)
        if search.stranger(binomial_tails(together, trials, declared / trials)) is not None:
            search.words = f"Records {lag} apart came together {together} times; {declared:.5g} are declared."
    if search.looks:
        yield search.look("records near each other")


def _pair_shares(law: BatchLaw, table: Array) -> Array:
    """Return the probability that two given records are in each batch."""
    if law.several:
        draws, n = law.share * law.records, law.records
        return np.full(len(table), 1 - 2 * (1 - 1 / n) ** draws + (1 - 2 / n) ** draws)
    if law.sizes is None and law.epoch is not None:
        return np.full(len(table), law.share**2)
    sizes = table.sum(axis=1)
    return np.asarray(sizes * (sizes - 1) / max(1, law.records * (law.records - 1)))


def _pairs(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield the two records that came together too often, wherever they stand in the data."""
    if len({law.records for law in laws}) != 1 or laws[0].records > _PAIRED or laws[0].epoch is not None:
        return
    inside = (np.concatenate(tables) > 0).astype(np.float32)
    together = np.triu(inside.T @ inside, 1)
    declared = float(sum(_pair_shares(law, table).sum() for law, table in zip(laws, tables, strict=True)))
    most = int(together.max(initial=0.0))
    first, second = np.unravel_index(int(together.argmax()), together.shape)
    tail = float(bdtrc(most - 1, len(inside), declared / len(inside))) if most > 0 else 1.0
    says = f"Records {first + 1} and {second + 1} came together {most} times; {declared:.4g} are declared."
    yield Look(name="two records", probability=min(1.0, tail * (laws[0].records ** 2 // 2)), words=says)


def _steps(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield the two batches of a run, of different epochs where there are such, that share too many records."""
    from scipy.stats import hypergeom

    search = Search()
    for law, table in zip(laws, tables, strict=True):
        if law.sizes == (1, 1) or law.repeated:
            continue
        inside = (table[:_STEPS] > 0).astype(np.float32)
        shared, sizes = inside @ inside.T, inside.sum(axis=1)
        first, second = np.triu_indices(len(inside), 1)
        apart = first // (law.epoch or 1) != second // (law.epoch or 1)
        first, second = first[apart], second[apart]
        if not first.size:
            continue
        shared_records = shared[first, second]
        tails = np.asarray(hypergeom.sf(shared_records - 1, law.records, sizes[first], sizes[second]))
        if at := search.stranger(tails, sides=1):
            search.words = f"Batches {first[at] + 1} and {second[at] + 1} share {int(shared_records[at])} records."
    if search.looks:
        yield search.look("two batches")


def _later(laws: list[BatchLaw], tables: list[Array]) -> Iterator[Look]:
    """Yield how many records a batch shares with one so many batches later, over all batches."""
    search = Search()
    period = laws[0].epoch
    lags = range(1, _LAGS + 1) if period is None else range(period, _LAGS * period + 1, period)
    for lag in lags:
        if laws[0].repeated or lag * 2 > max(map(len, tables)) + lag - 1:
            break
        shared = trials = 0
        declared = 0.0
        for law, table in zip(laws, tables, strict=True):
            first, second = table[:-lag] > 0, table[lag:] > 0
            shared += int((first & second).sum())
            trials += int(first.sum())
            declared += float(first.sum(axis=1) @ second.sum(axis=1)) / law.records
        if trials and search.stranger(binomial_tails(shared, trials, declared / trials)) is not None:
            search.words = f"Batches {lag} apart share {shared} records in all; {declared:.5g} are declared."
    if search.looks:
        yield search.look("later batches")
