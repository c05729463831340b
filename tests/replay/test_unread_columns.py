"""Columns that a function does not read need no pairs; one that it reads in rare cases only is not taken for unread."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.procedures.replayed import replayed
from audits.replay.coverage_pairs import coverage_pairs
from audits.replay.one_call import Player
from audits.replay.unread_columns import unread_columns
from dpaudit import Claim

COLUMNS = {"user", "age", "town", "pay", "note"}


def frame(rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "user": rng.integers(0, 20, rows),
            "age": rng.integers(18, 80, rows),
            "town": np.resize(["Bern", "Genf", "Bern", "Uri"], rows),
            "pay": np.round(rng.gamma(3, 1000, rows), 2),
            "note": [None if draw < 0.1 else "ok" for draw in rng.random(rows)],
        }
    )


READERS: dict[str, tuple[Callable[[pd.DataFrame], Any], set[str]]] = {
    "the size alone": (len, set()),
    "two columns": (lambda data: data.groupby("town").pay.max().sum(), {"town", "pay"}),
    "an exception far above all values": (lambda data: 1 / int(not (data.age > 150).any()), {"age"}),
    "a missing value": (lambda data: data.note.isna().sum(), {"note"}),
    "the rarest town among high pay": (lambda data: ((data.town == "Uri") & (data.pay > 9_000)).sum(), {"town", "pay"}),
    "a whole row": (lambda data: data.to_csv(), COLUMNS),
}


@pytest.mark.parametrize("name", READERS)
def test_a_column_is_unread_where_no_value_of_it_changes_anything(name: str) -> None:
    """Values that no record has are tried, too: they may be all that a function looks for."""
    read, columns = READERS[name]
    player = Player(run=lambda data, rng, n_runs: [read(data)])
    unread = unread_columns(player, frame(), None)
    assert columns.isdisjoint(unread)
    if name in ("the size alone", "two columns"):
        assert unread == COLUMNS - columns


def test_a_scale_and_a_printed_text_count_as_read() -> None:
    """A column that moves no number of the output, but its noise or what is shown beside."""

    def scaled(data: pd.DataFrame, rng: np.random.Generator, n_runs: int) -> list[float]:
        print(data.age.max())  # noqa: T201 - printing is what this function does
        return [len(data) + rng.laplace(0.0, float(data.pay.max()))]

    assert unread_columns(Player(run=scaled), frame(), "user") == {"town", "note"}


def test_pairs_of_unread_columns_are_left_out_and_data_sets_are_shared() -> None:
    """A replay of a function that reads two of five columns: fewer pairs, and one call a data set, not one a pair."""
    claim = Claim(epsilon=1.0, neighbours="add_remove")
    calls: list[int] = []

    def sums(data: pd.DataFrame, rng: np.random.Generator) -> Any:
        calls.append(len(data))
        towns = (("Bern", "Genf", "Uri"), data.pay.clip(0, 5_000))
        return {town: float(towns[1][data.town == town].sum()) + rng.laplace(0.0, 5_000) for town in towns[0]}

    seen = replayed(sums, None, frame(400), claim, runs=400, rng=np.random.default_rng(0))
    assert seen.violation is None
    assert len(seen.pairs) < len(coverage_pairs(frame(400), "add_remove")) / 2
    assert len(calls) < 4.5 * len(seen.pairs)
