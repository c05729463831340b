"""A kernel-free contextual bandit on one noisy table of counts and sums, to compare CAPRI with on small domains."""

from algorithms.cell_table.algorithm import CellTable

__all__ = ["CellTable"]
