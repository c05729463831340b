"""Replays of public defects on stand-ins of the libraries: the broken one falls, the repaired one does not."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.wall.measuring import measure
from benchmarks.wall.row import Row, RowResult
from benchmarks.wall.rows import diffprivlib, opendp, rows_of, smartnoise_sql, smartnoise_synth


def _row(library: str, part: str) -> Row:
    """Return the one row of a library whose name has `part`."""
    (found,) = (row for row in rows_of(library) if part in row.name)
    return found


def _result(row: Row) -> RowResult:
    """Return the result of one row."""
    return measure([row], family=70, significance=0.01, seed=1)[0]


@pytest.mark.parametrize(("shuffles", "accused"), [(True, True), (False, False)])
def test_a_resize_that_shuffles_moves_further_than_it_says(
    monkeypatch: pytest.MonkeyPatch, *, shuffles: bool, accused: bool
) -> None:
    """Shuffling short lists alone has insert-delete distance 4 against 2; truncating keeps to it."""
    rng = np.random.default_rng(0)

    class Resize:
        def __call__(self, data: list[int]) -> list[int]:
            return rng.permutation(data).tolist() if shuffles and len(data) <= 3 else data[:3]

        def map(self, distance: int) -> int:
            return 2 * distance

    def anything(**_: Any) -> None:
        return None

    tools = SimpleNamespace(make_resize=lambda *_, **__: Resize())
    prelude = SimpleNamespace(
        vector_domain=lambda _: None, atom_domain=anything, insert_delete_distance=anything, t=tools
    )
    monkeypatch.setattr(opendp, "_prelude", lambda: prelude)
    monkeypatch.setattr(opendp, "installed_version", lambda _: "9")
    assert _result(_row("opendp", "resize by insertions")).accused is accused


@pytest.mark.parametrize(("scale", "accused"), [(0.0, True), (1e4, False)])
def test_a_coefficient_without_noise_is_seen(monkeypatch: pytest.MonkeyPatch, scale: float, *, accused: bool) -> None:
    """Eight seeds that agree on either side have no noise; noise of the right scale differs."""

    def construct(data: Any, *rest: Any) -> tuple[Any, Any]:
        noise = rest[-1].laplace(0, scale) if scale else 0.0
        return (), (None, None, np.array([[float((data**2).sum()) + noise]]))

    module = SimpleNamespace(_construct_regression_obj=construct)
    monkeypatch.setattr(diffprivlib, "library_module", lambda *_: module)
    monkeypatch.setattr(diffprivlib, "installed_version", lambda _: "9")
    assert _result(_row("diffprivlib", "linear regression, second")).accused is accused


@pytest.mark.parametrize(("spent", "accused"), [(5.88636, False), (3.0, True)])
def test_an_odometer_that_overestimates_is_no_finding(
    monkeypatch: pytest.MonkeyPatch, spent: float, *, accused: bool
) -> None:
    """100 queries of epsilon .1 lose at least 3.75 at delta 1e-4: more is fine, 3 would be too little."""
    odometer = SimpleNamespace(spend=lambda k: None, spent=(spent, 1e-4))
    library = SimpleNamespace(Privacy=lambda **_: None, Odometer=lambda _: odometer)
    monkeypatch.setattr(smartnoise_sql, "library_module", lambda *_: library)
    monkeypatch.setattr(smartnoise_sql, "installed_version", lambda _: "9")
    assert _result(_row("smartnoise-sql", "odometer")).accused is accused


_COVARIANCE = """\
import numpy as np


class DPcovariance:
    def __init__(self, n, cols, rng, global_eps):
        self.sens, self.epsilon = np.full(3, 2 / n), np.full(3, global_eps / 3)

    def release(self, data):
        values = data.to_numpy()
        clipped = np.clip(values, 0, 1)
        true = np.cov(USED.T)[np.tril_indices(2)]
        return list(true + np.random.default_rng(0).laplace(0, self.sens / self.epsilon))
"""


@pytest.mark.parametrize(
    ("version", "used", "accused"), [("1.0.5", "values", True), ("1.0.8", "clipped", False), ("1.0.8", "values", True)]
)
def test_a_covariance_that_drops_its_clipping_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, used: str, *, accused: bool
) -> None:
    """One record at a million moves it by 10^11; the row of the other version is not run."""
    (tmp_path / "snsynth" / "models").mkdir(parents=True)
    (tmp_path / "snsynth" / "__init__.py").write_text("raise ImportError('never imported')")
    (tmp_path / "snsynth" / "models" / "dp_covariance.py").write_text(_COVARIANCE.replace("USED", used))
    monkeypatch.syspath_prepend(str(tmp_path))
    installed: Callable[[str], str] = lambda _: version  # noqa: E731
    monkeypatch.setattr(smartnoise_synth, "installed_version", installed)
    mine, other = ("1.0.5", "1.0.8") if version == "1.0.5" else ("1.0.8", "1.0.5")
    found = _result(_row("smartnoise-synth", mine))
    assert (found.outcome != "not run", found.accused) == (True, accused)
    assert _result(_row("smartnoise-synth", other)).outcome == "not run"
