"""Two processes against one on chunks of five milliseconds: `python -m benchmarks.audit_jobs [chunks]`.

The same runs, coins and numbers; the pool is warm, as in a suite of audits, and the two ways take turns. The best of
five rounds each counts: on a busy machine the others measure what else runs there.
"""

import os
import sys
import time

import numpy as np

from audits.experiment.settings import Settings
from audits.experiment.trials import run_trials
from dpaudit import AuditCase

ROUNDS, RUNS, TARGET = 5, 1_000, 0.005


def case(draws: int) -> AuditCase:
    """Laplace noise, averaged over so many draws that a chunk takes as long as asked for."""

    def run(data, rng, n_runs):
        return data + rng.laplace(size=(n_runs, draws)).mean(axis=1)

    return AuditCase(
        name="busy", view="output", description="", neighbours=(0.0, 1.0), relation="replace_one", run=run, score=score
    )


def score(view):
    return np.asarray(view)


def measure(busy: AuditCase, chunks: int, jobs: int) -> tuple[float, float]:
    """Seconds for all chunks, and a number that must not depend on `jobs`."""
    started = time.perf_counter()
    seen = run_trials(
        busy, chunks * RUNS, np.random.default_rng(0), keep=score, how=Settings(jobs=jobs, chunk_runs=RUNS)
    )
    return time.perf_counter() - started, float(seen.kept.sum())


def calibrated() -> AuditCase:
    """The case whose chunks take five milliseconds of processor time in this process."""
    draws = 10
    while True:
        started = time.process_time()
        measure(case(draws), 20, 1)
        spent = (time.process_time() - started) / 20
        if spent >= 0.9 * TARGET:
            print(f"{1000 * spent:.1f} ms a chunk of {RUNS} runs")
            return case(draws)
        draws = max(draws + 1, int(draws * min(4.0, TARGET / spent)))


def main(chunks: int = 400) -> int:
    busy = calibrated()
    measure(busy, chunks, 2)
    rounds = [[measure(busy, chunks, jobs) for jobs in (1, 2)] for _ in range(ROUNDS)]
    one, two = (min(seconds for seconds, _ in held) for held in zip(*rounds, strict=True))
    same = len({total for held in rounds for _, total in held}) == 1
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {chunks} chunks")
    print(f"one process {one:.3f} s, two {two:.3f} s: {one / two:.2f} times as fast; same numbers: {same}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
