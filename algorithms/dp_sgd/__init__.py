"""DP-SGD as users run it, through Opacus: read, certified, compared, watched and audited.

Source: Abadi et al. (2016), "Deep Learning with Differential Privacy", Algorithm 1; Yousefpour et al. (2021), Opacus.
"""

from algorithms.dp_sgd.accounting import epsilon_of_history
from algorithms.dp_sgd.algorithm import DpSgd
from algorithms.dp_sgd.notes import Review, review
from algorithms.dp_sgd.reading import TrainingRecord, read_checkpoint, read_engine

__all__ = [
    "DpSgd",
    "Review",
    "TrainingRecord",
    "epsilon_of_history",
    "read_checkpoint",
    "read_engine",
    "review",
]
