"""UCRL-VTR and UCRL-VTR+ for linear-mixture decision processes, under joint or local differential privacy.

Source: Luyo, Garcelon, Lazaric and Pirotta (2021), "Differentially Private Exploration in Reinforcement Learning with
Linear Representation", arXiv 2112.01585; equations, corollaries and algorithms are cited by its numbers.
"""

from algorithms.ucrl_vtr.algorithm import UcrlVtr

__all__ = ["UcrlVtr"]
