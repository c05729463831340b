"""The whole proving ground, family by family."""

from audits.proving import additive, floats, gradients, histograms, local, means, selection, sparse
from audits.proving.entry import Entry

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
