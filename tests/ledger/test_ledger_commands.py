"""`dpaudit ledger`: what it prints, and how it ends."""

import json
import sqlite3
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from typer.testing import Result

from dpaudit import Certificate, schemas
from tests.command_line import dpaudit

OPEN = ("open", "budget.db", "--account", "survey", "--epsilon", "0.0625", "--unit", "one person")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_thirty_second: Certificate) -> None:
    """Run each test in a folder that holds a certificate."""
    monkeypatch.chdir(tmp_path)
    Path("certificate.json").write_text(one_thirty_second.to_json(), encoding="utf-8")


def ledger(*words: str) -> Result:
    """Return the ended `dpaudit ledger WORDS`."""
    return dpaudit("ledger", *words)


def book(label: str) -> Result:
    """Book the certificate under a label."""
    return ledger("book", "budget.db", "certificate.json", "--account", "survey", "--label", label)


def test_a_budget_is_spent_and_then_refuses() -> None:
    """Two of 1/32 fit into 1/16: the third ends with exit code 1, and a repeated one is no third."""
    told = ledger(*OPEN).stdout
    assert told.startswith("opened: entry 1, ")
    assert "neighbours 'replace_one', model 'central'\n" in told
    assert [book(label).exit_code for label in ("a", "b", "a", "c")] == [0, 0, 0, 1]
    refused = book("c")
    assert refused.stdout.startswith("refused: The booking would overspend epsilon=0.0625")
    assert "filter counts " in book("a").stdout
    assert json.loads(ledger("show", "budget.db", "--format", "json").stdout)["entries"] == 3


@pytest.mark.parametrize(
    ("style", "word"), [("text", "The chain is intact"), ("md", "## PASS"), ("json", '"intact": true')]
)
def test_show_says_what_is_spent_in_every_format(style: str, word: str) -> None:
    """The budget, the release and the count of the theorem are there; nothing goes to stderr."""
    ledger(*OPEN)
    book("first look")
    shown = ledger("show", "budget.db", "--format", style)
    assert (shown.exit_code, shown.stderr) == (0, "")
    for expected in (word, "survey", "first look", "0.03125" if style != "json" else '"spent": 0.03125'):
        assert expected in shown.stdout


def test_a_certificate_that_was_written_as_text_is_answered_with_the_format_to_ask_for() -> None:
    """The file, what is wrong with it, and the command; nothing is booked."""
    ledger(*OPEN)
    Path("certificate.json").write_text("\n  CERTIFIED\n", encoding="utf-8")
    ended = book("first")
    assert (ended.exit_code, ended.stdout) == (2, "")
    said = " ".join(ended.stderr.split())
    assert "certificate.json: no certificate in JSON" in said
    assert "dpaudit certify CONFIG --format json -o FILE" in said
    assert json.loads(ledger("show", "budget.db", "--format", "json").stdout)["entries"] == 1


@pytest.mark.parametrize("command", ["verify", "book"])
def test_an_abbreviated_head_asks_for_all_64_digits(command: str) -> None:
    """Of the right digest too; it is no finding about the chain, and nothing is booked."""
    ledger(*OPEN)
    digest = json.loads(ledger("show", "budget.db", "--format", "json").stdout)["head"]
    words = ("certificate.json", "--account", "survey", "--label", "a") if command == "book" else ()
    ended = ledger(command, "budget.db", *words, "--head", digest[:12])
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "64 hexadecimal digits" in " ".join(ended.stderr.split())
    assert ledger(command, "budget.db", *words, "--head", digest).exit_code == 0


def test_the_json_is_what_the_schema_says() -> None:
    """Before and after bookings, and where the chain was altered; an unknown key is refused."""
    check = Draft202012Validator(schemas.load("ledger"))
    ledger(*OPEN)
    book("first")
    data = json.loads(ledger("show", "budget.db", "--format", "json").stdout)
    check.validate(data)
    assert not check.is_valid(data | {"surprise": 1})
    with sqlite3.connect("budget.db") as connection:
        connection.execute("DROP TRIGGER dpaudit_ledger_no_update")
        connection.execute("UPDATE dpaudit_ledger SET entry = replace(entry, 'survey', 'servey')")
    connection.close()
    altered = ledger("show", "budget.db", "--format", "json")
    check.validate(json.loads(altered.stdout))
    assert altered.exit_code == 1


def test_verify_finds_what_was_altered_and_what_was_cut_off() -> None:
    """Exit code 1 for a changed line, and for a chain that lacks the digest that was kept."""
    ledger(*OPEN)
    digest = book("first").stdout.splitlines()[0].split()[-1]
    assert ledger("verify", "budget.db", "--head", digest).exit_code == 0
    ledger("export", "budget.db", "-o", "lines.jsonl")
    lines = Path("lines.jsonl").read_text(encoding="utf-8").splitlines()
    Path("short.jsonl").write_text(lines[0] + "\n", encoding="utf-8")
    assert ledger("import", "short.db", "short.jsonl").stdout == "imported: 1 entries\n"
    cut = ledger("verify", "short.db", "--head", digest)
    assert (cut.exit_code, cut.stdout[:6]) == (1, "DPA501")
    Path("bad.jsonl").write_text(lines[0].replace("survey", "servey") + "\n", encoding="utf-8")
    refused = ledger("import", "bad.db", "bad.jsonl")
    assert (refused.exit_code, Path("bad.db").exists()) == (1, False)


def test_an_altered_certificate_is_not_booked() -> None:
    """The certificate is checked again before anything is written."""
    ledger(*OPEN)
    text = Path("certificate.json").read_text(encoding="utf-8")
    Path("certificate.json").write_text(text.replace("0.03125", "0.003125"), encoding="utf-8")
    ended = book("first")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert json.loads(ledger("show", "budget.db", "--format", "json").stdout)["entries"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "none.db"), "dpaudit ledger open"),
        (("show", "budget.db", "--account", "other"), "there is: survey"),
        ((*OPEN[:5], "-1", *OPEN[6:]), "epsilon"),
        ((*OPEN, "--rule", "gaussian"), "positive delta"),
        (("open", "budget.db", "--account", "survey", "--epsilon", "2", "--unit", "one person"), "another budget"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments: tuple[str, ...], message: str) -> None:
    """Each message names the value and the remedy."""
    ledger(*OPEN)
    ended = ledger(*arguments)
    assert (ended.exit_code, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert message in ended.stderr
