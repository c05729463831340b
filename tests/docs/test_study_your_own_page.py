"""The page on a study of one's own: its files run as they are printed, and what is missing is told by its name."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpaudit.model.transcript import Transcript
from dpaudit.study.measuring import total_regret
from tests.command_line import dpaudit

PAGE = (Path(__file__).parents[2] / "docs" / "how_to" / "study_your_own.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r'```\w+ title="([\w.]+)"\n(.*?)```', PAGE, flags=re.DOTALL))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that puts the page's module, changed or not, where an installer would, and runs the study."""

    def ran(old: str = "", new: str = "") -> Any:
        info = tmp_path / "coin_bandit-0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coin-bandit\nVersion: 0.1\n", encoding="utf-8")
        groups = re.findall(r'entry-points."([\w.]+)"\]\n(\w+) = "([\w:]+)"', FILES["pyproject.toml"])
        points = "\n".join(f"[{group}]\n{name} = {value}\n" for group, name, value in groups)
        (info / "entry_points.txt").write_text(points, encoding="utf-8")
        assert old in FILES["coin_bandit.py"]
        (tmp_path / "coin_bandit.py").write_text(FILES["coin_bandit.py"].replace(old, new), encoding="utf-8")
        (tmp_path / "study.toml").write_text(FILES["study.toml"], encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        importlib.invalidate_caches()
        out = tmp_path / "study"
        result = dpaudit("study", str(tmp_path / "study.toml"), "-o", str(out))
        return result, out

    yield ran
    sys.modules.pop("coin_bandit", None)


def test_the_files_of_the_page_make_a_study(installed: Any) -> None:
    """Uniform play loses .05 a round, and learning is shown at epsilon 1 and not at .02."""
    result, out = installed()
    assert result.exit_code == 0, result.output
    summary = (out / "summary.md").read_text(encoding="utf-8")
    assert "Uniform play loses 0.05 a round." in summary
    rows = [line.split("|") for line in summary.splitlines() if line.startswith("| explore then commit")]
    assert [row[3].strip() for row in rows if " shown" in "|".join(row) and "not shown" not in "|".join(row)][-1] == "1"
    assert "not shown" in "|".join(rows[0])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("self.uniform_regret = gap / 2", "self.other = gap / 2", "TwoCoins.uniform_regret"),
        (
            '"regret": np.stack([np.full(n_runs, explored), committed], axis=1)',
            '"regret": committed',
            "(n_runs, parts)",
        ),
        ("    horizon: int\n", "    horizon: int = 1\n    rounds: int = 1\n", ""),
    ],
)
def test_what_a_contender_lacks_is_told_by_its_name(installed: Any, old: str, new: str, said: str) -> None:
    """No number of axes and no internal error; another field does no harm."""
    result, out = installed(old, new)
    told = result.output + "".join(path.read_text(encoding="utf-8") for path in out.glob("*.csv"))
    assert "Internal error" not in told
    assert said in told


def test_a_regret_of_another_shape_is_told() -> None:
    """(n_runs,) and (parts, n_runs) are no regret of each part."""
    for regret in (np.zeros(3), np.zeros((2, 3))):
        run = Transcript(n_runs=3, arrays={"regret": regret}, views={}, trace=())
        with pytest.raises(ValueError, match="shape"):
            total_regret(run, cumulative=False)
