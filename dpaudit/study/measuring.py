"""The runs of one cell: the contender in its role, on common randomness, and what they lost."""

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.errors import DPAuditError
from dpaudit.model.mechanism import Array
from dpaudit.model.streams import Streams
from dpaudit.model.trace import admit
from dpaudit.model.transcript import Transcript
from dpaudit.runtime.content_address import content_address
from dpaudit.runtime.files_read import files_read, is_own
from dpaudit.study.cells import Cell
from dpaudit.study.making import horizon_key, make_algorithm, make_problem
from dpaudit.study.measured import Measured
from dpaudit.study.study import Role, Study

_LONGEST_ERROR = 300


def measure(study: Study, cell: Cell, folder: Path) -> Measured:
    """Return what the runs of one cell measured; what goes wrong in them is kept as its error.

    All contenders meet the same problem and the same generator states: the seed is (study seed, problem seed), and
    neither contender nor epsilon enters it.
    """
    began = time.perf_counter()
    try:
        with files_read() as read:
            measured = _measured(study, cell, folder)
    except (DPAuditError, ValueError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
        return Measured(cell=cell, error=f"{type(error).__name__}: {error}"[:_LONGEST_ERROR])
    files = sorted(filter(is_own, read))
    return replace(
        measured,
        seconds=round(time.perf_counter() - began, 3),
        files=tuple(map(str, files)),
        content=content_address(files=files),
    )


def _measured(study: Study, cell: Cell, folder: Path) -> Measured:
    """Return what the runs measured."""
    contender = study.contender(cell.label)
    algorithm = make_algorithm(study, cell, folder)
    problem = make_problem(study, cell.horizon, cell.problem, folder, cell.gap_factor)
    sequence = np.random.SeedSequence(entropy=study.settings.seed, spawn_key=(cell.problem,))
    streams = Streams.spawn(np.random.default_rng(sequence))
    role: Role = "floor" if cell.blind else contender.role
    transcript = run_in_role(algorithm, role, problem, streams, study.runs(cell.label))
    regret = total_regret(transcript, cumulative=horizon_key(type(algorithm)) == "episodes")
    if not np.isfinite(regret).all():
        raise ValueError("The runs have no finite regret; the problem does not say what an action costs.")
    return Measured(
        cell=cell,
        regret=tuple(map(float, regret)),
        uniform=_uniform_regret(problem) * cell.horizon,
        myopic=float(getattr(problem, "myopic_regret", math.nan)) * cell.horizon,
        lost=lost_share(transcript, problem),
        objections=objections_of(algorithm, transcript) if role == "private" else (),
    )


def run_in_role(algorithm: Any, role: Role, problem: Any, streams: Streams, n_runs: int) -> Transcript:
    """Return runs of an algorithm as a contender of that role.

    Raises: ValueError: a floor of an algorithm that cannot run blind, or a ceiling of a private one that cannot run
        without noise.
    """
    methods: dict[Role, str] = {"private": "run", "ceiling": "run_without_noise", "floor": "run_blind"}
    method = methods[role]
    if role == "ceiling" and not hasattr(algorithm, "claim"):
        method = method if hasattr(algorithm, method) else "run"
    if not hasattr(algorithm, method):
        raise ValueError(f"Expected {type(algorithm).__name__} to run as a {role}; it has no {method}.")
    return getattr(algorithm, method)(problem, streams, n_runs)


def total_regret(transcript: Transcript, *, cumulative: bool) -> Array:
    """Return the regret of each run in all; shape (n_runs,).

    A dueling bandit has one number a run, in utility, or in preference where there are no utilities. Another algorithm
    has `regret` (n_runs, parts): of each part where it runs for rounds, `cumulative` where it runs for episodes.
    Raises: ValueError: none of these arrays.
    """
    arrays = transcript.arrays
    for name in ("utility_regret", "preference_regret"):
        if name in arrays and np.isfinite(arrays[name]).all():
            return np.asarray(arrays[name], dtype=np.float64)
    if "regret" not in arrays:
        raise ValueError("Expected the transcript to hold the array 'regret'; it has none.")
    by_part: Array = np.asarray(arrays["regret"], dtype=np.float64)
    if by_part.ndim != 2 or len(by_part) != transcript.n_runs:
        raise ValueError(
            f"Expected the array 'regret' to have the shape (n_runs, parts), here ({transcript.n_runs}, parts); it has "
            f"{by_part.shape}."
        )
    return by_part[:, -1] if cumulative else by_part.sum(axis=1)


def _uniform_regret(problem: Any) -> float:
    """Return what a round of uniform play loses on average.

    Raises: ValueError: the problem does not say it as a number of 0 or more.
    """
    value = getattr(problem, "uniform_regret", None)
    if not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
        raise ValueError(
            f"Expected {type(problem).__name__}.uniform_regret, what a round of uniform play loses on average, to be a "
            f"finite number of 0 or more; it is {value!r:.40}."
        )
    return float(value)


def lost_share(transcript: Transcript, problem: Any) -> float:
    """Return the share of runs that lost a best option; NaN where the algorithm has no such event."""
    arrays = transcript.arrays
    if "lost" in arrays:
        return float(np.mean(arrays["lost"]))
    if "recommended" in arrays:
        return float(np.mean(np.asarray(arrays["recommended"]) != problem.best))
    return math.nan


def objections_of(algorithm: Any, transcript: Transcript) -> tuple[str, ...]:
    """Return why a run does not belong to the certificate of its declaration; empty if it does."""
    if not hasattr(algorithm, "claim"):
        return ("it makes no claim",)
    findings = admit(algorithm.declaration(), transcript.trace)
    violated = [line for line in transcript.conditions if line.status == "violated"]
    return (*(finding.message for finding in findings), *(line.text for line in violated))
