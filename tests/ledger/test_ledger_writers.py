"""Sixteen writers at once, and writers that are killed: nothing overspent, nothing lost, on SQLite and PostgreSQL."""

import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from dpaudit import Certificate, Claim
from dpaudit.errors import LedgerError
from dpaudit.ledger import Account, Entry, Ledger, recompute, store_at

BUDGET = Claim(epsilon=1.0, neighbours="replace_one", unit="one person")
NOW = "2026-01-01T00:00:00+00:00"
SCRIPT = Path(__file__).with_name("writers.py")
ROOT = SCRIPT.parents[2]


def run(mode: str, place: str) -> tuple[list[list[str]], CompletedProcess[str]]:
    """Return the answers that the writers were given, after all have ended, and how many of them failed."""
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), mode, place], capture_output=True, text=True, check=False, timeout=120, cwd=ROOT
    )
    answers = [line.split() for line in ended.stdout.splitlines()]
    return answers, ended


def test_sixteen_writers_spend_exactly_the_budget(place: str) -> None:
    """Of 64 attempts at 1/32 of the budget 32 are booked: no more, no fewer, and those that were told so."""
    answers, ended = run("race", place)
    assert ended.returncode == 0, ended.stderr
    assert Counter(word for word, _ in answers) == {"booked": 32, "refused": 32}
    statement = Ledger(store_at(place)).statement()
    assert statement.findings == ()
    balance = statement.accounts["data"]
    assert {label for word, label in answers if word == "booked"} == {b["label"] for b in balance.bookings}
    (one,) = balance.alive
    assert one.spent.amount == Fraction(1)


def test_a_killed_writer_loses_nothing_it_was_told(place: str) -> None:
    """After six kills at random moments each answer that got out is in the chain, and the next writer goes on."""
    answers, ended = run("kill", place)
    assert ended.returncode == 0, ended.stderr
    ledger = Ledger(store_at(place))
    statement = ledger.statement()
    assert statement.findings == ()
    kept = Counter(booking["label"] for booking in statement.accounts["data"].bookings)
    assert set(kept.values()) <= {1}
    told = {label for word, label in answers if word == "booked"}
    assert len(told) >= 3
    assert told <= set(kept)
    assert len(set(kept) - told) <= 6


def test_writers_that_take_no_turns_are_caught(tmp_path: Path) -> None:
    """The broken twin: sixteen writers that read and append without a lock break the chain or the budget."""
    file = tmp_path / "careless.jsonl"
    run("careless", str(file))
    statement = recompute(Entry(text=line) for line in file.read_text().splitlines())
    assert statement.findings


@pytest.fixture
def booked(place: str, one_thirty_second: Certificate) -> str:
    """Return a store's place after nine bookings."""
    ledger = Ledger(store_at(place, create=True))
    ledger.open(Account(name="data", budget=BUDGET, rule="basic"), NOW)
    for number in range(9):
        ledger.book("data", one_thirty_second, f"release {number}", NOW)
    return place


@pytest.mark.parametrize("statement", ["UPDATE dpaudit_ledger SET entry = ''", "DELETE FROM dpaudit_ledger"])
def test_the_table_refuses_to_be_changed(booked: str, statement: str) -> None:
    """A writer who goes around the ledger is stopped by the database itself."""
    before = Ledger(store_at(booked)).lines()
    with pytest.raises(Exception, match="append-only"):
        execute(booked, statement)
    assert Ledger(store_at(booked)).lines() == before


def execute(place: Any, statement: str) -> None:
    """Run one statement on a store, around the ledger."""
    if place.startswith("postgresql"):
        import psycopg

        with psycopg.connect(place) as connection:
            connection.execute(statement)
    else:
        import sqlite3

        with sqlite3.connect(place) as file:
            file.execute(statement)
        file.close()


def test_a_row_changed_by_force_is_seen(booked: str) -> None:
    """With the trigger out of the way a changed byte gets into the table, and not past the chain."""
    off = "ALTER TABLE dpaudit_ledger DISABLE TRIGGER ALL"
    execute(booked, off if booked.startswith("postgresql") else "DROP TRIGGER dpaudit_ledger_no_update")
    assert Ledger(store_at(booked)).statement().findings == ()
    execute(booked, "UPDATE dpaudit_ledger SET entry = replace(entry, 'release 4', 'release 5') WHERE sequence = 6")
    findings = Ledger(store_at(booked)).statement().findings
    assert [(c.rule, c.sequence) for c in findings] == [("DPA501", 6)]
    execute(booked, "UPDATE dpaudit_ledger SET entry = replace(entry, 'one person', 'one perxon') WHERE sequence = 1")
    assert Ledger(store_at(booked)).statement().findings[0].sequence == 1
    with pytest.raises(LedgerError, match="altered at entry 1"):
        Ledger(store_at(booked)).open(Account(name="other", budget=Claim(epsilon=1, neighbours="replace_one")), NOW)
