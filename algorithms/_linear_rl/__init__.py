"""Shared parts of UCRL-VTR and LSVI-UCB: settings, values, least squares, deviations of noise, the printed argument.

Source: Luyo, Garcelon, Lazaric and Pirotta (2021), "Differentially Private Exploration in Reinforcement Learning with
Linear Representation", arXiv 2112.01585; equations, corollaries and algorithms are cited by its numbers.
"""
