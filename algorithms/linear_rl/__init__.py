"""UCRL-VTR for linear mixtures and LSVI-UCB for linear MDPs, under joint or local differential privacy.

Source: Luyo, Garcelon, Lazaric and Pirotta (2021), "Differentially Private Exploration in Reinforcement Learning with
Linear Representation", arXiv 2112.01585; equations, corollaries and algorithms are cited by its numbers.
"""

from algorithms.linear_rl.lsvi_ucb import LsviUcb
from algorithms.linear_rl.ucrl_vtr import UcrlVtr

__all__ = ["LsviUcb", "UcrlVtr"]
