"""Shared parts of PUCB and LDP-OBI: optimism from noisy counts of transitions in tabular decision processes.

Source: Vietri, Balle, Krishnamurthy and Wu (2020), "Private Reinforcement Learning with PAC and Regret Guarantees";
Garcelon, Perchet, Pike-Burke and Pirotta (2021), "Local Differential Privacy for Regret Minimization in Reinforcement
Learning". Both with rewards that everybody knows, so that counts of transitions are all that is released.
"""
