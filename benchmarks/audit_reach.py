"""Reach of black-box audits beside the best event: `python -m benchmarks.audit_reach [runs] [seeds]`.

Many columns, significance .05, mean bound over the seeds. Laplace columns move by one sensitivity each and share
epsilon, as bits do; Gaussian columns have mu = 1 together, at delta 1e-5; one cell of a histogram moves. Selections and
sparse vectors are those of the catalogue, with ten times the runs. The best event knows both laws and learns nothing.
"""

import sys

import numpy as np
from scipy.special import ndtr

from audits import Settings, audit
from benchmarks import audited_laws
from benchmarks.catalogue.catalogue import CATALOGUE
from benchmarks.catalogue.entry import Entry, pure
from benchmarks.catalogue.law import Law, binned, laplace_law, repeated
from dpaudit import Claim

LEVEL, MORE = 0.05, 10
SELECTIONS = ("report noisy max 3", *(f"sparse vector {number}" for number in range(1, 7)))
WIDE = 20.0


def entry_of(function, name, law, epsilon):
    run, pair, _ = function
    return Entry(name=name, claim=pure(WIDE), run=run, neighbours=pair, correct=True, truth=epsilon, law=law)


def laplace(columns, epsilon):
    scale = columns / epsilon
    return entry_of(
        audited_laws.laplace(columns, epsilon),
        f"{columns} Laplace columns, epsilon {epsilon:g}",
        lambda: repeated(laplace_law(1.0, scale), columns, width=1 / (200 * scale)),
        epsilon,
    )


def bits(columns, epsilon):
    keep = 1 / (1 + np.exp(-epsilon / columns))
    one = Law(first=np.array([keep, 1 - keep]), second=np.array([1 - keep, keep]))
    name = f"{columns} randomised bits, epsilon {epsilon:g}"
    return entry_of(audited_laws.bits(columns, epsilon), name, lambda: repeated(one, columns), epsilon)


def gaussian(columns):
    edges = np.linspace(-8, 9, 4_001)
    return Entry(
        name=f"{columns} Gaussian columns (epsilon 4.38)",
        claim=Claim(epsilon=WIDE, delta=1e-5, neighbours="replace_one"),
        run=lambda x, r, n: x + r.normal(0, np.sqrt(columns), (n, columns)),
        neighbours=(np.zeros(columns), np.ones(columns)),
        correct=True,
        truth=4.377,
        law=lambda: binned(ndtr, lambda x: ndtr(x - 1), edges),
    )


def histogram(cells, epsilon):
    name = f"histogram of {cells} cells, epsilon {epsilon:g}"
    return entry_of(audited_laws.histogram(cells, epsilon), name, lambda: laplace_law(1.0, 1 / epsilon), epsilon)


ENTRIES = (
    laplace(2, 1.0),
    laplace(5, 1.0),
    laplace(20, 1.0),
    laplace(20, 2.0),
    bits(20, 2.0),
    gaussian(2),
    gaussian(5),
    gaussian(20),
    histogram(5, 1.0),
    histogram(20, 1.0),
)


def mean_bound(entry, runs, seeds):
    bounds = [
        audit(
            entry.case(),
            claim=entry.claim,
            runs=runs,
            rng=np.random.default_rng([seed, 11]),
            significance=LEVEL,
            how=Settings(control_runs=0),
        ).epsilon_lower
        for seed in range(seeds)
    ]
    return float(np.mean(bounds)), float(np.std(bounds) / np.sqrt(max(1, seeds - 1)))


def main(runs=20_000, seeds=16):
    print(f"| outputs | runs | best event | mean bound of {seeds} seeds | share |\n|---|---|---|---|---|")
    selections = [entry for entry in CATALOGUE if entry.name in SELECTIONS]
    for entry, size in (*((entry, runs) for entry in ENTRIES), *((entry, MORE * runs) for entry in selections)):
        best = entry.law().best_bound(size, entry.claim.delta, LEVEL)[0]
        found, error = mean_bound(entry, size, seeds)
        print(f"| {entry.name} | {size:,} | {best:.3f} | {found:.3f} +- {error:.3f} | {found / best:.2f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
