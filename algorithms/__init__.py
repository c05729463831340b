"""Algorithms of papers: each is a frozen configuration with a plan, a claim, a declaration and a vectorised run."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpaudit.runtime.exports import lazy_exports

DISTRIBUTION = "dpaudit"
"""The distribution that this package belongs to; the guard of the package names reads this line."""

NAMES: dict[str, str] = {
    "capri": "kernel contextual bandit with random projections (joint or local)",
    "cell_table": "contextual bandit on one noisy table of counts and sums, without a kernel (joint)",
    "dp_sgd": "training with noisy gradients through Opacus, or a checkpoint of it (extra 'opacus')",
    "lplr": "linear contextual bandit by layered regression on private messages (local; as printed, or repaired)",
    "ldp_obi": "optimism from counts in tabular decision processes, noised on the device (local)",
    "lsvi_ucb": "batched least-squares value iteration for linear decision processes (joint)",
    "replayed_lsvi": "least-squares value iteration whose fresh users replay the past (local)",
    "pucb": "optimism from noisy counts in tabular decision processes (joint)",
    "ucrl_vtr": "value-targeted regression for linear-mixture decision processes (joint or local)",
    "dp_ebs": "dueling bandit that removes options by private running counts (central or local)",
    "g_optimal_dueling": "dueling bandit in d dimensions, by designed comparisons and private group sums",
}
"""Every algorithm by name, with one line on what it does."""

if TYPE_CHECKING:
    from algorithms.capri import Capri as Capri
    from algorithms.cell_table import CellTable as CellTable
    from algorithms.dp_ebs import DpEbs as DpEbs
    from algorithms.dp_sgd import DpSgd as DpSgd
    from algorithms.g_optimal_dueling import GOptimalDueling as GOptimalDueling
    from algorithms.ldp_obi import LdpObi as LdpObi
    from algorithms.lplr import Lplr as Lplr
    from algorithms.lsvi_ucb import LsviUcb as LsviUcb
    from algorithms.pucb import Pucb as Pucb
    from algorithms.replayed_lsvi import ReplayedLsvi as ReplayedLsvi
    from algorithms.ucrl_vtr import UcrlVtr as UcrlVtr
else:
    __getattr__, __dir__ = lazy_exports(__name__)


def load(name: str) -> Any:
    """Return the class of the algorithm called `name`, importing only its module.

    Raises: KeyError: no such algorithm.
    """
    if name not in NAMES:
        raise KeyError(name)
    class_name = "".join(word.capitalize() for word in name.split("_"))
    return getattr(import_module(f"algorithms.{name}"), class_name)
