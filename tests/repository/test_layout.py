"""The tree: few modules on a floor, small folders, short functions, imports at the top, and nothing that unpickles."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("algorithms", "audits", "dpaudit", "mechanisms")
EVIDENCE = ("benchmarks/catalogue", "benchmarks/coverage", "benchmarks/known_bugs", "benchmarks/wall")
FILES = tuple(path for package in (*PACKAGES, *EVIDENCE) for path in sorted((ROOT / package).rglob("*.py")))
HEAVY = {
    *("dp_accounting", "distributed", "joblib", "opacus", "psycopg"),
    *("pydantic", "sqlalchemy", "statsmodels", "torch", "typst"),
}
"""Third parties that may be imported inside a function: heavy, or an extra."""

LONGEST_FUNCTION, DEEPEST_NESTING, MEDIAN_FILE, LARGEST_FOLDER = 58, 3, 100, 25
LONG_FUNCTION, MOST_LONG_FUNCTIONS = 30, 40
_PARTS = ("body", "orelse", "finalbody", "handlers", "cases")
_BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every statement inside of a node, and no expression, of which there are ten times as many."""
    for part in _PARTS:
        for child in getattr(node, part, ()):
            yield child
            yield from statements(child)


@cache
def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return every function of a module, nested ones included."""
    return [node for node in statements(tree) if isinstance(node, ast.FunctionDef)]


def length(function: ast.FunctionDef) -> int:
    """Return the number of lines of a function's body, without its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def code_length(function: ast.FunctionDef, lines: list[str]) -> int:
    """Return how many of a file's lines a function has, without its docstring, comments and blank lines."""
    own = set(range(function.lineno, (function.end_lineno or 0) + 1))
    if ast.get_docstring(function) is not None:
        own -= set(range(function.body[0].lineno, (function.body[0].end_lineno or 0) + 1))
    text = (lines[number - 1].strip() for number in own)
    return sum(bool(line) and not line.startswith("#") for line in text)


def nesting(node: ast.AST) -> int:
    """Return how deeply blocks, which no expression holds, stand inside each other; `elif` does not count as deeper."""
    deepest = 0
    for child in (child for part in _PARTS for child in getattr(node, part, ())):
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and child in node.orelse
        inside = isinstance(child, _BLOCKS) and not chained
        deepest = max(deepest, nesting(child) + inside)
    return deepest


def local_imports(tree: ast.Module) -> list[str]:
    """Return the first part of every module that is imported inside a function."""
    nodes = (node for function in functions(tree) for node in statements(function))
    names = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names.append(str(node.module))
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name.split(".")[0] for name in names]


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def test_few_modules_lie_on_the_floors() -> None:
    """At most ten modules lie directly in `dpaudit/`, and two in `audits/`."""
    floors = {package: len(list((ROOT / package).glob("*.py"))) for package in PACKAGES}
    assert floors["dpaudit"] <= 10
    assert floors["audits"] <= 2


def test_no_folder_is_large() -> None:
    """No folder of the four packages, of the evidence, of the tests or of the docs has more than 25 files."""
    folders = {
        path.parent
        for top in (*PACKAGES, *EVIDENCE, "tests", "docs")
        for path in (ROOT / top).rglob("*")
        if path.is_file()
    }
    sizes = {
        folder.relative_to(ROOT).as_posix(): sum(path.is_file() for path in folder.iterdir())
        for folder in folders
        if "__pycache__" not in folder.parts
    }
    assert {name: size for name, size in sizes.items() if size > LARGEST_FOLDER} == {}


def test_functions_are_short_and_flat() -> None:
    """Every function has at most 58 lines, three levels of blocks, and a stated result type."""
    for path in FILES:
        for function in functions(parsed(path)):
            where = f"{path}:{function.lineno} {function.name}"
            assert length(function) <= LONGEST_FUNCTION, where
            assert nesting(function) <= DEEPEST_NESTING, where
            assert function.returns is not None or function.name == "__init__", where


def long_functions(paths: tuple[Path, ...]) -> list[str]:
    """Return the functions of more than 30 lines of code, each with its file."""
    return [
        f"{path}: {function.name}"
        for path in paths
        for function in functions(parsed(path))
        if code_length(function, path.read_text(encoding="utf-8").splitlines()) > LONG_FUNCTION
    ]


def test_few_functions_are_long() -> None:
    """At most 40 functions of the four packages have more than 30 lines of code."""
    product = tuple(path for path in FILES if path.relative_to(ROOT).parts[0] in PACKAGES)
    assert len(long_functions(product)) <= MOST_LONG_FUNCTIONS, long_functions(product)


def test_a_function_of_31_lines_is_long_and_its_docstring_does_not_count(tmp_path: Path) -> None:
    """The twin: 30 statements and the line of `def` are long, whatever stands around them; one less is not."""
    prose = '    """Say what it does.\n\n    And how.\n    """\n\n    # and why\n'
    for statements_in, found in ((30, 1), (29, 0)):
        file = tmp_path / f"{statements_in}.py"
        file.write_text(f"def f():\n{prose}" + "    x = 1\n" * statements_in, encoding="utf-8")
        assert len(long_functions((file,))) == found


