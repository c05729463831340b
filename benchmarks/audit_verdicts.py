"""Verdicts of passing audits: `python -m benchmarks.audit_verdicts [rounds]`.

Twenty-one laws whose pair has an epsilon that is known exactly, audited as black boxes against a claim of 1, 2,000
runs, significance .01: with a true epsilon of 2 in every round, and of 1 in every third.
"""

import sys

import numpy as np
from scipy.special import betaincinv

from audits import audit
from benchmarks.audited_laws import bits, clipped, geometric, histogram, laplace, response, rounded, single
from dpaudit import Claim

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")
RUNS, SEED, EVERY = 2_000, 100_000, 3
VERDICTS = ("violation", "consistent", "not_refuted", "inconclusive")


def laws(epsilon):
    found = {f"laplace {d}": laplace(d, epsilon) for d in (1, 2, 3, 5, 8, 10, 20)}
    found |= {f"bits {d}": bits(d, epsilon) for d in (2, 5, 10, 20)}
    found |= {f"response {k}": response(k, epsilon) for k in (2, 4, 8, 32)}
    found |= {f"histogram {k}": histogram(k, epsilon) for k in (5, 20)}
    return found | {
        "geometric": geometric(epsilon),
        "rounded laplace": single(rounded, epsilon),
        "clamped laplace": single(clipped, epsilon),
        "laplace as text": single(lambda y: [f"{value:.6f}" for value in y], epsilon),
    }


def verdict(law, seed):
    function, pair, _ = law
    rng = np.random.default_rng(seed)
    return audit(function, neighbours=pair, claim=CLAIM, runs=RUNS, rng=rng).verdict


def line(name, verdicts):
    number = len(verdicts)
    print(f"{name}: {number} audits")
    for kind in VERDICTS:
        count = verdicts.count(kind)
        low = betaincinv(count, number - count + 1, 0.025) if count else 0.0
        high = betaincinv(count + 1, number - count, 0.975) if count < number else 1.0
        print(f"  {kind:12} {count:5d}  {count / number:.4f}  95 % interval {low:.4f} to {high:.4f}")


def main(rounds):
    twice = {name: [verdict(law, SEED + s) for s in range(rounds)] for name, law in laws(2.0).items()}
    right = [verdict(law, SEED + s) for law in laws(1.0).values() for s in range(0, rounds, EVERY)]
    missed = [name for name, found in twice.items() if found.count("violation") < 0.9 * rounds]
    line("true epsilon 2", [one for found in twice.values() for one in found])
    line(f"of these, caught in less than .9 ({', '.join(missed)})", [one for name in missed for one in twice[name]])
    line("true epsilon 1", right)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 54)
