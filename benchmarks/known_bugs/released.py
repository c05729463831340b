"""Bugs of released packages, run in environments of their own by a script that does not import dpaudit.

Ghost clipping of Opacus 1.5.2 clips to norm 1 whatever `max_grad_norm` says; 1.5.3 and later honour it. The script that
trains is `algorithms/dp_sgd/loop.py`, found at run time beside this package; its observations come back as arrays and
go through the same conformance and one-run audit as a loop that runs here.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from audits.training.training_audit import judge
from audits.training.training_result import TrainingAudit
from benchmarks.known_bugs.known_bug import SIGNIFICANCE, KnownBug, Variant
from benchmarks.known_bugs.loops import CLAIM, TRAINING
from dpaudit.errors import ConfigError
from dpaudit.model.trace import Finding
from dpaudit.training import Planted, Training, Watch, plant

BROKEN = ("torch==2.13.0", "opacus==1.5.2")
"""The packages of the broken environment; PyTorch's CPU build is enough."""

_SECONDS = 900


def make_environment(folder: Path) -> Path:
    """Return the interpreter of a new environment in `folder` that holds Opacus 1.5.2.

    Raises: ConfigError: it cannot be made; the message ends with what the installer said last.
    """
    python = folder / "bin" / "python"
    for command in ((sys.executable, "-m", "venv", str(folder)), (str(python), "-m", "pip", "install", "-q", *BROKEN)):
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed arguments
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
            raise ConfigError(f"{folder}: the environment could not be made: {last}")
    return python


def installed() -> bool:
    """Return whether this environment can run the fixed version."""
    return find_spec("opacus") is not None and find_spec("torch") is not None


def audit_releases(
    python: Path, seeds: tuple[int, ...], *, records: int = 1000, mode: str = "ghost"
) -> tuple[TrainingAudit, ...]:
    """Return one audit a seed of training runs by the Opacus that `python` has, all in one process.

    Raises: ConfigError: the interpreter is missing, has no Opacus, or its run fails or does not end.
    """
    prepared = [_prepared(np.random.default_rng([seed, 152]), seed, records, mode) for seed in seeds]
    watched = _run(python, [settings for _, settings, _ in prepared], [planted for planted, _, _ in prepared])
    return tuple(_judged(watched, run, planted, rng) for run, (planted, _, rng) in enumerate(prepared))


def _prepared(
    rng: np.random.Generator, seed: int, records: int, mode: str
) -> tuple[Planted, dict[str, Any], np.random.Generator]:
    """Return records with canaries, the settings of a run, and the stream of its judge."""
    features = rng.uniform(-1, 1, (records, 6))
    planted = plant(features, (features[:, 0] > 0).astype(np.int64), outputs=2, canaries=1000, rng=rng)
    settings = {
        "noise_multiplier": TRAINING.noise_multiplier,
        "max_grad_norm": TRAINING.max_grad_norm,
        "batches": round(1 / TRAINING.sample_rate),
        "steps": TRAINING.steps,
        "mode": mode,
        "seed": seed,
    }
    return planted, settings, rng


def _run(python: Path, settings: list[dict[str, Any]], planted: list[Planted]) -> dict[str, Any]:
    """Return the observations of the script, as arrays."""
    script = find_spec("algorithms.dp_sgd")
    if script is None or script.origin is None:
        raise ConfigError("algorithms/dp_sgd is not beside audits; install dpaudit as one distribution.")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        arrays: dict[str, Any] = {"settings": np.array(json.dumps(settings))}
        for run, records in enumerate(planted):
            arrays[f"features{run}"], arrays[f"labels{run}"] = records.features, records.labels
        np.savez(source, **arrays)
        command = [str(python), str(Path(script.origin).parent / "loop.py"), str(source), str(target)]
        try:
            done = subprocess.run(  # noqa: S603 - the interpreter is the user's choice
                command, capture_output=True, text=True, check=False, timeout=_SECONDS
            )
        except OSError as error:
            raise ConfigError(f"{python}: cannot be run ({error.strerror}).") from None
        except subprocess.TimeoutExpired:
            raise ConfigError(f"{python}: the training runs did not end in {_SECONDS} s.") from None
        if done.returncode:
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise ConfigError(f"{python}: the training run failed: {last:.200}")
        with np.load(target, allow_pickle=False) as arrays_out:
            return dict(arrays_out)


def _judged(watched: dict[str, Any], run: int, planted: Planted, rng: np.random.Generator) -> TrainingAudit:
    """Return the training audit of one watched run."""
    watch = Watch(records=planted.records, slots=planted.slots)
    batches = np.split(watched[f"batches{run}"], np.cumsum(watched[f"sizes{run}"])[:-1])
    for released, summed, batch in zip(watched[f"released{run}"], watched[f"summed{run}"], batches, strict=True):
        watch.step(released, summed, batch)
    training = Training(**asdict(TRAINING))
    return judge(watch, planted, training=training, claim=CLAIM, rng=rng, significance=SIGNIFICANCE)


def ghost_clipping(
    broken: Path | None,
) -> tuple[KnownBug, Callable[[Variant, tuple[int, ...]], tuple[tuple[Finding, ...], ...]]]:
    """Return the bug and its check for many seeds at once; `broken` is the interpreter that has Opacus 1.5.2."""
    bug = KnownBug(
        name="ghost clipping ignores the norm",
        family="clipping",
        story="Opacus before 1.5.3: max_grad_norm is not handed on, gradients are clipped to 1",
        path="conformance",
        look=partial(_one, broken),
        package="opacus==1.5.2",
    )
    return bug, partial(_many, broken)


def _many(broken: Path | None, variant: Variant, seeds: tuple[int, ...]) -> tuple[tuple[Finding, ...], ...]:
    """Return the findings of one variant for each seed."""
    python = broken if variant == "broken" else Path(sys.executable)
    if python is None:
        raise ConfigError("No interpreter with Opacus 1.5.2 was named.")
    return tuple(audit.findings for audit in audit_releases(python, seeds))


def _one(broken: Path | None, variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """Return the findings of one variant for one seed."""
    return _many(broken, variant, (int(rng.integers(2**31)),))[0]
