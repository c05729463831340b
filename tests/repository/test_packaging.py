"""What the distribution holds, what the packages export, and who imports whom."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any, cast

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


def test_the_wheel_has_exactly_the_four_packages_at_its_top(wheel: zipfile.ZipFile) -> None:
    """Nothing else of ours lands in anybody's site-packages: no tests, no examples, no benchmarks."""
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_the_wheel_holds_the_files_that_are_read_at_run_time(wheel: zipfile.ZipFile) -> None:
    """Type markers, the demonstration's configurations, templates and schemas are there beside the code."""
    names = set(wheel.namelist())
    for package in PACKAGES:
        assert f"{package}/py.typed" in names
    tracked = [path for path in (ROOT / "dpaudit").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    missing = {path.relative_to(ROOT).as_posix() for path in tracked} - names
    assert not missing
    assert {"dpaudit/demo/tight.toml", "dpaudit/demo/studies/insurance_plans.toml"} <= set(names)


def test_the_console_script_is_the_command_line(wheel: zipfile.ZipFile) -> None:
    """Installing the wheel makes `dpaudit` start `dpaudit.cli:main`."""
    entry = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "dpaudit = dpaudit.cli:main" in wheel.read(entry).decode()


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    """The lazy root behaves like any module, and answers a misspelt name with the name that is meant."""
    import dpaudit

    with pytest.raises(AttributeError, match="no attribute 'Spreadsheet'"):
        _ = cast("Any", dpaudit).Spreadsheet
    with pytest.raises(ImportError, match="did you mean 'Certificate'"):
        _ = cast("Any", dpaudit).Certificat


def test_importing_the_root_imports_nothing_heavy() -> None:
    """`import dpaudit` and `import audits` are cheap: neither numpy nor scipy comes with them."""
    roots = "dpaudit, audits, mechanisms, algorithms"
    code = f"import sys, {roots}; print(sorted({{'numpy', 'scipy', 'joblib'}} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ended.stdout.strip() == "[]"


PLANTED = {
    "The checker knows no mechanism, algorithm or audit": ("dpaudit/checks.py", "import mechanisms.laplace"),
    "Algorithms and audits never know each other, audits know no mechanism": (
        "audits/experiment/views.py",
        "import mechanisms.laplace",
    ),
    "Algorithms know no audit": ("algorithms/kernels.py", "import audits.bounds.guessing"),
    "Mechanisms know only the checker": ("mechanisms/_draws/exact.py", "import algorithms.kernels"),
    "The rooms of the checker, downwards only": ("dpaudit/model/claim.py", "import dpaudit.report.layout"),
    "The interpreter of declarations knows the data model alone": (
        "dpaudit/semantics/draws.py",
        "import dpaudit.errors",
    ),
    "Other packages see the checker's root, its data model and its rooms for authors": (
        "mechanisms/_matrices/wishart.py",
        "import dpaudit.engines.basic",
    ),
    "The rooms of an algorithm, downwards only": ("algorithms/lplr/settings.py", "import algorithms.lplr.run"),
    "The rooms of the audits, downwards only": ("audits/bounds/guessing.py", "import audits.procedures.anytime"),
    "No import circle of any kind": ("algorithms/problems/tables.py", "import algorithms.problems.affairs"),
}
"""For each contract, a file and an import that breaks it."""

FORMS = {
    "at the top": "\n{}\n",
    "inside a function": "\n\ndef planted() -> None:\n    {}\n",
    "for type checkers only": "\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    {}\n",
}
"""Three ways to write an import; none of them hides it."""


def _lint(folder: Path) -> str:
    """Return what the import linter prints in a folder, without its cache and in lines that are never wrapped."""
    code = "from importlinter.cli import lint_imports_command as lint; lint(['--no-cache'])"
    environment = {"PYTHONPATH": str(folder), "COLUMNS": "500"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, env=environment).stdout


def _contracts() -> list[str]:
    """Return the names of the import contracts."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [contract["name"] for contract in settings["tool"]["importlinter"]["contracts"]]


def test_imports_keep_to_the_contracts() -> None:
    """Every contract holds for the packages as they are."""
    printed = _lint(ROOT)
    assert f"Contracts: {len(_contracts())} kept, 0 broken" in printed, printed


@pytest.mark.parametrize("form", FORMS)
def test_every_contract_refuses_a_planted_import(tmp_path: Path, form: str) -> None:
    """The twins: one import a contract, written in each of three ways, and every contract is broken by its own."""
    assert list(PLANTED) == _contracts()
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for file, line in PLANTED.values():
        with (tmp_path / file).open("a", encoding="utf-8") as opened:
            opened.write(FORMS[form].format(line))
    printed = _lint(tmp_path)
    for name, (file, _) in PLANTED.items():
        assert f"{name} BROKEN" in printed
        module = file.removesuffix(".py").replace("/", ".")
        assert module in printed or f".{module.rpartition('.')[2]} ->" in printed, (name, printed)
