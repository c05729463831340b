"""What keeps a ledger right: decimals, names, the kept digest, the certificates in the chain, and imports."""

import json
import random
import re
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpaudit import Certificate, Claim, Release, certify
from dpaudit.budgets import Refusal
from dpaudit.budgets.individual import IndividualFilter, individual_claim, laplace_cost
from dpaudit.errors import LedgerError
from dpaudit.ledger import Account, Booking, Entry, Ledger, recompute, store_at
from dpaudit.ledger.entry import GENESIS, canonical
from dpaudit.ledger.names import skeleton
from dpaudit.ledger.pace import history_of
from dpaudit.ledger.pricing import decode_prices
from dpaudit.ledger.repricing import reprice
from dpaudit.model.certificate import digest_of
from mechanisms import Laplace
from tests.command_line import dpaudit

NOW = "2026-01-01T00:00:00+00:00"


def laplace(epsilon: float) -> Certificate:
    """A certificate of Laplace noise at epsilon."""
    noise = Laplace(scale=1 / epsilon, l1_sensitivity=1.0, neighbours="replace_one")
    return certify(
        Release(label="count", mechanism=noise), Claim(epsilon=epsilon, neighbours="replace_one", unit="one person")
    )


@pytest.fixture(scope="module")
def fifth() -> Certificate:
    """A certificate of epsilon 0.2."""
    return laplace(0.2)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with an account of epsilon 2."""
    ledger = Ledger(store_at(str(tmp_path / "ledger.db"), create=True))
    ledger.open(Account(name="survey 1", budget=budget(2.0)), NOW)
    return ledger


def budget(epsilon: float) -> Claim:
    """A pure budget."""
    return Claim(epsilon=epsilon, neighbours="replace_one", unit="one person")


def test_ten_bookings_of_a_fifth_fit_in_two(ledger: Ledger, fifth: Certificate) -> None:
    """Decimals are decimals: exactly ten, and an eleventh is refused."""
    booked = [ledger.book("survey 1", fifth, f"week {n}", NOW) for n in range(11)]
    assert [type(one) for one in booked] == [Booking] * 10 + [Refusal]
    assert ledger.balance("survey 1").alive[0].spent.amount == 2


@pytest.mark.parametrize(
    "name",
    [
        "Survey 1",
        "survey1",
        "survey  1",
        "survey l",
        "\u0455urvey 1",
        "\uff53urvey 1",
        "surv\u00e9y 1",
        "s\u03c5rvey-1",
    ],
)
def test_a_name_that_looks_like_an_open_account_is_refused(ledger: Ledger, name: str) -> None:
    """Case, spaces, homoglyphs, full width and accents; what differs to the eye is another account."""
    with pytest.raises(LedgerError, match=r"looks like|spaces"):
        ledger.open(Account(name=name, budget=budget(2.0)), NOW)
    assert skeleton("survey 2") != skeleton("survey 1")
    ledger.open(Account(name="survey 2", budget=budget(2.0)), NOW)


@pytest.mark.parametrize("label", ["", "  ", "a\x1b[31m", "a\u202eb", "x" * 201, "a\nb", " a"])
def test_a_label_that_nobody_could_read_is_refused_in_one_line(ledger: Ledger, fifth: Certificate, label: str) -> None:
    """Empty, hidden, too long, or two lines: nothing is written."""
    with pytest.raises(LedgerError, match="label") as caught:
        ledger.book("survey 1", fifth, label, NOW)
    assert "\n" not in str(caught.value)
    assert ledger.statement().entries == 1


def test_book_goes_on_only_where_the_kept_digest_is(ledger: Ledger, fifth: Certificate, tmp_path: Path) -> None:
    """A chain whose end was cut off is not written to by a writer who kept the last digest."""
    first = ledger.book("survey 1", fifth, "first", NOW)
    assert isinstance(ledger.book("survey 1", fifth, "second", NOW, head=first.digest), Booking)
    cut = Ledger(store_at(str(tmp_path / "cut.db"), create=True))
    cut.take(ledger.lines()[:1])
    assert isinstance(cut.book("survey 1", fifth, "without", NOW), Booking)
    with pytest.raises(LedgerError, match="DPA501"):
        cut.book("survey 1", fifth, "with", NOW, head=first.digest)


def rechained(lines: tuple[str, ...], change: Callable[..., Any]) -> list[Any]:
    """A consistent chain by somebody who can hash, with one body changed."""
    texts, previous = [], GENESIS
    for number, line in enumerate(lines):
        data = json.loads(line)
        if number == len(lines) - 1:
            change(data)
        data["previous"] = previous
        previous = data["digest"] = digest_of(data)
        texts.append(canonical(data))
    return texts


def test_prices_are_derived_again_from_the_chain(ledger: Ledger, fifth: Certificate) -> None:
    """A forger who makes a booking cheaper, or swaps its certificate, is found by the certificate in the chain."""
    ledger.book("survey 1", fifth, "first", NOW)
    lines = ledger.lines()
    sound = reprice(Entry(text=line) for line in lines)
    assert (sound.derived, sound.without, sound.findings) == (1, 0, ())

    def cheaper(data: dict[str, Any]) -> None:
        data["body"]["prices"]["basic"]["amount"] = "1/100"

    def other(data: dict[str, Any]) -> None:
        document = data["body"]["document"]
        document["tight"]["epsilon"]["upper"] = 0.01
        document["digest"] = data["body"]["certificate"] = digest_of(document)

    def claims(data: dict[str, Any]) -> None:
        data["body"]["claim"]["epsilon"] = 0.1

    for change in (cheaper, other, claims):
        entries = [Entry(text=text) for text in rechained(lines, change)]
        assert recompute(entries).findings == ()
        assert [one.rule for one in reprice(entries).findings] == ["DPA502"], change


BAD = {
    "a huge power": lambda data: data["body"]["prices"]["basic"].update(amount="1e99999999"),
    "a list as label": lambda data: data["body"].update(label=["x"]),
    "an empty label": lambda data: data["body"].update(label=" "),
    "a number as prices": lambda data: data["body"].update(prices=3),
    "a negative price": lambda data: data["body"]["prices"]["basic"].update(amount="-1"),
    "a number as digest": lambda data: data["body"].update(certificate=7),
    "another certificate": lambda data: data["body"].update(certificate="0" * 64),
    "no claim": lambda data: data["body"].update(claim={}),
    "no time": lambda data: data.update(created="yesterday"),
    "a list as account": lambda data: data.update(account=["survey 1"]),
    "text as certificate": lambda data: data["body"].update(document="x"),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_an_import_that_makes_no_sense_is_refused_at_its_line(
    ledger: Ledger, fifth: Certificate, tmp_path: Path, change: Callable[..., Any]
) -> None:
    """Nothing enters the table, no file is made, and the message names file and line; nothing hangs."""
    ledger.book("survey 1", fifth, "first", NOW)
    file = tmp_path / "lines.jsonl"
    file.write_text("\n".join(("", *rechained(ledger.lines(), change))), encoding="utf-8")
    started = time.process_time()
    ended = dpaudit("ledger", "import", str(tmp_path / "new.db"), str(file))
    assert (ended.exit_code, (tmp_path / "new.db").exists()) == (1, False)
    assert f"{file}:3: DPA50" in ended.stdout
    assert time.process_time() - started < 5


def test_an_altered_line_is_said_to_be_altered_and_where(ledger: Ledger, fifth: Certificate, tmp_path: Path) -> None:
    """Also where the ledger to import into does not exist yet."""
    ledger.book("survey 1", fifth, "first", NOW)
    lines = list(ledger.lines())
    lines[1] = lines[1].replace("first", "furst")
    (tmp_path / "lines.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ended = dpaudit("ledger", "import", str(tmp_path / "new.db"), str(tmp_path / "lines.jsonl"))
    assert ended.exit_code == 1
    assert "lines.jsonl:2: DPA501 The content does not hash to the digest; the entry was altered." in ended.stdout


@pytest.mark.parametrize("amount", ["1e9", "1_0", "0x1", " 1", "1/0", "9" * 2001, 1, None, "1/3/4", "inf"])
def test_a_price_is_a_ratio_of_whole_numbers(amount: str | int | None) -> None:
    """Whatever else a library would read as a fraction is refused."""
    with pytest.raises(LedgerError, match="malformed"):
        decode_prices({"basic": {"amount": amount, "mass": "0"}})


@pytest.mark.parametrize("body", [3, None, [], {}, {"name": "x", "budget": 3}, {"name": "x", "budget": {"epsilon": 1}}])
def test_a_body_that_spells_no_account_is_malformed(body: Any) -> None:
    """Of whatever type it is: an altered ledger may hold anything."""
    with pytest.raises(LedgerError, match="malformed"):
        Account.from_dict(body)


def test_rows_are_neither_replaced_nor_changed(ledger: Ledger, fifth: Certificate, tmp_path: Path) -> None:
    """UPDATE, DELETE, INSERT OR REPLACE and a number put between are refused by the file itself."""
    ledger.book("survey 1", fifth, "first", NOW)
    connection = sqlite3.connect(tmp_path / "ledger.db")
    for statement in (
        "UPDATE dpaudit_ledger SET entry = 'x'",
        "DELETE FROM dpaudit_ledger",
        "INSERT OR REPLACE INTO dpaudit_ledger VALUES (1, 'x')",
        "REPLACE INTO dpaudit_ledger VALUES (2, 'x')",
        "INSERT INTO dpaudit_ledger VALUES (0, 'x')",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()


def test_a_ledger_of_the_first_version_goes_on(tmp_path: Path, ledger: Ledger, fifth: Certificate) -> None:
    """Bookings without certificates are read, counted and gone on from; the file gets the triggers that it lacked."""
    ledger.book("survey 1", fifth, "first", NOW)
    old = rechained(ledger.lines(), lambda data: data["body"].pop("document"))
    file = tmp_path / "old.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE dpaudit_ledger (sequence INTEGER PRIMARY KEY, entry TEXT NOT NULL)")
    connection.executemany("INSERT INTO dpaudit_ledger VALUES (?, ?)", list(enumerate(old, start=1)))
    connection.commit()
    connection.close()
    ledger = Ledger(store_at(str(file)))
    assert ledger.statement().findings == ()
    assert isinstance(ledger.book("survey 1", fifth, "second", NOW), Booking)
    again = reprice(ledger.store.entries())
    assert (again.derived, again.without, again.findings) == (1, 1, ())
    connection = sqlite3.connect(file)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("REPLACE INTO dpaudit_ledger VALUES (1, 'x')")
    connection.close()


def test_a_certificate_of_another_schema_version_is_counted_and_no_fault(ledger: Ledger, fifth: Certificate) -> None:
    """A ledger outlives the schema: what this version does not read is said to be not derived again."""
    ledger.book("survey 1", fifth, "first", NOW)

    def older(data: dict[str, Any]) -> None:
        document = data["body"]["document"]
        document["schema"] = "urn:dpaudit:schema:certificate:0"
        document["digest"] = data["body"]["certificate"] = digest_of(document)

    again = reprice(Entry(text=text) for text in rechained(ledger.lines(), older))
    assert (again.derived, again.without, again.findings) == (0, 1, ())


def test_lines_removed_swapped_doubled_or_of_another_ledger_are_seen(
    tmp_path: Path, ledger: Ledger, fifth: Certificate
) -> None:
    """Whatever is done to the order shows, but for what is cut off at the end: that the last digest tells."""
    for label in ("first", "second"):
        ledger.book("survey 1", fifth, label, NOW)
    one, two, three = ledger.lines()
    other = Ledger(store_at(str(tmp_path / "other.db"), create=True))
    other.open(Account(name="survey 1", budget=budget(9.0)), NOW)
    (foreign,) = other.lines()
    for altered in ((two, three), (one, three), (one, three, two), (one, two, two, three), (foreign, two, three)):
        assert recompute(Entry(text=text) for text in altered).findings
    cut = recompute(Entry(text=text) for text in (one, two))
    assert cut.findings == ()
    assert cut.head != recompute(Entry(text=text) for text in (one, two, three)).head


def test_the_pace_is_that_of_the_days_between(ledger: Ledger, fifth: Certificate) -> None:
    """A tenth of the budget every ten days from 1 January: spent after nine more, on 1 April."""
    for number in range(3):
        ledger.book("survey 1", fifth, f"week {number}", f"2026-01-{1 + 10 * number:02}T00:00:00+00:00")
    history = history_of(ledger.balance("survey 1"))
    assert [round(release.total, 12) for release in history.releases] == [0.1, 0.2, 0.3]
    assert str(history.ends) == "2026-04-01"


def test_the_report_of_a_ledger_says_cost_rest_and_end(ledger: Ledger, fifth: Certificate, tmp_path: Path) -> None:
    """One page without scripts and requests, and its JSON; foreign text stays text."""
    for number in range(3):
        ledger.book("survey 1", fifth, f"<b>week {number}</b>", f"2026-01-{1 + 10 * number:02}T00:00:00+00:00")
    command = ["ledger", "report", str(tmp_path / "ledger.db"), "-o", str(tmp_path / "out")]
    ended = dpaudit(*command)
    assert ended.exit_code == 0
    assert [Path(line).name for line in ended.stdout.splitlines()] == ["ledger.html", "ledger.json"]
    page = (tmp_path / "out" / "ledger.html").read_text(encoding="utf-8")
    for expected in ("at least 70 % is left", "2026-04-01", "&lt;b&gt;week 0", "The chain is intact:", "<path"):
        assert expected in page
    assert "<script" not in page
    assert "http" not in re.sub(r'xmlns="[^"]*"|http-equiv', "", page)
    shown = dpaudit("ledger", "show", str(tmp_path / "ledger.db"))
    assert "2026-01-21  ████████████····" in shown.stdout
    assert "2026-04-01" in shown.stdout


@pytest.mark.parametrize("address", ["", " ", ".", "mysql://x", "no/such/folder/l.db", "a\x00b"])
def test_a_malformed_address_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Exit code 2, one line, and what was expected."""
    monkeypatch.chdir(tmp_path)
    command = ["ledger", "open", address, "--account", "a", "--epsilon", "1", "--unit", "one person"]
    ended = dpaudit(*command)
    assert (ended.exit_code, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)


