"""Verdicts of passing audits: `python benchmarks/audit_verdicts.py [rounds]`.

Twenty-one laws whose pair has an epsilon that is known exactly, audited as black boxes against a claim of 1, 2,000
runs, significance .01: with a true epsilon of 2 in every round, and of 1 in every third.
"""

import sys

import numpy as np
from scipy.special import betaincinv

from audits import audit
from dpaudit import Claim

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")
RUNS, SEED, EVERY = 2_000, 100_000, 3
VERDICTS = ("violation", "consistent", "not_refuted", "inconclusive")


def laplace(columns, epsilon):
    pair = np.zeros(columns), np.ones(columns)
    return lambda x, r, n: x + r.laplace(0, columns / epsilon, (n, columns)), pair


def bits(columns, epsilon):
    keep = 1 / (1 + np.exp(-epsilon / columns))
    pair = np.zeros(columns, int), np.ones(columns, int)
    return lambda x, r, n: np.where(r.random((n, columns)) < keep, x, 1 - x), pair


def response(answers, epsilon):
    keep = np.exp(epsilon) / (np.exp(epsilon) + answers - 1)

    def run(x, r, n):
        kept, others = r.random(n) < keep, r.integers(0, answers - 1, n)
        return np.where(kept, x, others + (others >= x))

    return run, (0, 1)


def histogram(cells, epsilon):
    pair = np.zeros(cells), np.eye(cells)[0]
    return lambda x, r, n: x + r.laplace(0, 1 / epsilon, (n, cells)), pair


def single(changed, epsilon):
    return lambda x, r, n: changed(x + r.laplace(0, 1 / epsilon, n)), (0.0, 1.0)


def geometric(epsilon):
    share = 1 - np.exp(-epsilon)
    return lambda x, r, n: x + r.geometric(share, n) - r.geometric(share, n), (0, 1)


def laws(epsilon):
    found = {f"laplace {d}": laplace(d, epsilon) for d in (1, 2, 3, 5, 8, 10, 20)}
    found |= {f"bits {d}": bits(d, epsilon) for d in (2, 5, 10, 20)}
    found |= {f"response {k}": response(k, epsilon) for k in (2, 4, 8, 32)}
    found |= {f"histogram {k}": histogram(k, epsilon) for k in (5, 20)}
    return found | {
        "geometric": geometric(epsilon),
        "rounded laplace": single(lambda y: np.round(y, 1), epsilon),
        "clamped laplace": single(lambda y: np.clip(y, -1, 2), epsilon),
        "laplace as text": single(lambda y: [f"{value:.6f}" for value in y], epsilon),
    }


def verdict(law, seed):
    function, pair = law
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
