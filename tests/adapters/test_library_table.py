"""`[library]` of a configuration: a function of the user's builds the release, in every process that runs it."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dpaudit.cli.app import app

BUILDING = """\
import numpy as np
from dpaudit import Claim
from dpaudit.adapters import LibraryRelease
from dpaudit.adapters.calls import Calls
from dpaudit.model.declaration import Stated

NOISE = np.random.default_rng(0)


def noise(scale):
    return NOISE.geometric(1 - np.exp(-1 / scale))


def release(scale):
    return LibraryRelease(
        library="demo", version="2", text="a count", claim=Claim(epsilon=1.0, neighbours="add_remove"),
        source="count.epsilon", declaration=Stated(epsilon=1.0, source="demo 2", neighbours="add_remove"),
        function=Calls(call=lambda data: int(data + noise(scale) - noise(scale))),
        pair=(3, 4), reproducible=False,
    )


def good():
    return release(1.0)


def half():
    return release(0.4)


def other():
    return 3


def raising():
    raise OSError("no connection\\nto the library")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a module that builds releases; it is not the working folder."""
    (tmp_path / "built_releases.py").write_text(BUILDING, encoding="utf-8")
    monkeypatch.chdir(Path(__file__).parent)
    return tmp_path


def command(folder: Path, name: str, table: str, *options: str) -> Any:
    """Return the ended command on a configuration with this `[library]`."""
    path = folder / "library.toml"
    path.write_text(f"[library]\n{table}\n\n[audit]\nruns = 3000\nseed = 1\n", encoding="utf-8")
    return CliRunner().invoke(app, [name, str(path), *options])


@pytest.mark.parametrize(("function", "code", "verdict"), [("good", 0, "not_refuted"), ("half", 1, "violation")])
def test_a_release_is_audited_at_its_own_claim(folder: Path, function: str, code: int, verdict: str) -> None:
    """The right noise passes, a fraction of it is a violation; the certificate says whose word the claim is."""
    table = f'name = "demo"\nobject = "built_releases:{function}"'
    ended = command(folder, "audit", table, "--format", "json")
    assert ended.exit_code == code, ended.output
    assert json.loads(ended.stdout)[0]["verdict"] == verdict
    certificate = json.loads(command(folder, "certify", table, "--format", "json").stdout)
    assert certificate["declaration"]["node"] == "stated"
    assert certificate["declaration"]["source"] == "demo 2"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('name = "other"\nobject = "built_releases:good"', "to be the library of the object, 'demo'"),
        ('name = "demo"\nobject = "built_releases:other"', "to return what dpaudit.adapters.adapt returns, got int"),
        ('name = "demo"\nobject = "built_releases:raising"', "raised OSError: no connection to the library"),
        ('name = "demo"\nobject = "built_releases:missing"', "no attribute 'missing'"),
        ('name = "demo"\nobject = "missing_module:good"', "cannot be imported"),
        ('name = "demo"\nobject = "good"', "to be 'package.module:function'"),
        ('name = "demo"', "[library] missing key 'object', which is text."),
        ('name = "demo"\nobject = "built_releases:good"\nobjct = 1', "unknown key 'objct'; did you mean 'object'?"),
    ],
)
def test_a_table_that_builds_no_release_is_one_line_with_its_place(folder: Path, table: str, words: str) -> None:
    """Exit code 2, file and line, no traceback."""
    ended = command(folder, "certify", table)
    assert ended.exit_code == 2
    assert words in ended.stderr
    assert "library.toml:" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_a_claim_beside_a_library_is_refused(folder: Path) -> None:
    """A release brings its own."""
    ended = command(folder, "certify", 'name = "demo"\nobject = "built_releases:good"\n\n[claim]\nepsilon = 2.0')
    assert ended.exit_code == 2
    assert "stands beside [library]" in ended.stderr
