"""What the distribution holds, what the packages export, and who imports whom."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("algorithms", "audits", "dpaudit", "mechanisms")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build the wheel with what is installed here, and open it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_wheel_has_exactly_the_four_packages_at_its_top(wheel):
    """Nothing else of ours lands in anybody's site-packages: no tests, no examples, no benchmarks."""
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_the_wheel_holds_the_files_that_are_read_at_run_time(wheel):
    """Type markers, the demonstration's configurations, templates and schemas are there beside the code."""
    names = set(wheel.namelist())
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
    tracked = [path for path in (ROOT / "dpaudit").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    missing = {path.relative_to(ROOT).as_posix() for path in tracked} - names
    assert not missing
    assert "dpaudit/demo/tight.toml" in names


def test_the_console_script_is_the_command_line(wheel):
    """Installing the wheel makes `dpaudit` start `dpaudit.cli:main`."""
    entry = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "dpaudit = dpaudit.cli:main" in wheel.read(entry).decode()


def test_a_name_that_is_not_exported_is_an_attribute_error():
    """The lazy root behaves like any module."""
    import dpaudit

    with pytest.raises(AttributeError, match="no attribute 'Certificat'"):
        _ = dpaudit.Certificat


def test_importing_the_root_imports_nothing_heavy():
    """`import dpaudit` and `import audits` are cheap: neither numpy nor scipy comes with them."""
    code = "import sys, dpaudit, audits, mechanisms, algorithms; print(sorted({'numpy', 'scipy'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ended.stdout.strip() == "[]"


def _broken(tmp_path: Path) -> Path:
    """Return a copy of the import contracts' packages in which the checker imports a mechanism."""
    for package in PACKAGES:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "dpaudit" / "cheat.py").write_text("import mechanisms\n", encoding="utf-8")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    assert len(contracts["contracts"]) == 4
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(text[text.index("[tool.importlinter]") :], encoding="utf-8")
    return tmp_path


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the import linter in a folder, without its cache."""
    code = "from importlinter.cli import lint_imports_command as lint; lint(['--no-cache'])"
    return subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": str(folder)},
    )


def test_imports_keep_to_the_layers():
    """All four contracts hold for the packages as they are."""
    ended = _lint(ROOT)
    assert ended.returncode == 0, ended.stdout


def test_an_import_against_the_layers_is_caught(tmp_path):
    """The twin: a checker that imports a mechanism breaks its contract."""
    ended = _lint(_broken(tmp_path))
    assert ended.returncode == 1
    assert "The checker knows no mechanism, algorithm or audit BROKEN" in ended.stdout
