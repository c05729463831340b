"""Defects that no published value of a few runs shows: data in logs and texts, a few exact runs, noise of some answers.

Each row holds (name, configuration in `algorithm_inputs`, defect, rule). They were written before anybody had tried the
checks on them.
"""

from pathlib import Path

import pytest

from tests.mutation.planting import Source, planted
from tests.mutation.test_checked import subject
from tests.mutation.test_tape_blind_spots import rules_of

BLOCK = "algorithms.capri.run:_run_block"
KEPT = 'arrays["release"].append(noisy)'
COUNTED = "noisy = recorder.release(batch.label, mechanism, wins.sum(axis=2)) / batch.plays"
BATCHES = "algorithms.dp_ebs.rounds.batches:play_batches"
NORMAL = "rng.standard_normal(exact.shape)"
LAPLACE = "rng.laplace(0.0, scale, exact.shape)"
LOG = "__import__('logging').getLogger('run')"
DEFECTS: tuple[tuple[str, str, Source, str], ...] = (
    (
        "counts of actions are logged at a level that is off",
        "capri joint",
        Source(target=BLOCK, old=KEPT, new=f"{KEPT}; {LOG}.info('%s', played.counts[0].tolist())"),
        "DPA224",
    ),
    (
        "the largest exact sum is printed",
        "capri joint",
        Source(target=BLOCK, old=KEPT, new=f"{KEPT}; print('largest', abs(value).max())"),
        "DPA224",
    ),
    (
        "one run of fifty publishes an exact sum",
        "capri joint",
        Source(
            target=BLOCK,
            old=KEPT,
            new='arrays["release"].append(np.where(streams.public.random((n_runs, 1)) < 0.02, value, noisy))',
        ),
        "DPA224",
    ),
    (
        "wins are logged",
        "dp_ebs batched",
        Source(target=BATCHES, old=COUNTED, new=f"{COUNTED}; {LOG}.error('%s', wins[0].tolist())"),
        "DPA224",
    ),
    (
        "noise is left out where an answer is 17",
        "dp_ebs batched",
        Source(target="mechanisms._additive:with_laplace_noise", old=LAPLACE, new=f"{LAPLACE} * (exact != 17)"),
        "DPA230",
    ),
    (
        "noise is half as large beyond a million",
        "capri joint",
        Source(
            target="mechanisms.gaussian:Gaussian.release",
            old=NORMAL,
            new=f"{NORMAL} * np.where(np.abs(exact) > 1e6, 0.5, 1.0)",
        ),
        "DPA230",
    ),
)
HARMLESS: tuple[tuple[str, str, Source], ...] = (
    (
        "noisy sums and the number of the epoch are logged",
        "capri joint",
        Source(target=BLOCK, old=KEPT, new=f"{KEPT}; {LOG}.error('%d %s', epoch.number, noisy.tolist())"),
    ),
    (
        "the clock is printed",
        "capri joint",
        Source(target=BLOCK, old=KEPT, new=f"{KEPT}; print(__import__('time').perf_counter_ns())"),
    ),
    (
        "noise is mirrored where an answer is odd",
        "dp_ebs batched",
        Source(
            target="mechanisms._additive:with_laplace_noise", old=LAPLACE, new=f"{LAPLACE} * (1 - 2 * (exact % 2 == 1))"
        ),
    ),
    (
        "noise has the other sign",
        "dp_ebs batched",
        Source(target="mechanisms._additive:with_laplace_noise", old=LAPLACE, new=f"-{LAPLACE}"),
    ),
)


@pytest.mark.parametrize(
    ("configuration", "defect", "rule"), [row[1:] for row in DEFECTS], ids=[row[0] for row in DEFECTS]
)
def test_replays_find_it(configuration: str, defect: Source, rule: str, tmp_path: Path) -> None:
    """The replays name the rule; `test_tape_blind_spots` holds that the sound programs have no finding."""
    subject(configuration, tmp_path)  # before the defect, which a first import would keep
    with planted(defect):
        assert rule in rules_of(configuration, tmp_path)


@pytest.mark.parametrize(("configuration", "change"), [row[1:] for row in HARMLESS], ids=[row[0] for row in HARMLESS])
def test_harmless_changes_are_not_accused(configuration: str, change: Source, tmp_path: Path) -> None:
    """What everybody sees anyway, what differs on the same data, and noise of the same law."""
    subject(configuration, tmp_path)
    with planted(change):
        rules = rules_of(configuration, tmp_path)
    assert rules == set()
