"""One content address: evidence lapses when code, files, data, claim or versions change, and only then."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from audits import function_case
from audits.experiment.identity import address_of
from dpaudit import Claim
from dpaudit.runtime.content_address import content_address
from dpaudit.runtime.files_read import files_read

ONE = Claim(epsilon=1.0, neighbours="replace_one")
PLUGIN = """
from pathlib import Path

def noisy(data, rng, n_runs):
    import dp_inner
    scale = float((Path(__file__).parent / "scale.txt").read_text())
    return dp_inner.clipped(data) + rng.laplace(0, 1.0 if scale > 0 else 0.0, n_runs)
"""
INNER = "LIMIT = 1e6\n\ndef clipped(data):\n    return min(data, LIMIT)\n"
Load = Callable[..., ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Return a function that writes and loads the plug-in, its helper and its data file."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def loaded(plugin: str = PLUGIN, inner: str = INNER, scale: str = "1.0") -> ModuleType:
        (tmp_path / "dp_outer.py").write_text(plugin, encoding="utf-8")
        (tmp_path / "dp_inner.py").write_text(inner, encoding="utf-8")
        (tmp_path / "scale.txt").write_text(scale, encoding="utf-8")
        for name in ("dp_outer", "dp_inner"):
            spec = importlib.util.spec_from_file_location(name, tmp_path / f"{name}.py")
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, module)
            spec.loader.exec_module(module)
        return sys.modules["dp_outer"]

    return loaded


def address(module: ModuleType, pair: tuple[float, float] = (0.0, 1.0), claim: Claim = ONE) -> str:
    return address_of(function_case(module.noisy, pair, claim), claim)


def test_equal_code_files_and_data_have_one_address(load: Load) -> None:
    """Loaded twice: the same."""
    assert address(load()) == address(load())


def test_each_of_them_changes_it_where_no_sampled_output_does(load: Load) -> None:
    """A limit in a module imported inside the function, a data file, a comment, the pair and the claim.

    No output changes but by the pair: the twin that samples outputs alone sees none of the others.
    """
    changed = [
        address(load()),
        address(load(inner=INNER.replace("1e6", "1e7"))),
        address(load(scale="2.0")),
        address(load(plugin=PLUGIN + "# changed\n")),
        address(load(), pair=(0.0, 1.0 + 1e-12)),
        address(load(), claim=Claim(epsilon=2.0, neighbours="replace_one")),
    ]
    assert len(set(changed)) == len(changed)
    draws = [
        load(**change).noisy(0.0, np.random.default_rng(0), 8).tolist()
        for change in ({}, {"inner": INNER.replace("1e6", "1e7")}, {"scale": "2.0"})
    ]
    assert draws[0] == draws[1] == draws[2]


def test_versions_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another numpy is another address."""
    before = content_address("x")
    monkeypatch.setattr("dpaudit.runtime.content_address.versions", lambda: (("numpy", "0"),))
    assert content_address("x") != before


def test_large_neighbours_count_by_value() -> None:
    """Two arrays whose text is the same: numpy leaves the middle out of it."""

    def total(data: np.ndarray, rng: np.random.Generator, n_runs: int) -> np.ndarray:
        return min(float(data.sum()), 0.0) + rng.laplace(size=n_runs)

    first, other = np.ones(5000), np.ones(5000)
    other[2500] = 2
    assert repr(first) == repr(other)
    pairs = ((first, np.zeros(5000)), (other, np.zeros(5000)))
    assert len({address_of(function_case(total, pair, ONE), ONE) for pair in pairs}) == 2


def test_files_that_are_written_and_source_files_are_not_read(tmp_path: Path) -> None:
    """Only what is opened for reading counts, and only within the block."""
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    with files_read() as seen:
        (tmp_path / "b.txt").write_text("b", encoding="utf-8")
        (tmp_path / "a.txt").read_text(encoding="utf-8")
    (tmp_path / "b.txt").read_text(encoding="utf-8")
    assert {path.name for path in seen} == {"a.txt"}
