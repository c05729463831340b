"""Nothing is ever unpickled from a file: the source has no call that could."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EVIDENCE = ("benchmarks/catalogue", "benchmarks/coverage", "benchmarks/known_bugs", "benchmarks/wall")
FOLDERS = ("dpaudit", "audits", "mechanisms", "algorithms", *EVIDENCE)
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "jsonpickle"}
FORBIDDEN_CALLS = {"joblib.load", "pandas.read_pickle", "pd.read_pickle", "yaml.load", "eval", "exec"}
LAST_NAMES = {"load", "read_pickle", "eval", "exec", "import_module"}
TOLD = {"allow_pickle", "weights_only"}
NAMED = re.compile("|".join({*FORBIDDEN_MODULES, *LAST_NAMES}))
"""What a source names that has a danger: others need not be parsed."""


def dangers(text: str) -> list[Any]:
    """What in a source could run code from a file: modules, calls, and loads that are not told to be safe."""
    found = []
    for node in ast.walk(ast.parse(text)) if NAMED.search(text) else ():
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
    assert len(SOURCES) > 150
    assert {str(path.relative_to(ROOT)): held for path in SOURCES if (held := dangers(path.read_text("utf-8")))} == {}


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
    assert dangers(text)
    assert not dangers(
        "import numpy as np, torch\nnp.load('x', allow_pickle=False)\ntorch.load('x', weights_only=True)"
    )
