"""Package roots as type checkers and users see them: one table, no name that is Any, misspelt names refused."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.runtime.exports import exported

ROOT = Path(__file__).parents[2]
PACKAGES = ("algorithms", "audits", "dpaudit", "mechanisms", "audits.bounds", "audits.scores", "dpaudit.budgets")
MOST = {"audits": 24, "dpaudit": 40}
"""So many names a newcomer meets at most."""

RIGHT = """
from algorithms import Capri
from audits import audit
from dpaudit import Certificate, Claim, Release, certify
from mechanisms import Gaussian

noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
certificate: Certificate = certify(Release(label="x", mechanism=noise), Claim(epsilon=1.0, neighbours="replace_one"))
"""
_GAUSSIAN = 'from mechanisms import Gaussian\nGaussian({}, l2_sensitivity=1.0, neighbours="replace_one")\n'
WRONG = {
    "unknown field": _GAUSSIAN.format("stdev=1.0"),
    "wrong type": _GAUSSIAN.format("stddev='1'"),
    "unknown relation": 'from dpaudit import Claim\nClaim(epsilon=1.0, neighbours="replaceone")\n',
    "misspelt mechanism": "from mechanisms import Gausian\n",
    "misspelt algorithm": "from algorithms import Caprii\n",
    "misspelt audit": "from audits import audits_case\n",
    "misspelt checker": "from dpaudit import certifi\n",
}


def _folder(package: str) -> Path:
    """Return the folder of a package by its dotted name."""
    return ROOT.joinpath(*package.split("."))


def _typed_exports(package: str) -> dict[str, str]:
    """Return the names that type checkers see in a package's root, each with its module."""
    tree = ast.parse((_folder(package) / "__init__.py").read_text(encoding="utf-8"))
    guarded = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in guarded for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: str(node.module) for node in imports for alias in node.names}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_root_holds_the_same_names_for_python_and_for_type_checkers(package: str) -> None:
    """What the `TYPE_CHECKING` block imports is what `__all__` and `dir` list, and every name resolves."""
    module = importlib.import_module(package)
    homes = _typed_exports(package)
    own = {"NAMES", "load"} & set(vars(module))
    assert homes == exported(package)
    assert set(module.__all__) == set(homes) | own
    assert dir(module) == sorted(module.__all__)
    for name, home in homes.items():
        assert getattr(module, name) is getattr(importlib.import_module(home), name)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_is_called_like_a_public_name_of_its_package(package: str) -> None:
    """Importing such a module would replace the public object by the module."""
    modules = {path.stem for path in _folder(package).glob("*.py")}
    modules |= {path.name for path in _folder(package).iterdir() if (path / "__init__.py").exists()}
    assert not modules & set(importlib.import_module(package).__all__)


@pytest.mark.parametrize("package", MOST)
def test_a_root_is_small(package: str) -> None:
    """What few users need is imported from the room that it belongs to."""
    assert len(importlib.import_module(package).__all__) <= MOST[package]


@pytest.mark.parametrize(
    ("package", "name", "home"),
    [
        ("dpaudit", "GaussianLoss", "dpaudit.model.losses"),
        ("dpaudit", "Neighbours", "dpaudit.model.claim"),
        ("dpaudit", "Report", "dpaudit.report"),
        ("dpaudit", "audit", "audits"),
        ("dpaudit", "rank_sum_mu", "audits.bounds"),
        ("audits", "Band", "audits.scores"),
        ("audits", "Gaussian", "mechanisms"),
    ],
)
def test_a_name_of_another_room_is_refused_with_its_home(package: str, name: str, home: str) -> None:
    """The line that the message gives works as it stands."""
    with pytest.raises(ImportError, match=f"write: from {home} import {name}$"):
        getattr(importlib.import_module(package), name)
    assert hasattr(importlib.import_module(home), name)


@pytest.mark.parametrize("module", ["audits.training", "dpaudit.report", "dpaudit.ledger", "dpaudit.verifier"])
def test_a_module_is_imported_from_its_package(module: str) -> None:
    """A function of that name elsewhere does not stand in its way."""
    package, _, name = module.partition(".")
    code = f"from {package} import {name}; print({name}.__name__)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == f"{module}\n"
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a user's project: one right file, and one wrong file for each mistake."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "right.py").write_text(RIGHT, encoding="utf-8")
    for name, text in WRONG.items():
        (folder / f"{name.replace(' ', '_')}.py").write_text(text, encoding="utf-8")
    return folder


def _refused(output: str, folder: Path) -> set[str]:
    """Return the stems of the project's files in which a type checker reports an error."""
    lines = [line for line in output.splitlines() if "error" in line]
    return {path.stem for path in folder.glob("*.py") if any(path.name in line for line in lines)}


def _expected() -> set[str]:
    """Return the stems of the wrong files."""
    return {name.replace(" ", "_") for name in WRONG}


def test_mypy_accepts_the_right_project_and_refuses_each_mistake(project: Path) -> None:
    """Under `mypy --strict` every wrong file has an error, and the right one has none.

    The cache is that of the linters: whoever comes first reads the packages, the others what it left.
    """
    files = sorted(map(str, project.glob("*.py")))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache"), *files]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert _refused(ended.stdout, project) == _expected(), ended.stdout + ended.stderr


def test_pyright_accepts_the_right_project_and_refuses_each_mistake(project: Path) -> None:
    """Under strict pyright every wrong file has an error, and the right one has none."""
    settings = f'{{"typeCheckingMode": "strict", "extraPaths": ["{ROOT}"], "reportUnusedImport": false}}'
    (project / "pyrightconfig.json").write_text(settings, encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(project)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=project)
    assert _refused(ended.stdout, project) == _expected(), ended.stdout + ended.stderr
