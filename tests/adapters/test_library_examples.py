"""The examples of `examples/libraries`: three releases a library, each in at most ten lines of code."""

import ast
import importlib.util
import runpy
from pathlib import Path

import pytest

from dpaudit import certify
from dpaudit.adapters.release import LibraryRelease
from dpaudit.model.declaration import Stated, walk

FOLDER = Path(__file__).parents[2] / "examples" / "libraries"
SCRIPTS = sorted(FOLDER.glob("*.py"))
PACKAGES = {
    "diffprivlib": "diffprivlib",
    "dpsynth": "dpsynth",
    "dp_accounting": "dp_accounting",
    "opendp": "opendp",
    "pipelinedp": "pipeline_dp",
    "python_dp": "pydp",
    "smartnoise": "snsql",
    "tumult": "tmlt",
}


def lines_of_code(tree: ast.Module, function: ast.FunctionDef) -> int:
    """Return the lines of a release: its function, the imports, and the names that the module gives to objects."""
    shared = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.Expr)]
    shared += [node for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    return sum((node.end_lineno or 0) - node.lineno + 1 for node in (*shared, function))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_three_releases_take_at_most_ten_lines_each(script: Path) -> None:
    """Imports count, and so does what the functions share; a line more is seen."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) == 3
    assert max(lines_of_code(tree, function) for function in functions) <= 10
    longer = ast.parse("import a\nb = 1\n" + "def f():\n" + "    x = 1\n" * 8)
    assert lines_of_code(longer, longer.body[2]) == 11  # type: ignore[arg-type]


def test_every_library_has_an_example() -> None:
    """The libraries that have an adapter, but Opacus, whose engine comes from a training run."""
    assert {script.stem.removesuffix("_releases") for script in SCRIPTS} == set(PACKAGES)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_release_is_certified_at_its_claim_or_stated(script: Path) -> None:
    """Where the library is installed: a proved claim, or one that is said to be the library's word."""
    if importlib.util.find_spec(PACKAGES[script.stem.removesuffix("_releases")]) is None:
        pytest.skip("the library is not installed")
    held = runpy.run_path(str(script))
    for name in (node.name for node in ast.parse(script.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)):
        release = held[name]()
        assert isinstance(release, LibraryRelease)
        certificate = certify(release.declaration, release.claim)
        told = any(isinstance(node, Stated) for _, node in walk(release.declaration))
        assert certificate.verdict == ("stated" if told else "certified")
        assert isinstance(release.declaration, Stated) == bool(release.stated_because)
