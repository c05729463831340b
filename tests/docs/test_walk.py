"""The walk through the code names what exists and who calls whom, and never goes from a lower layer to a higher one."""

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
PAGE = (REFERENCE / "walk.md").read_text(encoding="utf-8")
ARCHITECTURE = (REFERENCE / "architecture.md").read_text(encoding="utf-8")

NAME = re.compile(r"`((?:dpaudit|mechanisms|algorithms|audits)(?:\.\w+)*)`")
STEP = re.compile(r"^\| \d+ \| `([\w.]+)` \| `([\w.]+)` \| ", re.MULTILINE)
LAYER = re.compile(r"^\| (`dpaudit/.*?`) \|", re.MULTILINE)
ROOM = re.compile(r"dpaudit/(\w+)")

ENTRANCES = ("cli", "pytest_plugin", "gate", "workflow")


def resolved(name: str) -> Any:
    """The object with a dotted name: the longest importable module, then attributes.

    Raises: AttributeError: a part that does not exist.
    """
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AttributeError(name)


def modules_of(caller: Any) -> list[str]:
    """The source of the modules that hold a caller: of a class with its bases, of a package with its files."""
    if isinstance(caller, ModuleType):
        file = Path(str(caller.__file__))
        files = sorted(file.parent.glob("*.py")) if file.name == "__init__.py" else [file]
        return [path.read_text(encoding="utf-8") for path in files]
    homes = caller.__mro__[:-1] if inspect.isclass(caller) else (caller,)
    owners = [inspect.getmodule(home) or inspect.getmodule(type(home)) for home in homes]
    return [inspect.getsource(owner) for owner in owners if owner is not None]


def layers() -> list[str]:
    """The rooms of the checker from top to bottom, as the page on the architecture lists them."""
    rows = LAYER.findall(ARCHITECTURE.partition("## The layers of the checker")[2].partition("## ")[0])
    return [room for row in rows for room in ROOM.findall(row)]


def depth(module: str, order: list[str]) -> tuple[int, int]:
    """How deep a module lies: entrances, then algorithms and audits, then mechanisms, then the rest of the checker."""
    package, _, rest = module.partition(".")
    if package != "dpaudit":
        return ({"algorithms": 1, "audits": 1, "mechanisms": 2}[package], 0)
    room = rest.partition(".")[0]
    return (0 if room in ENTRANCES else 3, order.index(room))


def home(name: str) -> str:
    """The module that defines what a dotted name stands for."""
    thing = resolved(name)
    return thing.__name__ if isinstance(thing, ModuleType) else str(getattr(thing, "__module__", None) or name)


def upward(steps: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The steps whose callee lies above the caller."""
    order = layers()
    return [(first, second) for first, second in steps if depth(home(second), order) < depth(home(first), order)]


def unwritten(steps: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The steps whose callee is not named in the caller's own modules."""
    return [
        (first, second)
        for first, second in steps
        if not any(re.search(rf"\b{second.rpartition('.')[2]}\b", text) for text in modules_of(resolved(first)))
    ]


@pytest.mark.parametrize("name", sorted(set(NAME.findall(PAGE))))
def test_every_name_of_the_page_exists(name: str) -> None:
    """Each dotted name can be imported."""
    assert resolved(name) is not None


def test_every_step_is_a_call_and_none_goes_upwards() -> None:
    """The caller's module names the callee, and the callee lies in the same layer or in a lower one."""
    steps = STEP.findall(PAGE)
    assert len(steps) >= 20
    assert unwritten(steps) == []
    assert upward(steps) == []


def test_a_wrong_step_is_caught() -> None:
    """A name that does not exist, a call that nobody makes, and a call from a lower layer to a higher one."""
    with pytest.raises(AttributeError):
        resolved("dpaudit.accounting.fold.unfolded")
    assert unwritten([("dpaudit.certification.verdict.certify", "audits.audit")]) != []
    assert upward([("dpaudit.accounting.fold.fold", "dpaudit.certification.verdict.certify")]) != []
    assert upward([("mechanisms.Gaussian", "algorithms.capri.Capri")]) != []


def test_every_room_of_the_checker_has_a_layer() -> None:
    """The architecture lists each folder and module of the checker once."""
    rooms = {
        path.stem for path in (ROOT / "dpaudit").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert rooms - {"__init__", "__main__", "demo"} <= set(layers())
    assert len(layers()) == len(set(layers()))
