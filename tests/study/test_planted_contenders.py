"""A method without data is never shown to learn, where its noise alone has less regret than its floors."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from algorithms.ucrl_vtr import UcrlVtr
from dpaudit import Streams, Transcript
from dpaudit.study import making
from dpaudit.study.cells import Cell
from dpaudit.study.certified import Certified
from dpaudit.study.contrasts import against_floors
from dpaudit.study.measuring import measure
from dpaudit.study.rows import Known, rows_of
from dpaudit.study.study import Study
from dpaudit.study.study_file import study_of

_MIXTURE = """
[study]
name = "mixture"
horizons = [24]
runs = 8
problems = [3]
delta = 1e-5
alpha = 0.001

[problem]
name = "random_mixture"
"""

_UCRL = """
[[contender]]
label = "{label}"
role = "{role}"

[contender.algorithm]
name = "ucrl_vtr"
model = "joint"
delta = 1e-5
epsilon = {epsilon}
steps = 4
dimension = 3
bonus_scale = 0.03
shift_scale = 0.4
planning_period = 12
calibration = "paper"
clipping = "horizon"
"""

_BLIND = _MIXTURE + _UCRL.format(label="method", role="private", epsilon=50.0)
_FLOORED = _BLIND + _UCRL.format(label="blind", role="floor", epsilon=5.0)
_POINT = Certified(epsilon=1.0, model="joint", unit="one", verdict="certified")


def _seen(study: Study, folder: Path, *, twin: bool) -> tuple[str, float]:
    """Return whether the private contender is visible, and its share of the regret of uniform play."""
    cells = [
        Cell(label=contender.label, epsilon=float(contender.algorithm["epsilon"]), horizon=24, problem=3)
        for contender in study.contenders
    ]
    known = {cell.key: Known(certified=_POINT, config=str(cell.key)) for cell in cells}
    rows = rows_of(study, [measure(study, cell, folder) for cell in cells], known)
    own = measure(study, replace(cells[0], blind=True), folder).regret if twin else ()
    (line,) = against_floors(study, rows, {(cells[0].label, cells[0].epsilon, 24): own})
    return line.visible, rows[0].share


def test_a_blind_method_with_low_regret_is_never_shown_to_learn(tmp_path: Path) -> None:
    """UCRL-VTR without data at another noise than its floor: its own twin without data has the same regret.

    Its share is below one half on most seeds, so that the floor of uniform play alone would show learning there.
    """

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Blind(UcrlVtr):
        def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
            return UcrlVtr.run_blind(self, problem, streams, n_runs)

    study = study_of(tmp_path / "s.toml", _FLOORED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "find_contender", lambda name: Blind)
        seeded = [replace(study, settings=replace(study.settings, seed=seed)) for seed in range(20)]
        found = [_seen(held, tmp_path, twin=True) for held in seeded]
        other = [_seen(held, tmp_path, twin=False)[0] for held in seeded]
    assert {visible for visible, _ in found} == {"no"}
    assert sum(share <= 0.5 for _, share in found) > 15
    assert "no blind floor" in other  # a blind run of other noise alone is beaten by chance of the noise
