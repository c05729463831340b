"""LSVI-UCB in batches for linear decision processes, under joint differential privacy.

Source: Luyo, Garcelon, Lazaric and Pirotta (2021), "Differentially Private Exploration in Reinforcement Learning with
Linear Representation", arXiv 2112.01585; equations, corollaries and algorithms are cited by its numbers.
"""

from algorithms.lsvi_ucb.algorithm import LsviUcb

__all__ = ["LsviUcb"]
