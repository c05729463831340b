"""The chain: what is spent is what the theorems say, and every changed byte shows."""

import json
import math
import random
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpaudit import Certificate, Claim, Release, bracket_epsilon, certify, fold
from dpaudit import Repeat as Repeated
from dpaudit.budgets import Refusal
from dpaudit.errors import DeclarationError, LedgerError
from dpaudit.ledger import Account, Booking, Entry, Ledger, recompute, store_at
from dpaudit.ledger.entry import GENESIS, canonical
from dpaudit.model.certificate import digest_of
from mechanisms import Laplace
from tests.narrowing import as_a

NOW = "2026-01-01T00:00:00+00:00"
PURE = Claim(epsilon=1.0, neighbours="replace_one", unit="one person")
WIDE = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", unit="one person")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Return an empty ledger in a file."""
    return Ledger(store_at(str(tmp_path / "ledger.db"), create=True))


def book_until_refused(ledger: Ledger, certificate: Certificate, most: int = 400) -> int:
    """Return how many bookings were accepted before the first refusal."""
    for number in range(most):
        if isinstance(ledger.book("data", certificate, f"release {number}", NOW), Refusal):
            return number
    return most


def test_gaussian_releases_are_counted_in_rho_and_not_in_epsilons(ledger: Ledger, gaussian: Certificate) -> None:
    """Many more fit than the sum of epsilons allows, and their exact composition keeps the budget."""
    ledger.open(Account(name="data", budget=WIDE), NOW)
    accepted = book_until_refused(ledger, gaussian)
    by_sum = math.floor(WIDE.epsilon / min(gaussian.claim.epsilon, gaussian.tight.epsilon.upper))
    together = Repeated(part=gaussian.declaration, times=accepted)
    truth = bracket_epsilon(fold(together, "replace_one"), WIDE.delta)
    assert accepted > 2 * by_sum
    assert truth.upper <= WIDE.epsilon
    balance = ledger.balance("data")
    assert [one.theorem.name for one in balance.alive] == ["concentrated"]
    assert balance.alive[0].spent.amount == Fraction(accepted, 2048)
    assert truth.upper <= balance.reading(balance.alive[0])


def test_a_few_stated_epsilons_are_counted_by_their_sum(ledger: Ledger, one_thirty_second: Certificate) -> None:
    """Where nothing but epsilon is stated the sum is the tighter rule, and the side-by-side count uses it."""
    stated = replace_claim(one_thirty_second, 0.5)
    ledger.open(Account(name="data", budget=WIDE), NOW)
    ledger.open(Account(name="alone", budget=WIDE, rule="concentrated"), NOW)
    assert isinstance(ledger.book("data", stated, "first", NOW), Booking)
    assert isinstance(ledger.book("data", stated, "second", NOW), Booking)
    assert isinstance(ledger.book("data", stated, "third", NOW), Refusal)
    assert isinstance(ledger.book("alone", stated, "first", NOW), Refusal)


def replace_claim(certificate: Certificate, epsilon: float) -> Certificate:
    """Return a certificate of Laplace noise at a given epsilon."""
    released = as_a(Release, certificate.declaration)
    noise = replace(as_a(Laplace, released.mechanism), scale=1 / epsilon)
    return certify(replace(released, mechanism=noise), replace(certificate.claim, epsilon=epsilon))


def test_a_filter_that_refused_once_never_counts_again(
    ledger: Ledger, gaussian: Certificate, one_thirty_second: Certificate
) -> None:
    """After the sum of epsilons has run out, a part that only it could count is refused: no way back."""
    ledger.open(Account(name="data", budget=WIDE), NOW)
    for number in range(12):
        assert isinstance(ledger.book("data", gaussian, f"sum {number}", NOW), Booking)
    assert [one.theorem.name for one in ledger.balance("data").alive] == ["concentrated"]
    refused = ledger.book("data", replace_claim(one_thirty_second, 0.5), "count", NOW)
    assert isinstance(refused, Refusal)
    assert "concentrated" in refused.reason
    assert "basic" not in refused.reason


def test_the_shares_of_delta_add_up_to_the_budgets() -> None:
    """Filters side by side split delta between them; the broken twin would give each the whole of it."""
    for rule in ("either", "basic", "concentrated", "gaussian"):
        filters = Account(name="data", budget=WIDE, rule=rule).filters()
        assert sum(Fraction(one.claim.delta) for one in filters) == Fraction(WIDE.delta)
        assert all(one.claim.epsilon == WIDE.epsilon and one.mass <= one.claim.delta for one in filters)
    assert [one.theorem.name for one in Account(name="data", budget=PURE).filters()] == ["basic"]


