"""What UCRL-VTR and LSVI-UCB share: settings, values, least squares, deviations of noise, and the paper's argument.

Source: Luyo, Garcelon, Lazaric and Pirotta (2021), "Differentially Private Exploration in Reinforcement Learning with
Linear Representation", arXiv 2112.01585; equations, corollaries and algorithms are cited by its numbers.
"""
