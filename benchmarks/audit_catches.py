"""What `consistent` promises beside what is caught: `python -m benchmarks.audit_catches [audits] [first] [last]`.

Laws with a declared score, audited with 2,000 runs against a claim of 1 at significance .01. An audit that says
`consistent` because the case with less noise would have been caught promises that code of twice the claim, of the same
law, is accused with probability .9, and is wrong about that with probability .1. Columns: how often audits of code that
keeps the claim say `consistent`; how often audits of code of epsilon 2 accuse it; the chance of so few or fewer if .85
were accused. Ends with 1 if that chance is below .001 where more than a tenth of the audits say `consistent`. Laws are
numbered from 0; those from `first` to before `last` are audited, all by default.
"""

import sys
from functools import partial

import numpy as np
from scipy.stats import binom

from audits import Settings, audit
from benchmarks.audited_laws import (
    bits,
    clipped,
    first_or_second,
    geometric,
    histogram,
    laplace,
    response,
    rounded,
    single,
)
from dpaudit import AuditCase, Claim

RUNS, PROMISED, SURE, ERROR = 2_000, 0.85, 1e-3, 0.1


def case(make, epsilon):
    run, pair, score = make(epsilon)
    return AuditCase(
        name="declared",
        view="output",
        description="",
        neighbours=pair,
        relation="replace_one",
        run=run,
        score=score,
        weaker=partial(case, make),
    )


def geometric_columns(columns, epsilon):
    share = 1 - np.exp(-epsilon / columns)
    score = lambda y: epsilon / columns * (np.abs(y) - np.abs(y - 1.0)).sum(axis=1)  # noqa: E731 - one line a law
    shape = lambda n: (n, columns)  # noqa: E731 - one line a law
    run = lambda x, r, n: x + r.geometric(share, shape(n)) - r.geometric(share, shape(n))  # noqa: E731 - one line a law
    return run, (np.zeros(columns, int), np.ones(columns, int)), score


def clamped_geometric(epsilon):
    run, pair, score = geometric(epsilon)
    return lambda x, r, n: clipped(run(x, r, n)), pair, score


def choice(answers, epsilon):
    """The exponential mechanism on scores that favour the first or the second answer; all others are equal."""
    run = lambda x, r, n: (epsilon * x + r.gumbel(size=(n, answers))).argmax(axis=1)  # noqa: E731 - one line a law
    return run, (np.eye(answers)[0], np.eye(answers)[1]), partial(first_or_second, epsilon)


def number_and_bit(epsilon):
    """Half of epsilon for Laplace noise, half for a randomised bit."""
    half = epsilon / 2
    keep = 1 / (1 + np.exp(-half))

    def run(x, r, n):
        return np.column_stack([x + r.laplace(0, 1 / half, n), np.where(r.random(n) < keep, x, 1 - x)])

    return run, (0, 1), lambda y: half * (np.abs(y[:, 0]) - np.abs(y[:, 0] - 1) + 2 * y[:, 1] - 1)


def response_beside_noise(epsilon):
    keep = 1 / (1 + np.exp(-epsilon))

    def run(x, r, n):
        return np.column_stack([np.where(r.random(n) < keep, x, 1 - x), r.normal(size=(n, 5))])

    return run, (0, 1), lambda y: epsilon * (2 * y[:, 0] - 1)


LAWS = {f"{d} Laplace columns": partial(laplace, d) for d in (1, 2, 3, 5, 10, 20)}
LAWS |= {f"{d} randomised bits": partial(bits, d) for d in (2, 5, 10, 20)}
LAWS |= {f"response of {k} answers": partial(response, k) for k in (2, 8, 32)}
LAWS |= {"geometric noise": geometric, "clamped Laplace noise": partial(single, clipped)}
LAWS |= {f"{d} Laplace columns": partial(laplace, d) for d in (4, 8)}
LAWS |= {f"{d} randomised bits": partial(bits, d) for d in (3, 8)}
LAWS |= {f"response of {k} answers": partial(response, k) for k in (3, 4, 16)}
LAWS |= {f"histogram of {k} cells": partial(histogram, k) for k in (5, 20)}
LAWS |= {"3 columns of geometric noise": partial(geometric_columns, 3), "clamped geometric noise": clamped_geometric}
LAWS |= {"rounded Laplace noise": partial(single, rounded), "choice among 5": partial(choice, 5)}
LAWS |= {"a number and a bit": number_and_bit, "response beside 5 columns of noise": response_beside_noise}


def verdict(subject, seed, controls):
    claim = Claim(epsilon=1.0, neighbours="replace_one")
    rng = np.random.default_rng([seed, 17])
    return audit(subject, claim=claim, runs=RUNS, rng=rng, how=Settings(control_runs=controls))


def main(audits=200, first=0, last=None):
    failed = False
    print("| law | consistent | of these by less noise | epsilon 2 accused | chance at .85 |\n|---|---|---|---|---|")
    for name, make in list(LAWS.items())[first:last]:
        said = [verdict(case(make, 1.0), seed, None) for seed in range(audits)]
        consistent = sum(one.verdict == "consistent" for one in said)
        earned = sum(one.verdict == "consistent" and one.power.kind == "less_noise" for one in said)
        caught = sum(verdict(case(make, 2.0), audits + seed, 0).verdict == "violation" for seed in range(audits))
        chance = float(binom.cdf(caught, audits, PROMISED))
        failed |= earned > ERROR * audits and chance < SURE
        print(f"| {name} | {consistent} | {earned} | {caught} of {audits} | {chance:.3g} |", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
