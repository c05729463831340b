"""Foreign text stays text: no command passes on an escape, a control, a direction override, a link or an image."""

import json
import os
import random
import re
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dpaudit.configuration.files import json_value, read_text
from dpaudit.errors import ConfigError
from dpaudit.runtime.whole_files import replace_file
from dpaudit.wording.escaping import LONGEST_LINE, markdown, one_line
from tests.command_line import Write, dpaudit
from tests.gate.conftest import WRITTEN

PAYLOADS = {
    "escape": "\x1b[2J\x1b[31mred",
    "title": "\x1b]0;owned\x07",
    "one-byte escape": "\x9b31mred",
    "direction": "\u202egnp.exe",
    "line separator": "a\u2028DPA000 b\u2029c",
    "carriage return": "good\rbad\x08\x7f",
    "image": "![i](http://evil.example/x.png) <img src=http://evil.example/y>",
    "link": "[click](javascript:alert(1)) http://evil.example www.evil.example <https://evil.example>",
}
COMMANDS = (
    ("certify", "{}"),
    ("explain", "{}"),
    ("calibrate", "{}"),
    ("check", "{}"),
    ("verify", "certificate.json"),
    ("ledger", "show", "ledger.db"),
)
LIVE = re.compile(r"(?<!\\)\]\(|https?://|www\.|<(?!sub>|/sub>)\w", re.IGNORECASE)


