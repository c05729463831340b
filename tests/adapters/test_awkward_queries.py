"""Awkward frames of a SmartNoise query: where rows are protected, in the relation of the reader's sensitivities."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest

from audits import audit
from dpaudit.adapters import LibraryRelease, Question
from dpaudit.adapters import smartnoise_sql as adapter
from dpaudit.model.claim import Neighbours

NOISE = np.random.default_rng(5)
PAIR = pandas.DataFrame({"paid": [1.0, 2.0]}), pandas.DataFrame({"paid": [1.0, 2.0, 3.0]})
ROWS = {"": {"shop": {"sales": {"row_privacy": True, "paid": {"type": "float", "lower": 0.0, "upper": 1.0}}}}}
PERSONS = {"": {"shop": {"sales": {"who": {"type": "int", "private_id": True}, "paid": {"type": "float"}}}}}


class Privacy:
    """A budget of epsilon 1."""

    epsilon = 1.0


def release_of(
    monkeypatch: pytest.MonkeyPatch, metadata: Any, *, clamps: bool = True, neighbours: Neighbours = "add_remove"
) -> LibraryRelease:
    """Return the release of a noisy count of large payments, by a reader whose clamp an extreme row may pass."""

    def from_df(frame: Any, privacy: Any, metadata: Any) -> Any:
        def execute(query: str) -> Any:
            true = sum(min(1, int(paid)) if clamps else int(min(paid, 50)) for paid in frame["paid"].dropna())
            first, second = NOISE.geometric(1 - np.exp(-1.0), 2)
            return [("total",), (true + int(first - second),)]

        return SimpleNamespace(get_privacy_cost=lambda query: (privacy.epsilon, 0.0), execute=execute)

    monkeypatch.setattr(adapter, "library_module", lambda *_: SimpleNamespace(from_df=from_df))
    asked = Question(neighbours=neighbours, pair=PAIR, parameters={"query": "SELECT", "metadata": metadata})
    return adapter.adapt(Privacy(), asked)


@pytest.mark.parametrize("clamps", [True, False])
def test_a_clamp_that_an_extreme_row_passes_is_seen(monkeypatch: pytest.MonkeyPatch, *, clamps: bool) -> None:
    """The sum of clamped payments falls nowhere, the other one on the extreme row, among four pairs that share .01."""
    release = release_of(monkeypatch, ROWS, clamps=clamps)
    cases = release.cases()
    names = [case.name.rpartition(", ")[2] for case in cases[1:]]
    assert names == ["empty", "paid: extreme", "paid: not a number"]
    rng = np.random.default_rng(1)
    fallen = [
        name
        for name, case in zip(names, cases[1:], strict=True)
        if audit(case, claim=release.claim, runs=400, rng=rng, significance=0.01 / 4).exceeds_claim
    ]
    assert fallen == ([] if clamps else ["paid: extreme"])


BOTH = {"": {"shop": {"sales": ROWS[""]["shop"]["sales"], "visits": PERSONS[""]["shop"]["sales"]}}}


@pytest.mark.parametrize("metadata", [PERSONS, BOTH, {}, "tables.yaml", None, {"": {"shop": 3}}])
def test_persons_and_unread_metadata_have_no_awkward_rows(monkeypatch: pytest.MonkeyPatch, metadata: Any) -> None:
    """A row of a person who is there already is no added person; a file or nothing says nothing of rows."""
    assert release_of(monkeypatch, metadata).awkward == ()


def test_replaced_records_are_misuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader's sensitivity is the largest absolute value, which is for one record more."""
    replaced = release_of(monkeypatch, ROWS, neighbours="replace_one")
    assert replaced.awkward == ()
    assert any(note.startswith("Misuse") for note in replaced.notes)
    assert not any(note.startswith("Misuse") for note in release_of(monkeypatch, ROWS).notes)
