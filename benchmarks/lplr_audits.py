"""How many single messages it takes to break the printed leaves, beside what closed forms ask for.

Run: python -m benchmarks.lplr_audits

`needed` is the number of runs a side at which an ideal test is expected to show a violation of the leaf's own claim at
significance 0.05; the columns are the shares of 40 audits that did, with that many runs a side and with twice as many.
The repaired protocol goes through the same audits beside it, where every violation is a false alarm.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numpy as np

from algorithms.lplr import Lplr
from audits import audit
from dpaudit import Claim

AUDITS = 40
NEEDED = {
    ("matrix", 0.5): 226,
    ("matrix", 1.0): 169,
    ("confidence", 0.5): 404,
    ("confidence", 1.0): 205,
    ("count", 0.5): 2276,
    ("count", 1.0): 721,
    ("count", 4.0): 186,
    ("vector", 0.5): 2276,
    ("vector", 1.0): 721,
    ("vector", 4.0): 186,
}
SHARE = {"matrix": 1.0, "confidence": 1.0, "count": 1 / 3, "vector": 1 / 3}
"""What part of epsilon each leaf may spend: the whole for the support test, as it breaks any."""


def broken(variant, leaf, epsilon, runs):
    """The share of audits that end in a violation."""
    config = Lplr(epsilon=epsilon, horizon=10**6, dimension=2, actions=2, variant=variant)
    case = next(case for case in config.cases() if case.name == f"lplr {leaf}")
    claim = Claim(epsilon=SHARE[leaf] * epsilon * (1 + 1e-9), neighbours="replace_one")
    found = (
        audit(case, claim=claim, runs=2 * runs, rng=np.random.default_rng(seed), significance=0.05)
        for seed in range(AUDITS)
    )
    return sum(result.verdict == "violation" for result in found) / AUDITS


def main():
    started = time.process_time()
    print(f"{'leaf':12}{'epsilon':>8}{'needed':>8}{'at 1x':>8}{'at 2x':>8}{'repaired, 1x':>14}{'repaired, 2x':>14}")
    for (leaf, epsilon), needed in NEEDED.items():
        found = [broken(variant, leaf, epsilon, times * needed) for variant in ("paper", "fixed") for times in (1, 2)]
        print(
            f"{leaf:12}{epsilon:8.1f}{needed:8d}{found[0]:8.2f}{found[1]:8.2f}{found[2]:14.3f}{found[3]:14.3f}",
            flush=True,
        )
    print(f"CPU {time.process_time() - started:.0f} s")


if __name__ == "__main__":
    main()
