"""The catalogue: `python -m benchmarks.audit_catalogue [runs] [seeds]`, every mechanism audited as a black box."""

import sys
import time

import numpy as np

from audits import audit_case
from audits.catalogue import catalogue


def main(runs: int = 100_000, seeds: int = 1, significance: float = 0.001) -> int:
    started, missed, alarms = time.perf_counter(), [], []
    for entry in catalogue():
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            result = audit_case(entry.case(), entry.claim, runs=runs, rng=rng, significance=significance)
            if result.verdict != "violation" and not entry.holds:
                missed.append(entry.name)
            if result.verdict == "violation" and entry.holds:
                alarms.append(entry.name)
            if seed == 0:
                true = "?" if entry.epsilon is None else f"{entry.epsilon:.3f}"
                print(f"{entry.name:34} claim {entry.claimed:.2f} true {true:>6} found {result.epsilon_lower:6.3f} "
                      f"{result.verdict:12} {'right' if (result.verdict == 'violation') != entry.holds else 'MISSED'} "
                      f"{result.seconds:.2f} s", flush=True)  # fmt: skip
    print(
        f"{len(catalogue())} mechanisms, {time.perf_counter() - started:.0f} s, missed {missed}, false alarms {alarms}"
    )
    return len(alarms)


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])) > 0)