def test_booking_again_with_the_same_label_changes_nothing(
    ledger: Ledger, one_thirty_second: Certificate, gaussian: Certificate
) -> None:
    """A repeated attempt gets the first one's entry; another certificate under the same label is refused."""
    ledger.open(Account(name="data", budget=WIDE), NOW)
    first = ledger.book("data", one_thirty_second, "weekly", NOW)
    again = ledger.book("data", one_thirty_second, "weekly", "2027-01-01T00:00:00+00:00")
    assert (again.sequence, again.digest, again.before) == (first.sequence, first.digest, True)
    with pytest.raises(LedgerError, match="another certificate"):
        ledger.book("data", gaussian, "weekly", NOW)
    assert ledger.statement().entries == 2


def test_an_account_opens_once(ledger: Ledger) -> None:
    """The same budget again is no change; another one under the same name is refused."""
    account = Account(name="data", budget=PURE)
    first, again = ledger.open(account, NOW), ledger.open(account, NOW)
    assert (again.digest, again.before) == (first.digest, True)
    with pytest.raises(LedgerError, match="another budget"):
        ledger.open(replace(account, budget=replace(PURE, epsilon=2.0)), NOW)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"unit": "one visit"}, "is about 'one person'"), ({"neighbours": "add_remove"}, "neighbours"), ({}, "certified")],
)
def test_a_certificate_for_something_else_is_no_booking(
    ledger: Ledger, one_thirty_second: Certificate, change: dict[str, Any], message: str
) -> None:
    """Another unit, other neighbours, or a claim that is not certified."""
    certificate = one_thirty_second if change else replace(one_thirty_second, verdict="not_proved")
    ledger.open(Account(name="data", budget=replace(PURE, **change)), NOW)
    with pytest.raises(DeclarationError, match=message):
        ledger.book("data", certificate, "weekly", NOW)
    assert ledger.statement().entries == 1


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory, one_thirty_second: Certificate) -> tuple[str, ...]:
    """Return the lines of a ledger with an account and two bookings."""
    ledger = Ledger(store_at(str(tmp_path_factory.mktemp("chain") / "ledger.db"), create=True))
    ledger.open(Account(name="data", budget=PURE), NOW)
    for label in ("first", "second"):
        ledger.book("data", one_thirty_second, label, NOW)
    return ledger.lines()


@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_every_changed_byte_is_seen(lines: tuple[str, ...], stride: int) -> None:
    """Each character of each line, replaced by another one, brings an inconsistency; as does each one left out.

    On a change every seventh character.
    """
    assert recompute(Entry(text=line) for line in lines).findings == ()
    for place, line in enumerate(lines):
        for at, letter in list(enumerate(line))[::stride]:
            for changed in ("" if letter == "x" else "x", "1" if letter == "0" else "0"):
                altered = (*lines[:place], line[:at] + changed + line[at + 1 :], *lines[place + 1 :])
                assert recompute(Entry(text=text) for text in altered).findings, (place, at, changed)


def test_a_forged_chain_that_overspends_is_seen(lines: tuple[str, ...]) -> None:
    """Somebody who can hash writes a consistent chain, and the sums are read again all the same."""
    entries = [json.loads(line) for line in lines]
    entries[2]["body"]["prices"]["basic"]["amount"] = "1"
    texts, previous = [], GENESIS
    for data in entries:
        data["previous"] = previous
        previous = data["digest"] = digest_of(data)
        texts.append(canonical(data))
    findings = recompute(Entry(text=text) for text in texts).findings
    assert [(c.rule, c.sequence) for c in findings] == [("DPA502", 3)]


def test_flipped_bytes_of_the_file_change_nothing_or_are_seen(tmp_path: Path, lines: tuple[str, ...]) -> None:
    """300 bytes of the SQLite file, flipped one at a time: the entries are the same, or the ledger refuses."""
    whole = tmp_path / "whole.db"
    Ledger(store_at(str(whole), create=True)).take(lines)
    content, chance, seen = whole.read_bytes(), random.Random(11), 0  # noqa: S311 - which bytes to flip
    written = [n for n, byte in enumerate(content) if byte]
    for place in (*chance.sample(written, 250), *chance.sample(range(len(content)), 50)):
        file = tmp_path / "flipped.db"
        file.write_bytes(content[:place] + bytes([content[place] ^ (1 << chance.randrange(8))]) + content[place + 1 :])
        try:
            entries = store_at(str(file)).entries()
        except LedgerError:
            seen += 1
            continue
        found = bool(recompute(entries).findings)
        seen += found
        assert found or tuple(entry.text for entry in entries) == lines, place
    assert seen > 150