def raw(text: str) -> set[Any]:
    """The characters of a text that no terminal should get."""
    return {c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


def project(write: Write, payload: str) -> str:
    """A false claim, a certificate of a true one and a ledger, all full of a payload."""

    def text(epsilon: float, label: str = payload) -> str:
        return json.dumps(
            {
                "claim": {"epsilon": epsilon, "delta": 1e-5, "neighbours": "replace_one", "unit": payload},
                "declaration": {
                    "node": "sequential",
                    "parts": [
                        {
                            "node": "release",
                            "label": label,
                            "mechanism": {"name": "gaussian", "stddev": 8.0, "l2_sensitivity": 1.0},
                        }
                    ],
                },
                "system": {"name": payload},
            }
        )

    write(text(1.0), "true.json")
    dpaudit("certify", "true.json", "--format", "json", "-o", "certificate.json")
    opened = ("--epsilon", "5", "--delta", "1e-4", "--unit", payload)
    dpaudit("ledger", "open", "ledger.db", "--account", "data", *opened)
    dpaudit("ledger", "book", "ledger.db", "certificate.json", "--account", "data", "--label", "weekly")
    return write(text(0.1), "false.json")


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_no_command_prints_a_payload_raw(write: Write, payload: str) -> None:
    """Six commands, each as text and as Markdown: no control, no live link, no remote image."""
    name = project(write, payload)
    for command in COMMANDS:
        arguments = [part.format(name) for part in command]
        assert raw(dpaudit(*arguments).output) == set(), command
        if command[0] == "check":
            dpaudit(*arguments, "-o", "out")
            page = Path("out/summary.md").read_text(encoding="utf-8")
        else:
            page = dpaudit(*arguments, "--format", "md").stdout
        assert page, command
        assert raw(page) == set(), command
        assert LIVE.search(page) is None, command


def test_the_search_for_live_text_finds_it() -> None:
    """The twin: every payload is raw or live as it stands."""
    for payload in PAYLOADS.values():
        assert raw(payload) or LIVE.search(payload)


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_messages_about_what_was_typed_are_clean(write: Write, payload: str) -> None:
    """A command, an option, a file, a rule and a key that nobody knows are named without their escapes."""
    name = write(json.dumps({payload: 1}), "bad.json")
    for arguments in (
        (payload,),
        ("certify", name, f"--{payload}"),
        ("certify", f"{payload}.toml"),
        ("certify", name),
        ("certify", name, "--format", payload),
        ("check", name),
        ("ledger", payload),
        ("list", "schema", payload),
    ):
        ended = dpaudit(*arguments)
        assert ended.exit_code == 2
        assert raw(ended.output) == set(), arguments


def test_an_issue_is_one_line_however_long(write: Write) -> None:
    """Into a pipe nothing is wrapped: file, line, rule and the whole message, from the first character."""
    text = WRITTEN.replace("epsilon = 1.0", "epsilon = 0.2").replace("one customer", "one " + "very " * 60 + "c")
    ended = dpaudit("check", write(text))
    lines = [line for line in ended.stdout.splitlines() if "DPA" in line]
    assert len(lines) == 1
    assert re.fullmatch(r"release\.toml:2: DPA101 .{100,}\.", lines[0])


@pytest.mark.parametrize("size", [10**4, 10**6])
def test_a_message_has_a_longest_line(write: Write, size: int) -> None:
    """A name of a million letters makes an error line of at most 4,000."""
    ended = dpaudit("certify", write(f'[algorithm]\nname = "{"a" * (size // 2)}"\n{"b" * (size // 3)} = 1\n'))
    assert ended.exit_code == 2
    assert len(ended.stderr) <= LONGEST_LINE + 1
    assert len(one_line("x" * size)) <= LONGEST_LINE


def test_a_deep_checkpoint_is_no_checkpoint(tmp_path: Path) -> None:
    """A history of deep JSON is refused as other text is."""
    from algorithms.dp_sgd.reading import read_checkpoint

    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(ConfigError, match="no checkpoint"):
        read_checkpoint(tmp_path / "deep.json")


def test_a_hundred_thousand_tables_are_refused_at_once(write: Write) -> None:
    """Nobody writes so many; before, they took the parser six seconds."""
    started = time.process_time()
    ended = dpaudit("certify", write("[[claim]]\n" * 90_000))
    assert ended.exit_code == 2
    assert time.process_time() - started < 5


def test_a_data_file_is_never_quoted(write: Write) -> None:
    """A path to another file than was meant is refused without a word of its content."""
    write("root:$6$secret:19000:0:99999:7:::\n", "shadow")
    text = '[algorithm]\nname = "dp_ebs"\nepsilon = 1.0\nhorizon = 100\narms = 3\n[problem]\n'
    ended = dpaudit("certify", write(f'{text}name = "preflib"\npath = "shadow"\n'))
    assert ended.exit_code == 2
    assert "secret" not in ended.output


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom", "fifo", "."])
def test_a_file_that_never_ends_is_refused(write: Write, path: str) -> None:
    """Devices, pipes without a writer and folders: exit code 2, at once, as configuration and as data."""
    os.mkfifo("fifo")
    assert dpaudit("certify", path).exit_code == 2
    assert dpaudit("verify", path).exit_code == 2
    algorithm = '[algorithm]\nname = "dp_ebs"\nepsilon = 1.0\nhorizon = 9\narms = 3\n'
    text = f'{algorithm}[problem]\nname = "preflib"\npath = "{path}"\n'
    assert dpaudit("certify", write(text)).exit_code == 2


def test_a_file_has_a_largest_size_and_json_a_largest_depth(tmp_path: Path) -> None:
    """One byte more than allowed is refused; 600 brackets pass, 601 do not; a key twice is found at once."""
    (tmp_path / "a").write_bytes(b"x" * 11)
    assert len(read_text(tmp_path / "a", 11)) == 11
    with pytest.raises(ConfigError, match="at most 10 bytes"):
        read_text(tmp_path / "a", 10)
    assert json_value('"]]]"') == "]]]"
    json_value("[" * 600 + "]" * 600)
    for text in ("[" * 601 + "]" * 601, '{"a": 1, "a": 2}', "NaN", "9" * 301):
        with pytest.raises(ValueError, match=r"deep|twice|number"):
            json_value(text)
    twice = "{" + ",".join(f'"{n}": 0' for n in range(50_000)) + ', "49999": 1}'
    started = time.process_time()
    with pytest.raises(ValueError, match="49999"):
        json_value(twice)
    assert time.process_time() - started < 5


def test_addresses_lead_nowhere() -> None:
    """GitHub makes links of bare addresses; the colon and the dot are written so that it does not."""
    assert markdown("see http://a.b and www.c.d") == "see http&#58;//a.b and www&#46;c.d"
    assert markdown("a: b") == "a: b"


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new text is written beside the old one; where that fails the old one stays and nothing lies beside it."""
    file = tmp_path / "report.json"
    replace_file(file, b"old")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(file, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert file.read_bytes() == b"old"


EXITING = """
import os, sys
from dataclasses import dataclass
from dpaudit import Claim, Release
from mechanisms import Laplace

@dataclass(frozen=True, kw_only=True)
class Silent:
    epsilon: float

    def claim(self):
        return Claim(epsilon=self.epsilon, neighbours="replace_one", unit="one person")

    def declaration(self):
        {}
        return Release(label="x", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one"))

    def notes(self, problem):
        return ()
"""


@pytest.mark.parametrize(
    "line", ["sys.exit(0)", "os._exit(0)", "raise GeneratorExit", "sys.stdout = open(os.devnull, 'w')"]
)
@pytest.mark.parametrize("command", [("audit",), ("check",), ("report", "-o", "out")], ids=lambda c: c[0])
def test_code_that_ends_the_process_is_no_pass(
    write: Write, tmp_path: Path, line: str, command: tuple[str, ...]
) -> None:
    """`audit`, `check` and `report` never end with 0 and nothing said, whatever the code that they run does."""
    write(EXITING.format(line), "silent.py")
    config = write('[algorithm]\nname = "silent"\nepsilon = 1.0\n')
    start = (
        "import sys; sys.path.insert(0, '.'); import silent, dpaudit.configuration.config as c; "
        "c.find_plugin = lambda kind, name: silent.Silent; from dpaudit.cli import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", start, command[0], config, *command[1:]],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode not in (0, 3), ended.stderr
    assert ended.stderr + ended.stdout


TOKENS = (
    "[claim]",
    "[declaration]",
    "[algorithm]",
    "epsilon",
    "delta",
    "=",
    "1.0",
    "-1",
    "nan",
    "inf",
    "1e999",
    '"x"',
    "[",
    "]",
    "{",
    "}",
    "\n",
    ".",
    ",",
    "node",
    '"release"',
    '"repeat"',
    "times",
    "part",
    "true",
    "\x00",
    "\u202e",
    "mechanism",
    '"laplace"',
    "scale",
    "10" * 60,
    "0x1F",
    "1979-05-27",
    "'''",
    "#",
    "name",
    '"capri"',
    '"lplr"',
)


def mutated(chance: Random, text: str) -> str:
    """A valid configuration with some of its pieces dropped, doubled, swapped or replaced."""
    pieces = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(pieces))
        pieces[at : at + chance.randint(0, 2)] = chance.choices(TOKENS, k=chance.randint(0, 2))
    return "".join(pieces)


@pytest.mark.parametrize("seed", [*range(5), *(pytest.param(n, marks=pytest.mark.slow) for n in range(5, 25))])
def test_fuzzed_configurations_never_end_in_an_internal_error(write: Write, seed: int) -> None:
    """19 configurations a seed, 475 in all: exit code 0, 1 or 2, no traceback, and none over 20 seconds."""
    chance = random.Random(seed)  # noqa: S311 - reproducible mutations
    for number in range(19):
        text = mutated(chance, WRITTEN) if number % 3 else " ".join(chance.choices(TOKENS, k=chance.randint(1, 60)))
        name, started = write(text, f"fuzzed-{number}.toml"), time.process_time()
        ended = dpaudit("certify", name)
        assert ended.exit_code in (0, 1, 2), (text, ended.output)
        assert raw(ended.output) == set()
        assert time.process_time() - started < 20, text
