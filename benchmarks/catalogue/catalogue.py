"""The mechanisms of the catalogue, family by family."""

from benchmarks.catalogue import additive, floats, gradients, histograms, local, means, selection, sparse
from benchmarks.catalogue.entry import Entry

CATALOGUE: tuple[Entry, ...] = (
    *additive.ENTRIES,
    *selection.ENTRIES,
    *sparse.ENTRIES,
    *histograms.ENTRIES,
    *local.ENTRIES,
    *floats.ENTRIES,
    *means.ENTRIES,
    *gradients.ENTRIES,
)
"""Every mechanism, correct ones and broken ones."""

SUITE = (
    "laplace",
    "truncated geometric",
    "noisy histogram 1",
    "noisy histogram 2",
    "report noisy max 1",
    "report noisy max 2",
    "report noisy max 3",
    "sparse vector 1",
    "sparse vector 2",
    "sparse vector 4",
    "sparse vector 6",
    "rappor",
    "one-time rappor",
    "laplace in parallel",
    "prefix sums",
)
"""The fifteen of the standard suite (Bichsel et al. 2021) whose epsilon is finite by formula, listing or quadrature."""
