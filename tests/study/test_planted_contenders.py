"""Planted contenders: half the noise stands at its true epsilon, and noise without data is never shown to learn."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from algorithms.dp_ebs import DpEbs
from algorithms.dp_ebs.noise.calibrated import batch_noise
from algorithms.dp_ebs.widths.batches import batches_for
from algorithms.ucrl_vtr import UcrlVtr
from dpaudit import Parallel, Release, Streams, Transcript
from dpaudit.study import making
from dpaudit.study.cells import Cell
from dpaudit.study.certified import Certified
from dpaudit.study.contrasts import against_floors
from dpaudit.study.measuring import measure
from dpaudit.study.rows import Known, rows_of
from dpaudit.study.running import run_study
from dpaudit.study.study import Study
from dpaudit.study.study_file import study_of
from tests.study.conftest import how_in

_SUMS = """
[study]
name = "sums"
horizons = [20000]
epsilons = [0.5, 2.0]
runs = 2

[problem]
name = "bradley_terry"

[[contender]]
label = "sums"
role = "private"
grid = "epsilon"

[contender.algorithm]
name = "dp_ebs"
arms = 5
variant = "batched"
"""

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


def _always(kind: type[Any], name: str) -> type[Any]:
    """Return `kind`, whatever contender is asked for."""
    del name
    return kind


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


def test_half_the_noise_of_a_pure_claim_stands_at_twice_its_epsilon(tmp_path: Path) -> None:
    """Batched sums that declare half the noise have x = 2 epsilon and no point; honest ones have x = epsilon."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Half(DpEbs):
        def declaration(self) -> Any:
            noise = batch_noise(self.epsilon)
            half = replace(noise, scale=noise.scale / 2)
            sums = tuple(Release(label=batch.label, mechanism=half) for batch in batches_for(self))
            return Parallel(parts=sums, key="the batch in which a person votes")

    study = study_of(tmp_path / "s.toml", _SUMS)
    for planted, factor in ((DpEbs, 1.0), (Half, 2.0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(making, "find_contender", partial(_always, planted))
            rows = run_study(study, tmp_path, how_in(tmp_path / planted.__name__)).rows
        assert [row.certified.epsilon for row in rows] == pytest.approx([0.5 * factor, 2.0 * factor], rel=1e-6)
        assert all(row.has_point == (factor == 1.0) for row in rows)


@pytest.mark.parametrize("seeds", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_a_blind_method_with_low_regret_is_never_shown_to_learn(tmp_path: Path, seeds: int) -> None:
    """UCRL-VTR without data at another noise than its floor: no seed visible at alpha 1e-3.

    Its share is below one half on most seeds, so that the floor of uniform play alone would show learning there.
    """

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Blind(UcrlVtr):
        def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
            return UcrlVtr.run_blind(self, problem, streams, n_runs)

    study = study_of(tmp_path / "s.toml", _FLOORED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "find_contender", partial(_always, Blind))
        seeded = [replace(study, settings=replace(study.settings, seed=seed)) for seed in range(seeds)]
        found = [_seen(held, tmp_path, twin=True) for held in seeded]
        other = [_seen(held, tmp_path, twin=False)[0] for held in seeded[:20]]
    assert {visible for visible, _ in found} == {"no"}
    assert sum(share <= 0.5 for _, share in found) > 0.75 * seeds
    assert "no blind floor" in other  # a blind run of other noise alone is beaten by chance of the noise
