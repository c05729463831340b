"""LPLR, a linear contextual bandit whose users keep their context, action and reward to themselves.

Source: Li, Simchi-Levi and Wang (2024), "On the Optimal Regret of Locally Private Linear Contextual Bandit", arXiv
2404.09413; algorithms, lemmas and equations are cited by its numbers.
"""

from algorithms.lplr.algorithm import Lplr

__all__ = ["Lplr"]
