"""LSVI-UCB under local privacy, where fresh users replay the past: an answer to Remark 5, which leaves it open.

Source: this project. Remark 5, Algorithm 2 and Appendix E.1 are those of Luyo, Garcelon, Lazaric and Pirotta (2021),
"Differentially Private Exploration in Reinforcement Learning with Linear Representation", arXiv 2112.01585.
"""

from algorithms.replayed_lsvi.algorithm import ReplayedLsvi

__all__ = ["ReplayedLsvi"]
