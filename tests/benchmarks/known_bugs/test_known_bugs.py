"""The corpus: every defect is caught by a path that users have, and no fixed version is accused.

Looks that are statistics accuse a fixed version with probability 1e-6 each (`SIGNIFICANCE`); seeds are fixed.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.known_bugs.bugs import ANALOGUES, measure_bug, measure_bugs
from benchmarks.known_bugs.known_bug import SIGNIFICANCE, KnownBug
from benchmarks.known_bugs.released import audit_releases, installed
from dpaudit.errors import ConfigError
from dpaudit.gate.catalogue import RULES

FAMILIES = {
    "accounting",
    "budget",
    "clipping",
    "data-dependent length",
    "domain inference",
    "floating point",
    "joint model",
    "local model",
    "randomness",
    "sampling",
    "sensitivity",
}
QUICK = [defect for defect in ANALOGUES if defect.name != "central limit accountant"]
BROKEN = os.environ.get("DPAUDIT_OPACUS_BROKEN", "")


def test_the_corpus_covers_every_family_with_a_dozen_defects_at_least() -> None:
    """Eleven families, from accounting to local models."""
    assert len(ANALOGUES) >= 12
    assert {defect.family for defect in ANALOGUES} == FAMILIES
    assert len({defect.name for defect in ANALOGUES}) == len(ANALOGUES)
    assert SIGNIFICANCE <= 1e-6


@pytest.mark.parametrize("defect", QUICK, ids=lambda defect: defect.name)
def test_a_defect_is_caught_and_its_fixed_version_is_not_accused(defect: KnownBug) -> None:
    """On two seeds each; the slow table has twenty."""
    row = measure_bug(defect, seeds=2, seed=3)
    assert (row.caught, row.alarms) == (2, 0)
    assert row.found
    assert set(row.rules) <= set(RULES) | {f"DPA22{i}" for i in range(8)}


def test_a_look_that_finds_nothing_is_a_miss_and_one_that_always_finds_is_an_alarm() -> None:
    """The table's own twins: a blind look, and one that accuses everybody."""
    blind = replace(QUICK[0], look=lambda variant, rng: ())
    paranoid = replace(QUICK[0], look=lambda variant, rng: QUICK[0].look("broken", rng))
    assert measure_bug(blind, seeds=2, seed=0).missed
    assert measure_bug(paranoid, seeds=2, seed=0).alarms == 2


def test_an_interpreter_that_cannot_run_is_an_error_in_one_sentence(tmp_path: Path) -> None:
    """By its path."""
    with pytest.raises(ConfigError, match="cannot be run"):
        audit_releases(tmp_path / "python", (0,))


@pytest.mark.skipif(
    not BROKEN or not installed(),
    reason="not run: DPAUDIT_OPACUS_BROKEN names no place with opacus==1.5.2, or no extra",
)
def test_ghost_clipping_of_opacus_1_5_2_is_caught_by_the_one_run_audit_and_by_conformance() -> None:
    """On every seed by both, while the installed release is accused on none."""
    import sys

    broken, fixed = (audit_releases(Path(python), (0, 1, 2)) for python in (BROKEN, sys.executable))
    assert all({"DPA220", "DPA301"} <= {finding.rule for finding in audit.findings} for audit in broken)
    assert not any(audit.findings for audit in fixed)
    assert all(audit.checks[0].noise_caught > 0.9 for audit in fixed)


@pytest.mark.slow
def test_the_whole_table_over_twenty_seeds() -> None:
    """At least eleven in twelve caught on every seed, and no fixed version accused on any."""
    rows = [row for row in measure_bugs(seeds=20) if not row.not_run]
    assert sum(not row.missed for row in rows) >= len(rows) * 11 / 12
    assert not any(row.alarms for row in rows)
