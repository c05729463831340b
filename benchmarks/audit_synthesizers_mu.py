"""The mu that runs of dpmm's MST and AIM show: `python -m benchmarks.audit_synthesizers_mu [pairs] [mst|aim]`.

dpmm 0.1.9 fits each synthesizer to a table of 20 rows and to the same with one row more, the domain given, until it has
measured its marginals; a run's score is the log likelihood ratio of the noisy cells that the row fills. One line a
synthesizer: the mu of its Gaussian noise, the largest mu that rank sums of so many pairs of runs refute at
significance .05, the estimate, the number of pairs, the seconds of the processor. Nothing is chosen on the runs.

The true counts of a table are computed once, and MST's choice among its one pair of columns is not computed; neither
changes the law of what is released. Run it in an environment of dpmm, with this checkout on PYTHONPATH.
"""

import math
import sys
import time
from functools import lru_cache

import numpy as np
from dpmm.models import AIMGM, MSTGM
from dpmm.models.base.mbi import Dataset
from dpmm.models.base.mechanisms import cdp2adp, mechanism
from pandas import DataFrame, concat
from scipy.special import ndtri

from audits.bounds.rank_sums import BLOCK, block_wins, rank_sum_mu

MU, DELTA, SIGNIFICANCE, PAIRS = 0.45, 1e-5, 0.05, 50_000
DOMAIN = {"a": 3, "b": 2}
ROW = {"a": 2, "b": 1}
ONE_ROUND = 2
"""With two rounds of two columns, AIM measures both columns and, after one choice, one more marginal."""


def tables():
    """Return 20 rows, and the same with one row more."""
    rng = np.random.default_rng(0)
    first = DataFrame({name: rng.integers(0, size, 20) for name, size in DOMAIN.items()})
    return first, concat([first, DataFrame([ROW])], ignore_index=True)


def mst():
    """Return MST with noise of MU, as a function of a table to its measurements: the mu of its noise is sqrt(rho)."""
    model = MSTGM(epsilon=cdp2adp.cdp_eps(MU**2, DELTA), delta=DELTA, n_jobs=1, domain=DOMAIN, compress=False)
    model.generator.select = lambda *_, **__: [tuple(DOMAIN)]
    return _measured(model)


def aim():
    """Return AIM with noise of MU: nine tenths of rho for the columns, and .09 of it for the chosen marginal."""
    epsilon = cdp2adp.cdp_eps(MU**2 / (2 * 0.99), DELTA)
    settings = {"n_iters": 1, "rounds": ONE_ROUND, "n_jobs": 1, "compress": False}
    return _measured(AIMGM(epsilon=epsilon, delta=DELTA, domain=DOMAIN, **settings))


def _measured(model):
    """Return a function from a table to what a fresh fit measures: (cells, standard deviation, columns) each."""
    generator = model.generator

    def run(table):
        generator.fit_state = generator.cliques = None
        model.fit(table, marginals_only=True)
        single = 1 / math.sqrt(len(DOMAIN)) if isinstance(model, MSTGM) else 1.0
        return [(cells, stddev / single, columns) for _, cells, stddev, columns in generator.measures]

    return run


def score(measured, counts):
    """Return the log likelihood ratio of some noisy marginals, and its mu, for one row more."""
    ratio, squared = 0.0, 0.0
    for cells, stddev, columns in measured:
        place = tuple(ROW[name] for name in columns)
        noise = np.reshape(cells, [DOMAIN[name] for name in columns])[place] - counts[columns]
        ratio += (noise - 0.5) / stddev**2
        squared += 1 / stddev**2
    return ratio, math.sqrt(squared)


def measure(name, pairs):
    """Print the line of one synthesizer."""
    run, (first, second) = {"mst": mst, "aim": aim}[name](), tables()
    counts = {
        names: int((first[list(names)] == [ROW[one] for one in names]).all(axis=1).sum())
        for names in (("a",), ("b",), ("a", "b"))
    }
    began, scores, noise = time.process_time(), np.empty((2, pairs)), set()
    for place in range(pairs):
        (out, mu), (taken, same) = score(run(first), counts), score(run(second), counts)
        noise |= {round(mu, 9), round(same, 9)}
        scores[:, place] = taken, out
    wins, blocks = block_wins(*scores, np.random.default_rng(0))
    shown, estimate = rank_sum_mu(wins, blocks, SIGNIFICANCE), math.sqrt(2) * ndtri(wins / (blocks * BLOCK**2))
    spent = time.process_time() - began
    print(f"{name} | {sorted(noise)} | {shown:.4f} | {estimate:.4f} | {pairs} | {spent:.0f}", flush=True)


def count_once():
    """Let the library make one data set of each table, and count each of its projections once."""
    made, project, vector = {}, Dataset.project, Dataset.datavector
    projected = lru_cache(maxsize=64)(lambda table, names: project(table, list(names)))
    counted = lru_cache(maxsize=64)(vector)
    mechanism.Dataset = lambda table, domain: made.setdefault(id(table), Dataset(table, domain))
    Dataset.project = lambda self, names: projected(self, (names,) if isinstance(names, str) else tuple(names))
    Dataset.datavector = lambda self, flatten=True: counted(self, flatten).copy()


if __name__ == "__main__":
    count_once()
    for chosen in sys.argv[2:] or ("mst", "aim"):
        measure(chosen, int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS)
