"""Private optimism in tabular decision processes, the baselines of linear methods: PUCB (joint) and LDP-OBI (local).

Source: Vietri, Balle, Krishnamurthy and Wu (2020), "Private Reinforcement Learning with PAC and Regret Guarantees";
Garcelon, Perchet, Pike-Burke and Pirotta (2021), "Local Differential Privacy for Regret Minimization in Reinforcement
Learning". Both with rewards that everybody knows, so that counts of transitions are all that is released.
"""

from algorithms.tabular_rl.config import LdpObi, Pucb

__all__ = ["LdpObi", "Pucb"]
