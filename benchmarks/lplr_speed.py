"""Time 10,000 lock-step runs of the whole protocol at d = 2, and show that the number of users costs nothing.

Run: python benchmarks/lplr_speed.py

Beside it the time of one user's message, drawn for 100,000 users, and of the certificate.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numpy as np

from algorithms.lplr import Lplr
from algorithms.problems import load
from dpaudit import Streams, certify

RUNS = 10_000


def timed(label, call):
    started, cpu = time.perf_counter(), time.process_time()
    call()
    print(f"{label:46s} {time.perf_counter() - started:7.2f} s   (CPU {time.process_time() - cpu:6.2f} s)")


def main():
    config = Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=2)
    problem = load("hard_family")(users=1e6)
    streams = Streams.spawn(np.random.default_rng(0))
    timed(f"{RUNS} runs, horizon 1e6, d = 2", lambda: config.run(problem, streams, RUNS))
    insurance = Lplr(epsilon=1.0, horizon=10**6, dimension=2, actions=5)
    timed(
        f"{RUNS // 10} runs on the insurance data",
        lambda: insurance.run(load("linear_rand_hie")(), streams, RUNS // 10),
    )
    for power in (4, 8, 12, 16):
        made = Lplr(epsilon=1.0, horizon=10**power, dimension=2, actions=2)
        epochs = sum(epoch.complete for epoch in made.plan().epochs)
        timed(f"1000 runs, horizon 1e{power}, {epochs} epochs", lambda held=made: held.run(problem, streams, 1_000))
    case = next(case for case in config.cases() if case.name == "lplr message")
    rng = np.random.default_rng(1)
    timed("100,000 messages with their scores", lambda: case.score(case.run(case.neighbours[0], rng, 100_000)))
    timed("certificate", lambda: certify(config.declaration(), config.claim()))


if __name__ == "__main__":
    main()
