"""State that a function keeps between calls: copies of the process that serve one data set tell."""

import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from audits import audit
from audits.procedures.replayed import STATE
from audits.replay.kept_state import fresh_player
from audits.replay.one_call import Player
from dpaudit import AuditResult, Claim

AGES = [23.0, 35.0, 41.0, 58.0, 64.0, 37.0]
CLAIM = Claim(epsilon=1.0, neighbours="replace_one")
OWN = np.random.default_rng(8)

Function = Callable[[list[float], np.random.Generator], Any]


def cached_bounds() -> Function:
    """The bounds of the first data set are kept, and all later ones are clipped to them."""
    bounds: list[float] = []

    def clipped_sum(ages: list[float], rng: np.random.Generator) -> float:
        if not bounds:
            bounds.extend((min(ages), max(ages)))
        return float(np.clip(np.array(ages), bounds[0], bounds[1]).sum() + rng.laplace(0.0, bounds[1] - bounds[0]))

    return clipped_sum


def cached_share() -> Function:
    """The largest number of the first data set is published by every call."""
    largest: list[float] = []

    def share(ages: list[float], rng: np.random.Generator) -> tuple[float, float]:
        if not largest:
            largest.append(max(ages))
        return sum(min(age, largest[0]) for age in ages) / largest[0] + rng.laplace(), largest[0]

    return share


def counted_calls() -> Function:
    """How often the function was called is public, and published."""
    calls: list[int] = []

    def total(ages: list[float], rng: np.random.Generator) -> tuple[float, int]:
        calls.append(1)
        return float(np.clip(ages, 0, 100).sum() + rng.laplace(0.0, 100.0)), len(calls)

    return total


def cached_noise() -> Function:
    """A second number carries noise that a generator of the module drew once for all calls."""
    noise: list[float] = []

    def noisy(ages: list[float], rng: np.random.Generator) -> tuple[float, float]:
        total = float(np.clip(ages, 0, 100).sum())
        if not noise:
            noise.append(total + OWN.laplace(0.0, 200.0))
        return total + rng.laplace(0.0, 200.0), noise[0]

    return noisy


def audited(function: Function) -> AuditResult:
    return audit(function, AGES, claim=CLAIM, runs=400, rng=np.random.default_rng(3))


@pytest.mark.parametrize("made", [cached_bounds, cached_share])
def test_what_the_first_data_set_leaves_is_a_violation_of_processes_apart(made: Callable[[], Function]) -> None:
    """Calls that follow other data are alike on both data sets; those of a process of its own are not."""
    result = audited(made())
    assert result.verdict == "violation"
    assert any(
        remark.startswith(STATE) and "copy of the process that served no other" in remark for remark in result.remarks
    )


@pytest.mark.parametrize("made", [counted_calls, cached_noise])
def test_state_that_tells_nothing_is_no_violation(made: Callable[[], Function]) -> None:
    """A count of calls is public; noise that another generator drew once would look constant in copies."""
    assert audited(made()).verdict != "violation"


def test_a_copy_serves_one_data_set_and_leaves_the_process_alone() -> None:
    """A count of calls goes on there for each data set by itself, and not here."""
    calls: list[int] = []

    def run(data: Any, rng: np.random.Generator, n_runs: int) -> Any:
        calls.append(1)
        return [{"calls": len(calls)}]

    sets = ([1.0], [2.0])
    with fresh_player(Player(run=run)) as fresh:
        assert fresh is not None
        counts = [next(iter(fresh.call(data, seed).numbers.values())) for seed in range(3) for data in sets]
    assert counts == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    assert calls == []


def test_copies_end_with_the_process_that_asks_them() -> None:
    """Also where it is killed: they read the end of their pipes, and their output, which the test reads, is closed."""
    code = """
import os, signal, numpy as np
from audits.replay.kept_state import fresh_player
from audits.replay.one_call import Player
with fresh_player(Player(run=lambda data, rng, n_runs: [{"n": 1.0}])) as fresh:
    print([len(fresh.call(data).numbers) for data in ([1.0], [2.0], [3.0])], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.PIPE, timeout=120)
    assert (ended.returncode, ended.stdout.strip()) == (-signal.SIGKILL, b"[1, 1, 1]")
