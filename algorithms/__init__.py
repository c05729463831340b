"""Algorithms of papers: each is a frozen configuration with a plan, a claim, a declaration and a vectorised run."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpaudit.runtime.exports import described, lazy_exports

DISTRIBUTION = "dpaudit"
"""The distribution that this package belongs to; the guard of the package names reads this line."""

NAMES = described("algorithms")
"""Every algorithm by name, with the first line of its docstring."""

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
