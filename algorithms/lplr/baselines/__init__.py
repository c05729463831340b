"""Methods that LPLR is compared with: one shared regression under several kinds of noise, and without noise.

`SufficientStatistics` is pure and local (the route that the paper's lower bound on squared errors speaks of);
`GaussianUcb` is (epsilon, delta)-local (Zheng et al., 2020; greedy: Han et al., 2021), and `LinUcb` protects nobody.
"""

from algorithms.lplr.baselines.optimism import GaussianUcb, LinUcb
from algorithms.lplr.baselines.sufficient_statistics import SufficientStatistics

__all__ = ["GaussianUcb", "LinUcb", "SufficientStatistics"]
