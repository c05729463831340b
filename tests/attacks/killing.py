"""A process that audits into a store until it is killed: `python killing.py STORE SEED`."""

import sys
import time
from pathlib import Path

import numpy as np

from audits import audit
from audits.experiment.chunk_store import ChunkStore
from audits.experiment.settings import Settings
from dpaudit import Claim


def noisy(data: float, rng: np.random.Generator, n_runs: int) -> object:
    """Return Laplace noise, slowly."""
    time.sleep(0.002)
    return data + rng.laplace(0.0, 1.0, n_runs)


def audited(store: ChunkStore | None, seed: int) -> object:
    """Return the numbers of an audit."""
    result = audit(
        noisy,
        neighbours=(0.0, 1.0),
        claim=Claim(epsilon=1.0, neighbours="replace_one"),
        runs=2_000,
        rng=np.random.default_rng(seed),
        how=Settings(control_runs=0, store=store, chunk_runs=50),
    )
    return result.verdict, result.bounds, result.counts


if __name__ == "__main__":
    sys.stdout.write("started\n")
    sys.stdout.flush()
    audited(ChunkStore(path=Path(sys.argv[1]), key="killed"), int(sys.argv[2]))
