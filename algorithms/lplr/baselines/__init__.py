"""Methods that LPLR is compared with: one shared regression under several kinds of noise, and without noise.

`SufficientStatistics` is pure and local (the route that the paper's lower bound on squared errors speaks of), and
`LinUcb` protects nobody.
"""

from algorithms.lplr.baselines.optimism import LinUcb
from algorithms.lplr.baselines.sufficient_statistics import SufficientStatistics

__all__ = ["LinUcb", "SufficientStatistics"]