def test_a_malformed_address_of_a_server_is_one_line() -> None:
    """A port that is no number is no internal error."""
    pytest.importorskip("sqlalchemy")
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerError, match="host:port"):
        store_at("postgresql://me@host:port/db")


@pytest.mark.parametrize("name", [":memory:", "file::memory:"])
def test_a_ledger_is_a_file_whatever_its_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that SQLite takes for a database in memory keep their entries, as all others do."""
    monkeypatch.chdir(tmp_path)
    account = Account(name="data", budget=Claim(epsilon=1.0, neighbours="replace_one"), rule="basic")
    Ledger(store_at(name, create=True)).open(account, NOW)
    assert Ledger(store_at(name)).balance("data").account == account
    assert (tmp_path / name).is_file()


def test_a_ledger_of_a_device_decides_as_the_filters_of_its_records_do(tmp_path: Path) -> None:
    """Accounts of two sites, and queries that move a sum by a few eighths of the noise, chosen at random."""
    claim = individual_claim(epsilon=1.0, unit="one week")
    own = Ledger(store_at(str(tmp_path / "own.db"), create=True))
    filters = {site: IndividualFilter(limit=claim.epsilon) for site in ("one", "two")}
    for site in filters:
        own.open(Account(name=site, budget=claim, rule="basic"), NOW)
    drawn = random.Random(5)  # noqa: S311 - which queries are asked
    left_out = 0
    for query in range(24):
        site, distance = drawn.choice(sorted(filters)), drawn.choice((0.5, 1.0, 1.5, 2.5))
        filters[site], takes_part = filters[site].charged(laplace_cost(distance=distance, scale=4.0))
        noise = Laplace(scale=4.0, l1_sensitivity=distance, neighbours="add_remove")
        learnt = certify(
            Release(label="sum", mechanism=noise),
            Claim(epsilon=distance / 4, neighbours="add_remove", unit=claim.unit),
        )
        assert isinstance(own.book(site, learnt, str(query), NOW), Booking if takes_part else Refusal)
        left_out += not takes_part
    assert 3 < left_out < 24
