"""The G-optimal dueling bandit in d dimensions: designed comparisons, private group sums, logistic regression.

Source: Saha and Asi (2024), "DP-Dueling: Learning from Preference Feedback without Compromising User Privacy",
arXiv 2403.15045, section 5; Algorithm 2, Theorem 3 and lemmas are cited by its numbers.
"""

from algorithms.g_optimal_dueling.algorithm import GOptimalDueling

__all__ = ["GOptimalDueling"]
