"""CAPRI, a kernel contextual bandit under joint or local differential privacy.

Source: Pavlovic, Salgia and Zhao (2025), "Differential Privacy in Kernelized Contextual Bandits via Random
Projections", arXiv 2507.13639; equations, lemmas and lines of Algorithm 1 are cited by its numbers.
"""

from algorithms.capri.algorithm import Capri

__all__ = ["Capri"]
