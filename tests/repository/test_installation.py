"""Installed files against the installer's record: what is missing, changed or foreign is named."""

import subprocess
import sys
from importlib.metadata import FileHash, PackagePath, PathDistribution
from pathlib import Path

import pytest

from dpaudit.runtime.installation import editable_folder, file_faults

ROOT = Path(__file__).parents[2]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Install the wheel of this copy into a folder of its own, without dependencies."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(tmp_path),
    ]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    return tmp_path


def _doctor(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the installation check of the copy in `folder`."""
    code = "from dpaudit.runtime.installation import installation_summary; print(installation_summary())"
    environment = {"PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=folder, env=environment
    )


def test_a_fresh_installation_is_as_recorded_and_every_kind_of_damage_is_named(installed: Path) -> None:
    """A missing, a changed and a foreign file are each named; repairing all three passes again."""
    sound = _doctor(installed)
    assert sound.returncode == 0, sound.stderr
    assert "are as the installer recorded them" in sound.stdout
    changed, missing = installed / "mechanisms" / "laplace.py", installed / "audits" / "bounds" / "guessing.py"
    foreign = installed / "algorithms" / "sorting.py"
    texts = {path: path.read_text(encoding="utf-8") for path in (changed, missing)}
    changed.write_text(texts[changed] + "\n", encoding="utf-8")
    missing.unlink()
    foreign.write_text("", encoding="utf-8")
    damaged = _doctor(installed)
    assert damaged.returncode == 1
    assert "3 files are not the distribution's own" in damaged.stderr
    for fault in (f"changed {changed}", f"missing {missing}", f"foreign {foreign}"):
        assert fault in damaged.stderr
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    foreign.unlink()
    assert _doctor(installed).returncode == 0


def test_compiled_bytecode_is_not_foreign(tmp_path: Path) -> None:
    """Python writes `__pycache__` beside every module that it imports."""
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "x.pyc").write_bytes(b"")
    assert file_faults({}, (tmp_path,)) == ()
    (tmp_path / "x.py").write_text("", encoding="utf-8")
    assert file_faults({}, (tmp_path,)) == (f"foreign {tmp_path / 'x.py'}",)


@pytest.mark.parametrize("recorded", ["", "sha512=AAAA"])
def test_a_file_whose_record_has_no_sha256_is_not_taken_as_sound(tmp_path: Path, recorded: str) -> None:
    """A record without a hash, or with another kind of hash, verifies nothing."""
    (tmp_path / "x.py").write_text("", encoding="utf-8")
    entry = PackagePath("x.py")
    entry.hash = FileHash(recorded) if recorded else None
    assert file_faults({tmp_path / "x.py": entry}, (tmp_path,)) == (f"unverifiable {tmp_path / 'x.py'}",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"url": "file:///some/where%20else", "dir_info": {"editable": true}}', Path("/some/where else")),
        ('{"url": "file:///some/where", "dir_info": {}}', None),
        (None, None),
    ],
)
def test_an_editable_installation_names_its_folder(tmp_path: Path, text: str | None, expected: Path | None) -> None:
    """The folder is read from direct_url.json (PEP 610); any other installation has none."""
    if text is not None:
        (tmp_path / "direct_url.json").write_text(text, encoding="utf-8")
    assert editable_folder(PathDistribution(tmp_path)) == expected
