"""Every example in a docstring gives what stands below it.

Modules are imported when their examples run: collecting them as pytest does would import all in every worker.
"""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("dpaudit", "mechanisms", "algorithms", "audits", "benchmarks", "tests")


def module_name(file: Path) -> str:
    """Return the name under which a file is imported."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


WITH_EXAMPLES = [
    module_name(file)
    for folder in FOLDERS
    for file in sorted((ROOT / folder).rglob("*.py"))
    if re.search(r"^ *>>> ", file.read_text(encoding="utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_every_example_of_a_module_holds(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A module that is listed has an example, and none of them fails."""
    failed, tried = doctest.testmod(import_module(name), optionflags=doctest.ELLIPSIS)
    assert tried > 0
    assert not failed, capsys.readouterr().out
