"""Input that means harm does none: it ends with a message and exit code 2, and what it says stays text."""

import json
import pickle
import sqlite3
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from dpaudit import schemas
from tests.command_line import Write, dpaudit
from tests.gate import sarif_schema
from tests.gate.conftest import WRITTEN

MARKUP = "<script>alert(1)</script>|`x`![i](http://a)[b](javascript:c)\u202egnp.\x07 ]]> &amp; \"'"


def released(label: str) -> tuple[str, str]:
    """A false claim on a release with this label and unit."""
    text = json.dumps(label)
    return json.dumps(
        {
            "claim": {"epsilon": 0.1, "delta": 1e-5, "neighbours": "replace_one", "unit": label},
            "declaration": {
                "node": "group",
                "size": 2,
                "part": {
                    "node": "release",
                    "label": label,
                    "mechanism": {"name": "gaussian", "stddev": 1.0, "l2_sensitivity": 1.0},
                },
            },
            "system": {"name": label},
        }
    ), text


def test_markup_in_names_stays_text_in_every_file(write: Write) -> None:
    """Unit, label, system and file name full of markup: valid SARIF and JUnit, no tag in Markdown, no link."""
    text, _ = released(MARKUP)
    name = write(text, "a&<b> |c.json")
    ended = dpaudit("check", name, "-o", "out")
    assert ended.exit_code == 1
    sarif = json.loads(Path("out/check.sarif").read_text(encoding="utf-8"))
    Draft202012Validator(sarif_schema.SARIF).validate(sarif)
    Draft202012Validator(schemas.load("check")).validate(json.loads(Path("out/check.json").read_text(encoding="utf-8")))
    root = ElementTree.parse("out/junit.xml").getroot()  # noqa: S314 - our own file
    assert root.find("testsuite").get("name") == name
    summary = Path("out/summary.md").read_text(encoding="utf-8")
    assert "<script" not in summary
    assert "<b>" not in summary
    assert "](" not in summary
    for shown in (summary, ended.stdout, Path("out/junit.xml").read_text(encoding="utf-8")):
        assert "\u202e" not in shown
        assert "\x07" not in shown
    rows = [line for line in summary.splitlines() if line.startswith("| ")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {6}


class Bomb:
    """Unpickling this would write a file."""

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return (open, ("exploded", "w"))


PICKLE = pickle.dumps(Bomb())


ENTRANCES = (
    ("certify", "{}"),
    ("explain", "{}"),
    ("calibrate", "{}"),
    ("audit", "{}"),
    ("check", "{}"),
    ("verify", "{}"),
    ("compare", "{}", "{}"),
    ("report", "{}", "-o", "out"),
    ("report", "release.toml", "-o", "out", "--previous", "{}"),
    ("check", "release.toml", "--baseline", "{}"),
    ("ledger", "import", "ledger.db", "{}"),
    ("ledger", "book", "ledger.db", "{}", "--account", "data", "--label", "x"),
)
FINDING = (("verify", "{}"), ("ledger", "import"))
FILES: dict[str, bytes] = {
    "deep lists.json": b'{"claim": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep tree.json": b'{"claim": {}, "declaration": ' + b'{"node": "group", "part": ' * 5_000 + b"1" + b"}" * 5_001,
    "1e999999999.json": b'{"claim": {"epsilon": 1e999999999, "neighbours": "replace_one"}, "declaration": {}}',
    "5,000 digits.json": b'{"claim": {"epsilon": ' + b"9" * 5_000 + b', "neighbours": "replace_one"}}',
    "NaN.json": b'{"claim": {"epsilon": NaN}, "declaration": {}}',
    "binary.json": b"\x00\x01\x02",
    "pickle.json": PICKLE,
    "pickle.toml": PICKLE,
    "pickle.pkl": PICKLE,
}


@pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("name", FILES)
def test_what_is_no_input_is_a_message_within_seconds(write: Write, name: str, entrance: tuple[str, ...]) -> None:
    """Exit code 2 at every entrance, or 1 where a fault of a file is a finding; no traceback, no code of a pickle."""
    write(WRITTEN)
    Path(name).write_bytes(FILES[name])
    started = time.process_time()
    ended = dpaudit(*(name if word == "{}" else word for word in entrance))
    assert ended.exit_code == 2 or (ended.exit_code == 1 and entrance[:2] in FINDING), ended.output
    assert "Traceback" not in ended.output
    assert "Internal error" not in ended.output
    assert len(ended.stderr.splitlines()) <= 1
    assert len(ended.output) < 4_000
    assert not Path("exploded").exists()
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 50_000, "x = " + "{a = " * 50_000, "a" + ".a" * 50_000 + " = 1", "[" + "a." * 50_000 + "a]"]
)
def test_absurd_toml_is_a_message(write: Write, text: str) -> None:
    """Lists, tables and keys of a depth that nobody means: exit code 2."""
    ended = dpaudit("check", write(text, "absurd.toml"))
    assert ended.exit_code == 2
    assert len(ended.output) < 4_000


@pytest.mark.parametrize("count", [10**18, 10**300])
def test_absurd_counts_are_told_and_allocate_nothing(write: Write, count: int) -> None:
    """A repeat of 10^18 times, a group of 10^300: an answer or a message, never a crash or a full memory."""
    text = json.dumps(
        {
            "claim": {"epsilon": 1.0, "delta": 1e-5, "neighbours": "replace_one", "unit": "u"},
            "declaration": {
                "node": "repeat",
                "times": count,
                "part": {
                    "node": "release",
                    "label": "x",
                    "mechanism": {"name": "gaussian", "stddev": 1.0, "l2_sensitivity": 1.0},
                },
            },
        }
    )
    ended = dpaudit("check", write(text, "many.json"))
    assert ended.exit_code in (1, 2), ended.output
    assert "Internal error" not in ended.output


def cyclic_json() -> str:
    """There are no references in JSON; what looks like one is an unknown key, and is followed nowhere."""
    return '{"$ref": "#", "claim": {"$ref": "#/claim"}, "declaration": {"$ref": "#/declaration"}}'


def test_a_reference_is_followed_nowhere(write: Write) -> None:
    """`$ref` is an unknown section; a symbolic link to itself cannot be read. Both are exit code 2."""
    ended = dpaudit("check", write(cyclic_json(), "cyclic.json"))
    assert ended.exit_code == 2
    Path("loop.toml").symlink_to("loop.toml")
    ended = dpaudit("check", "loop.toml")
    assert ended.exit_code == 2
    assert "loop.toml" in ended.stdout


def test_names_never_become_paths(write: Write) -> None:
    """Labels, systems and units like ../../x write nothing outside the folder of -o, and its names are fixed."""
    text, _ = released("../../../escaped")
    name = write(text, "inner/../traversal.json")
    before = {path for path in Path.cwd().parent.rglob("*") if "out" not in path.parts}
    dpaudit("check", name, "-o", "out")
    dpaudit("report", name, "-o", "out")
    assert {path for path in Path.cwd().parent.rglob("*") if "out" not in path.parts} == before
    assert {"check.json", "check.sarif", "junit.xml", "summary.md"} <= {path.name for path in Path("out").iterdir()}


def test_the_bomb_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: unpickled, it writes its file."""
    monkeypatch.chdir(tmp_path)
    pickle.loads(PICKLE).close()  # noqa: S301 - it is ours
    assert Path("exploded").exists()


@pytest.mark.parametrize(
    "data",
    [
        [],
        {"schema": "urn:dpaudit:schema:baseline:2"},
        {"schema": "urn:dpaudit:schema:baseline:2", "accepted": [1]},
        {"schema": "urn:dpaudit:schema:baseline:2", "accepted": [{"fingerprint": "x"}]},
        {
            "schema": "urn:dpaudit:schema:baseline:2",
            "accepted": [
                dict.fromkeys(("fingerprint", "rule", "config", "subject", "reason", "accepted", "expires"), "x")
            ],
        },
    ],
)
def test_a_malformed_baseline_accepts_nothing(
    write: Write, data: list[Any] | dict[str, str | list[int | dict[str, str]]]
) -> None:
    """Exit code 2 and the place of the fault; the check does not go on without its baseline."""
    write(json.dumps(data), "b.json")
    ended = dpaudit("check", write(WRITTEN), "--baseline", "b.json")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("b.json: ")


@pytest.mark.parametrize("state", ["[1e400]", "{", '{"against": 1}', "[" * 100_000, '"x"', "[NaN]"])
def test_malformed_evidence_is_refused(tmp_path: Path, state: str) -> None:
    """Evidence that is no evidence is an error that names its file; nothing of it is used."""
    import numpy as np

    from dpaudit.errors import ConfigError
    from dpaudit.pytest_plugin.fixture import PrivacyChecks
    from dpaudit.pytest_plugin.settings import Settings

    path = tmp_path / "evidence.sqlite"
    settings = Settings(profile="fast", significance=0.01, evidence=path, seed=None)

    def check() -> None:
        dp = PrivacyChecks(
            test="t",
            mark=pytest.mark.dp(epsilon=1.0, neighbours="replace_one", runs=20).mark,
            folder=tmp_path,
            settings=settings,
            tell=lambda *_: None,
        )
        dp.check_function(lambda data, rng, n_runs: data + rng.laplace(0, 1, n_runs), (0.0, 1.0), score=np.asarray)

    check()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE checks SET state = ?", (state,))
    connection.close()
    with pytest.raises(ConfigError, match=r"evidence\.sqlite"):
        check()
    path.write_bytes(PICKLE)
    with pytest.raises(ConfigError, match="not a usable file of evidence"):
        check()
