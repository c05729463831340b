"""The wall night by night: evidence accumulates, lapses with the version, and shares one error rate for ever."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.wall.__main__ import app
from benchmarks.wall.evidence_folder import EvidenceFolder
from benchmarks.wall.nightly import measure_night
from benchmarks.wall.row import Row, RowResult
from dpaudit import Claim
from dpaudit.adapters import LibraryRelease
from dpaudit.adapters.calls import SeededCalls
from dpaudit.errors import ConfigError
from dpaudit.model.declaration import Stated


def _row(scale: float = 1.0, *, version: str = "1", runs: int = 60) -> Row:
    """Return the row of a count with geometric noise that claims epsilon 1 and needs scale 1 for it."""

    def prepare(seed: int) -> Any:
        rng = np.random.default_rng(seed)

        def noisy(data: int) -> int:
            first, second = rng.geometric(1 - np.exp(-1 / scale), 2)
            return int(data + first - second)

        return noisy

    def build() -> LibraryRelease:
        return LibraryRelease(
            library="demo",
            version=version,
            text="a count",
            claim=Claim(epsilon=1.0, neighbours="add_remove"),
            source="count.epsilon",
            declaration=Stated(epsilon=1.0, source="demo", neighbours="add_remove"),
            function=SeededCalls(prepare=prepare),
            pair=(3, 4),
            reproducible=True,
        )

    return Row(library="demo", name="count", pair="3 and 4", runs=runs, build=build)


def _folder(path: Path, **changes: Any) -> EvidenceFolder:
    """Return a folder of evidence for ten rows."""
    return replace(EvidenceFolder(path=path, family=10, significance=0.01), **changes)


def _night(row: Row, folder: EvidenceFolder, seed: int = 1) -> RowResult:
    """Return the result of a row after one more night."""
    return measure_night([row], folder, seed=seed)[0]


def test_a_defect_too_small_for_one_night_falls_in_a_later_one(tmp_path: Path) -> None:
    """Half the noise is not accused in the first night and is in some later one; the same seed draws fresh runs."""
    nights = [_night(_row(0.5), _folder(tmp_path)) for _ in range(12)]
    accused = [night.accused for night in nights]
    assert not accused[0]
    assert accused[-1]
    assert accused == sorted(accused), "an accused row stays accused"
    assert [night.epsilon_lower for night in nights] == sorted(night.epsilon_lower for night in nights)
    first = accused.index(True)
    assert nights[first].runs == nights[-1].runs, "a row whose claim has fallen is not run again"
    assert f"Evidence of {first + 1} nights on version 1." in nights[first].note


def test_a_sound_row_is_not_accused_and_its_runs_add_up(tmp_path: Path) -> None:
    """Six nights at level 6e-4; a false alarm has probability 6e-4, and the seed is fixed."""
    nights = [_night(_row(), _folder(tmp_path)) for _ in range(6)]
    assert not any(night.accused for night in nights)
    assert [night.runs for night in nights] == [60 * k for k in range(1, 7)]


def test_another_version_starts_anew_at_a_smaller_level(tmp_path: Path) -> None:
    """Evidence lapses with the version; the levels of all versions add up to no more than the row's share."""
    folder = _folder(tmp_path)
    assert _night(_row(0.2, runs=400), folder).accused
    assert _night(_row(0.2, runs=400), folder).accused
    fixed = _night(_row(1.0, version="2"), folder)
    assert (fixed.accused, fixed.runs) == (False, 60)
    held = json.loads(next(file for file in tmp_path.iterdir() if file.name != "wall.json").read_text())
    assert (held["generation"], held["nights"]) == (2, 1)
    assert folder.level(2) == pytest.approx(folder.level(1) / 4)
    assert sum(folder.level(k) for k in range(1, 100_000)) <= 0.001


@pytest.mark.parametrize("changes", [{"family": 11}, {"significance": 0.05}])
def test_the_error_rate_belongs_to_the_folder(tmp_path: Path, changes: dict[str, Any]) -> None:
    """Another family or significance is refused: shares were cut from the first ones."""
    _night(_row(), _folder(tmp_path))
    with pytest.raises(ConfigError, match="holds for the life of its folder"):
        _night(_row(), _folder(tmp_path, **changes))


@pytest.mark.parametrize("text", ["no json", "[]", "{}", '{"generation": -1}'])
def test_a_file_that_is_no_evidence_is_not_believed(tmp_path: Path, text: str) -> None:
    """The row says so and is not run; nothing is overwritten."""
    _night(_row(), _folder(tmp_path))
    file = next(file for file in tmp_path.iterdir() if file.name != "wall.json")
    file.write_text(text)
    found = _night(_row(), _folder(tmp_path))
    assert found.outcome == "not run"
    assert "move it away" in found.note
    assert file.read_text() == text


def test_a_night_added_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    """Of two nights that continue the same evidence the second to end is dropped."""
    folder = _folder(tmp_path)
    folder.open()
    key = ("demo", "count", "3 and 4")
    claim = Claim(epsilon=1.0, neighbours="add_remove")
    before = folder.read(key, "1", claim)
    assert folder.keep(key, before, replace(before, nights=1, runs=5))
    assert not folder.keep(key, before, replace(before, nights=1, runs=7))
    assert folder.read(key, "1", claim).runs == 5


def test_the_command_keeps_a_folder(tmp_path: Path) -> None:
    """A private list, two nights: the second continues the first; another family is one line and exit code 2."""
    (tmp_path / "nightly_rows.py").write_text(
        "import numpy as np\n"
        "from dpaudit import Claim\n"
        "from dpaudit.adapters import LibraryRelease\n"
        "from dpaudit.adapters.calls import Calls\n"
        "from dpaudit.model.declaration import Stated\n"
        "NOISE = np.random.default_rng(0)\n"
        "def build():\n"
        "    return LibraryRelease(library='demo', version='1', text='bit', source='word', reproducible=False,\n"
        "        claim=Claim(epsilon=1.0, neighbours='replace_one'), declaration=Stated(epsilon=1.0, source='word'),\n"
        "        function=Calls(call=lambda data: bool(NOISE.random() < (0.7 if data else 0.3))), pair=(0, 1))\n"
    )
    rows = '[[row]]\nlibrary = "demo"\nname = "bit"\nobject = "nightly_rows:build"\nruns = 50\nstanding = "sound"\n'
    (tmp_path / "rows.toml").write_text(rows)
    words = ["--private", str(tmp_path / "rows.toml"), "--nightly", str(tmp_path / "kept"), "--seed", "1"]
    ended = [CliRunner().invoke(app, [*words, "--format", "json"]) for _ in range(2)]
    assert [json.loads(one.stdout)["rows"][0]["runs"] for one in ended] == [50, 100]
    refused = CliRunner().invoke(app, [*words, "--family", "9"])
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