def test_the_median_file_is_short() -> None:
    """Half of all files have at most 100 lines."""
    assert median(len(path.read_text(encoding="utf-8").splitlines()) for path in FILES) <= MEDIAN_FILE


def test_only_heavy_third_parties_are_imported_inside_functions() -> None:
    """Imports stand at the top, but for commands, the pytest plugin's checks, which every session loads, and SciPy.

    A command imports its work, and what writes its result or reads its fault, when it runs, so that its help reads
    signatures alone; `tests/cli/test_help.py` holds it.
    """
    commands = ROOT / "dpaudit" / "cli"
    files = [path for path in FILES if path.parent != commands]
    late = {path.relative_to(ROOT).as_posix(): local_imports(parsed(path)) for path in files}
    light = {name: [module for module in modules if module not in HEAVY] for name, modules in late.items()}
    assert {name: modules for name, modules in light.items() if modules} == {
        "dpaudit/cli/common/exits.py": ["dpaudit"],
        "dpaudit/cli/common/results.py": ["dpaudit", "dpaudit"],
        "audits/replay/positions.py": ["scipy"],
        "dpaudit/accounting/weighed_scores.py": ["scipy"],
        "dpaudit/model/losses/binomial.py": ["scipy"],
        "dpaudit/model/losses/mixture.py": ["scipy"],
        "dpaudit/model/mechanism.py": ["dpaudit"],
        "dpaudit/pytest_plugin/__init__.py": ["dpaudit"],
        "dpaudit/study/exponents.py": ["scipy"],
        "dpaudit/training/batch_checks.py": ["scipy"],
        "dpaudit/verifier/best_of/weights.py": ["scipy"],
        "dpaudit/verifier/shuffled/sides.py": ["scipy"],
    }
    assert sum(map(len, late.values())) <= 42


def test_a_long_a_deep_and_a_late_import_are_seen() -> None:
    """The twins of the three measures."""
    long = ast.parse("def f():\n" + "    x = 1\n" * 59)
    deep = ast.parse("def f():\n for a in b:\n  if a:\n   with c:\n    while d:\n     pass\n")
    chained = ast.parse("def f():\n if a:\n  pass\n elif b:\n  pass\n elif c:\n  pass\n elif d:\n  pass\n")
    late = ast.parse("def f():\n import dpaudit.errors\n from torch import nn\n")
    assert length(functions(long)[0]) == 59
    assert [nesting(functions(tree)[0]) for tree in (deep, chained)] == [4, 1]
    assert local_imports(late) == ["dpaudit", "torch"]


FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "jsonpickle"}
FORBIDDEN_CALLS = {"joblib.load", "pandas.read_pickle", "pd.read_pickle", "yaml.load", "eval", "exec"}
LAST_NAMES = {"load", "read_pickle", "eval", "exec", "import_module"}
TOLD = {"allow_pickle", "weights_only"}


def dangers(tree: ast.Module) -> list[Any]:
    """What in a source could run code from a file: modules, calls, and loads that are not told to be safe."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] in FORBIDDEN_MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            name = ast.unparse(node.func) if called in LAST_NAMES else ""
            keywords = {held.arg: ast.unparse(held.value) for held in node.keywords if held.arg in TOLD}
            if name in FORBIDDEN_CALLS or keywords.get("allow_pickle") == "True":
                found.append(name)
            if name in ("np.load", "numpy.load") and keywords.get("allow_pickle") != "False":
                found.append(f"{name} without allow_pickle=False")
            if name == "torch.load" and keywords.get("weights_only") != "True":
                found.append("torch.load without weights_only=True")
            if name.endswith("import_module") and ast.unparse(node.args[0]).strip("'\"") in FORBIDDEN_MODULES:
                found.append(name)
    return found


def test_no_source_of_ours_unpickles() -> None:
    """Every file of the four packages and of the evidence is free of them."""
    assert len(FILES) > 150
    assert {str(path.relative_to(ROOT)): held for path in FILES if (held := dangers(parsed(path)))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "import numpy as np\nnp.load('x')",
        "import numpy as np\nnp.load('x', allow_pickle=True)",
        "import joblib\njoblib.load('x')",
        "import torch\ntorch.load('x')",
        "import torch\ntorch.load('x', weights_only=False)",
        "import_module('pickle')",
        "eval('1')",
    ],
)
def test_each_way_to_unpickle_is_caught(text: str) -> None:
    """The twins; the safe forms are none."""
    safe = "import numpy as np, torch\nnp.load('x', allow_pickle=False)\ntorch.load('x', weights_only=True)"
    assert dangers(ast.parse(text))
    assert not dangers(ast.parse(safe))
