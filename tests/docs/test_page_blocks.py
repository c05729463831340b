"""What pages print to be copied works: commands exist with their options, configurations are read, scripts run."""

import re
import runpy
import shlex
import tomllib
from pathlib import Path

import pytest
from typer.core import TyperGroup

from dpaudit.cli.app import COMMANDS
from dpaudit.configuration.config import read_config
from dpaudit.workflow import certificate_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = (*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md")
BLOCK = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
SCRIPTS = ("test_a_plugin.md",)
"""Pages whose plain Python blocks are scripts that need nothing else; other pages have tests of their own."""


def blocks(page: Path, *languages: str) -> list[str]:
    return [body for language, body in BLOCK.findall(page.read_text(encoding="utf-8")) if language in languages]


def commands(page: Path) -> list[list[str]]:
    """The calls of dpaudit in the shell blocks of a page, word by word."""
    lines = "\n".join(blocks(page, "console", "sh", "bash", "")).replace("\\\n", " ").splitlines()
    calls = (re.search(r"(?:^|&& |/)dpaudit (.+)", line.split("  #")[0].removeprefix("$ ")) for line in lines)
    return [shlex.split(call[1]) for call in calls if call]


def unknown_words(words: list[str]) -> list[str]:
    """The subcommands and options of a call that do not exist."""
    known = {entry.name: entry for entry in COMMANDS}
    if words[0] not in known:
        return words[:1]
    command, rest = known[words[0]].load(), words[1:]
    if isinstance(command, TyperGroup):
        if rest[0] not in command.commands:
            return rest[:1]
        command, rest = command.commands[rest[0]], rest[1:]
    options = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"-h", "--help"}
    return [word for word in rest if word.startswith("-") and word.partition("=")[0] not in options]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.stem)
def test_every_command_of_a_page_exists(page: Path) -> None:
    assert [(words, unknown_words(words)) for words in commands(page) if unknown_words(words)] == []


@pytest.mark.parametrize(
    ("call", "unknown"),
    [
        ("certifi x.toml", ["certifi"]),
        ("certify x.toml --formt json", ["--formt"]),
        ("ledger opn x.db", ["opn"]),
        ("ledger open x.db --account a --epsilon=2", []),
    ],
)
def test_a_word_that_no_command_knows_is_caught(call: str, unknown: list[str]) -> None:
    assert unknown_words(call.split()) == unknown


def configurations() -> list[tuple[str, str]]:
    """Every TOML block that is a whole configuration with a written claim, by its page."""
    found = ((page, body) for page in PAGES for body in blocks(page, "toml"))
    return [(page.stem, body) for page, body in found if {"claim", "declaration"} <= tomllib.loads(body).keys()]


@pytest.mark.parametrize(
    ("page", "text"), [(page, text) for page, text in configurations() if "logistic_noise" not in text]
)
def test_every_configuration_of_a_page_holds(page: str, text: str, tmp_path: Path) -> None:
    """The page of the logistic noise is left out: that mechanism is the reader's, and has a test of its own."""
    file = tmp_path / f"{page}.toml"
    file.write_text(text, encoding="utf-8")
    assert certificate_of(read_config(file), seed=0).verdict in ("certified", "stated")


@pytest.mark.parametrize("page", SCRIPTS)
def test_every_script_of_a_page_runs(page: str, tmp_path: Path) -> None:
    """Each block is a script of its own; what it asserts holds."""
    for number, body in enumerate(blocks(ROOT / "docs" / "how_to" / page, "python")):
        script = tmp_path / f"script{number}.py"
        script.write_text(body, encoding="utf-8")
        runpy.run_path(str(script))
