"""Power of the audit: `python -m benchmarks.audit_power [repetitions]`, mean bounds and stopping times."""

import sys
import time
from functools import partial

import numpy as np

from audits import audit, function_case, when_refuted
from benchmarks.audited_laws import nearer_one, single
from dpaudit import AuditCase, Claim

LEVEL = 0.05
"""The significance of these rows, so that they compare with published ones; audits have .01 by default."""

TARGETS = {(2_000, "white"): 0.87, (20_000, "white"): 0.970, (200_000, "white"): 0.986,
           (2_000, "black"): 0.82, (20_000, "black"): 0.955, (200_000, "black"): 0.983}  # fmt: skip


def normal(data, rng, n_runs):
    return data + rng.standard_normal(n_runs)


def fixed(repetitions):
    claim = Claim(epsilon=1.0, neighbours="replace_one")
    for (runs, box), target in TARGETS.items():
        run, pair, ratio = single(np.asarray, 1.0)
        score = ratio if box == "white" else None
        started, found = time.perf_counter(), []
        for seed in range(max(10, min(repetitions, 8_000_000 // runs))):
            case = function_case(run, pair, claim, score=score, arithmetic="exact")
            found.append(
                audit(case, claim=claim, runs=runs, rng=np.random.default_rng(seed), significance=LEVEL).epsilon_lower
            )
        each = (time.perf_counter() - started) / len(found)
        mark = "reached" if np.mean(found) >= target else "MISSED"
        print(f"{box:5} {runs:7d} runs  mean {np.mean(found):.4f} +- {np.std(found) / len(found) ** 0.5:.4f}  "
              f"target {target:.3f} {mark}  {1000 * each:.1f} ms")  # fmt: skip


def sequential(repetitions):
    cases = {
        "half noise, white box": (single(np.asarray, 2.0)[0], partial(nearer_one, 2.0), 1.0, 60),
        "half noise, black box": (single(np.asarray, 2.0)[0], None, 1.0, 100),
        "Gaussian 1, claim .01": (normal, None, 0.01, 200),
        "Gaussian 1, claim .1": (normal, None, 0.1, 200),
        "Laplace 1, claim .01": (single(np.asarray, 1.0)[0], None, 0.01, 200),
        "Laplace 1, claim .1": (single(np.asarray, 1.0)[0], None, 0.1, 200),
    }
    for name, (run, score, epsilon, target) in cases.items():
        case = AuditCase(name=name, view="output", description="", neighbours=(0.0, 1.0), relation="replace_one",
                         run=run, score=score)  # fmt: skip
        claim = Claim(epsilon=epsilon, neighbours="replace_one")
        found = [
            audit(
                case, claim=claim, runs=5000, rng=np.random.default_rng(s), significance=LEVEL, stop=when_refuted
            ).runs
            for s in range(repetitions)
        ]
        print(f"{name:24} median {np.median(found):6.1f} mean {np.mean(found):6.1f} total runs, target {target}")


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    fixed(number)
    sequential(number)
