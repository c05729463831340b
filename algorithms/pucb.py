"""PUCB: optimism from Laplace trees of counts in tabular decision processes, under joint differential privacy."""

from typing import ClassVar

from algorithms._claims import EPISODE, claim_of
from algorithms._tabular_rl.algorithm import TabularAlgorithm
from algorithms._tabular_rl.plan import TablePlan, plan_of
from algorithms._tabular_rl.settings import TabularSettings
from dpaudit import (
    Billboard,
    Claim,
    Declaration,
    PostProcess,
    Release,
    Repeat,
    Sequential,
)
from dpaudit.arguments import settled


@settled
class Pucb(TabularSettings, TabularAlgorithm):
    """PUCB: optimism from counts that come out of Laplace trees; pure joint privacy.

    Parameters: see `TabularSettings`.
    Guarantee: a replaced user moves two cells of each of H tables by one, in floor(log2 K) + 1 nodes each, so noise of
    scale 2 H m / epsilon gives epsilon, exactly. Rewards are known, so nothing else is released.
    Source: Vietri, Balle, Krishnamurthy and Wu (2020), with the bonus reduced to its two terms.

    >>> from dpaudit import certify
    >>> config = Pucb(epsilon=1.0, episodes=100, steps=3)
    >>> certify(config.declaration(), config.claim()).verdict
    'certified'
    """

    name: ClassVar[str] = "pucb"

    def claim(self) -> Claim:
        """Return (epsilon, 0)-joint privacy."""
        return claim_of(EPISODE, "joint", self.epsilon)

    def plan(self) -> TablePlan:
        """Return the calibrated algorithm; it depends on nothing but the settings."""
        return plan_of(self, local=False)

    def declaration(self) -> Declaration:
        """Return every step's nodes, as often as one user is in them."""
        plan = self.plan()
        parts = tuple(
            Repeat(part=Release(label=label, mechanism=plan.mechanism), times=plan.noise_in_sum)
            for label in plan.labels
        )
        steps = ("prefix sums of the nodes", "optimistic values and policies")
        return Billboard(part=PostProcess(part=Sequential(parts=parts), steps=steps), reads=("their own states",))
