"""DP-EBS elimination, a finite-armed dueling bandit whose answers go through private running sums.

Source: Saha and Asi (2024), "DP-Dueling: Learning from Preference Feedback without Compromising User Privacy",
arXiv 2403.15045; equations, lemmas and Algorithm 1 are cited by its numbers.
"""

from algorithms.dp_ebs.algorithm import DpEbs

__all__ = ["DpEbs"]
