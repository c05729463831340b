"""Contracts as assertions: one line in a test of any runner."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from audits.checks.paired_replay import Replayable
from audits.testing.algorithm import algorithm_checks
from audits.testing.check import Check
from audits.testing.leaks import smallest_leak
from audits.testing.mechanism import mechanism_checks
from dpaudit import Declaration, Mechanism


def assert_mechanism(mechanism: Mechanism, *, seed: int = 0) -> None:
    """Raise AssertionError where a mechanism breaks its contract; see `mechanism_checks`.

    >>> from mechanisms import Laplace
    >>> assert_mechanism(Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove"))
    """
    _assert(mechanism_checks(mechanism, np.random.default_rng(seed)))


def assert_algorithm(algorithm: Any, problem: Any, *, seed: int = 0) -> None:
    """Raise AssertionError where an algorithm breaks its contract on a problem; see `algorithm_checks`."""
    _assert(algorithm_checks(algorithm, problem, seed=seed))


def assert_function(
    function: Replayable, pairs: Any, *, declaration: Declaration | None = None, seed: int = 0, examples: int = 100
) -> None:
    """Raise AssertionError with the smallest pair of neighbours at which a function leaks; see `smallest_leak`."""
    leak = smallest_leak(function, pairs, declaration=declaration, seed=seed, examples=examples)
    if leak is not None:
        raise AssertionError(leak.says)


def _assert(checks: Iterable[Check]) -> None:
    """Raise AssertionError with every failed check."""
    failed = [f"{check.what}: {check.says}" for check in checks if check.failed]
    if failed:
        raise AssertionError("\n".join(failed))
