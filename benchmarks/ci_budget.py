"""The reference CI suite (examples/ci/test_privacy.py) on correct code, a thousand times; and a bug, until it stops.

Three ways to repeat: 1,000 nights that share one file of evidence; 1,000 sessions with fresh seeds and no file; and
the same session again. The first may fail once with probability `SIGNIFICANCE` in all, the second with that
probability in each session, the third fails always or never. Run: python benchmarks/ci_budget.py [repetitions]
"""

import functools
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpaudit
from dpaudit.pytest_plugin.fixture import PrivacyChecks
from dpaudit.pytest_plugin.settings import Settings

HERE = Path(__file__).resolve().parents[1] / "examples" / "ci"
SIGNIFICANCE = 0.001
RUNS = 200
"""Of one audit: the level of a betting game does not depend on its length."""


def checks(settings, test, told):
    """The fixture of one test, as the plugin makes it."""
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "dp"]
    mark = replace_runs(marks[0]) if marks else None
    return PrivacyChecks(
        test=test.__name__, mark=mark, folder=HERE, settings=settings, tests=4, tell=lambda *held: told.append(held)
    )


def replace_runs(mark):
    """The same claim with fewer runs, so that a thousand suites end today."""
    return pytest.mark.dp(**{**mark.kwargs, "runs": RUNS}).mark


def failures(tests, settings):
    """How many tests of one suite fail."""
    failed = 0
    for test in tests:
        try:
            test(checks(settings, test, []))
        except pytest.fail.Exception:
            failed += 1
    return failed


def half_noise(ages, rng, n_runs):
    """The reference function with half of its noise."""
    return np.clip(ages, 40, 100).mean() + rng.laplace(scale=10.0, size=n_runs)


def main():
    """Print one row for each way to repeat, and how long the bug lives."""
    sys.path.insert(0, str(HERE))
    import test_privacy

    tests = [getattr(test_privacy, name) for name in dir(test_privacy) if name.startswith("test_")]
    tests = [test for test in tests if hasattr(test, "pytestmark")]  # the others prove, and draw nothing
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    dpaudit.certify = functools.cache(dpaudit.certify)  # the same certificates each time
    base = Settings(profile="fast", significance=SIGNIFICANCE, evidence=None, seed=None)
    with tempfile.TemporaryDirectory() as folder:
        kept = replace(base, evidence=Path(folder) / "evidence.sqlite")
        ways = {"nights with one file": lambda _: kept, "fresh seeds, no file": lambda i: replace(base, seed=i)}
        for name, settings in ways.items():
            started = time.process_time()
            failed = sum(failures(tests, settings(i)) > 0 for i in range(repetitions))
            taken = time.process_time() - started
            print(f"{name:22} {repetitions} suites, {failed} failed, {taken:.0f} s CPU", flush=True)
    print(f"{'fixed seeds':22} {[failures(tests, base) for _ in range(3)]} failed tests in three suites")
    claim = pytest.mark.dp(epsilon=1.0, neighbours="replace_one").mark
    for name, check in (
        ("attack", lambda dp: dp.check_function(half_noise, (test_privacy.YOUNGER, test_privacy.OLDER))),
        (
            "declared noise",
            lambda dp: dp.check_release(
                half_noise,
                (test_privacy.YOUNGER, test_privacy.OLDER),
                mechanism=test_privacy.NOISE,
                query=lambda ages: np.clip(ages, 40, 100).mean(),
            ),
        ),
    ):
        taken, caught = [], 0
        for seed in range(100):
            dp = PrivacyChecks(
                test="t", mark=claim, folder=HERE, settings=replace(base, seed=seed), tests=4, tell=lambda *_: None
            )
            started = time.perf_counter()
            try:
                check(dp)
            except pytest.fail.Exception:
                caught += 1
            taken.append(time.perf_counter() - started)
        seconds = f"median {np.median(taken):.3f} s, worst {max(taken):.3f} s"
        print(f"half noise, {name:14} caught {caught} of 100, {seconds}")


if __name__ == "__main__":
    main()