def test_a_row_with_another_number_is_seen(tmp_path: Path, lines: tuple[str, ...]) -> None:
    """The last row, too: a number that leaves a gap would hide that entries were removed before it."""
    path = tmp_path / "budget.db"
    Ledger(store_at(str(path), create=True)).take(lines)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER dpaudit_ledger_no_update")
        connection.execute("UPDATE dpaudit_ledger SET sequence = 99 WHERE sequence = ?", (len(lines),))
    connection.close()
    assert [finding.rule for finding in Ledger(store_at(str(path))).statement().findings] == ["DPA501"]


def test_exported_lines_come_back_as_they_were_and_go_on(
    tmp_path: Path, lines: tuple[str, ...], one_thirty_second: Certificate
) -> None:
    """Import gives the same chain; importing again adds nothing, and a chain that went another way is refused."""
    other = Ledger(store_at(str(tmp_path / "other.db"), create=True))
    assert (other.take(lines[:2]), other.take(lines), other.take(lines)) == (2, 1, 0)
    assert other.lines() == lines
    other.book("data", one_thirty_second, "third", NOW)
    with pytest.raises(LedgerError, match="do not begin with"):
        other.take(lines)
    with pytest.raises(LedgerError, match="altered at entry 2"):
        other.take((lines[0], lines[2]))


def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Another database, a text file, no file, another kind of address: each with its remedy."""
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
    connection.close()
    (tmp_path / "text.db").write_text("not a database " * 50)
    for name in ("other.db", "text.db"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(LedgerError):
            Ledger(store_at(str(tmp_path / name), create=True)).open(Account(name="data", budget=PURE), NOW)
        assert (tmp_path / name).read_bytes() == before
    with pytest.raises(LedgerError, match="ledger open"):
        store_at(str(tmp_path / "none.db"))
    with pytest.raises(LedgerError, match="'mysql'"):
        store_at("mysql://me:secret@host/db")


def test_a_password_is_never_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unreachable server is named without the password of its address."""
    pytest.importorskip("sqlalchemy")
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerError) as caught:
        store_at("postgresql://me:hunter2@127.0.0.1:1/db")
    assert "hunter2" not in str(caught.value)
    assert "***" in str(caught.value)


def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing SQLAlchemy is a clear error that says what to install."""
    import sys

    from dpaudit import UnsupportedError

    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'dpaudit\[postgres\]'"):
        store_at("postgresql://host/db")


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"name": " "}, "name a data set"), ({"rule": "sum"}, "rule"), ({"rule": "gaussian"}, "positive delta")],
)
def test_an_account_that_means_nothing_cannot_exist(fields: dict[str, Any], message: str) -> None:
    """No name, no such rule, or a rule that needs a delta."""
    with pytest.raises(ValueError, match=message):
        Account(**{"name": "data", "budget": PURE, **fields})


def test_a_booking_before_the_last_entry_is_refused(place: str, one_thirty_second: Certificate) -> None:
    """A second earlier, in another zone or without one; the same moment and a later one are booked."""
    ledger = Ledger(store_at(place, create=True))
    ledger.open(Account(name="data", budget=WIDE), NOW)
    for number, early in enumerate(("2025-12-31T23:59:59+00:00", "2026-01-01T00:59:59+01:00", "2025-12-31T23:59:59")):
        with pytest.raises(LedgerError, match="before"):
            ledger.book("data", one_thirty_second, f"release {number}", early)
        with pytest.raises(LedgerError, match="before"):
            ledger.open(Account(name=f"more {number}", budget=WIDE), early)
    with pytest.raises(LedgerError, match="ISO"):
        ledger.book("data", one_thirty_second, "no time", "yesterday")
    assert ledger.statement().entries == 1
    assert isinstance(ledger.book("data", one_thirty_second, "same", "2026-01-01T01:00:00+01:00"), Booking)
    assert isinstance(ledger.book("data", one_thirty_second, "later", lambda: "2026-01-01T00:00:01Z"), Booking)
    assert not ledger.statement().findings
