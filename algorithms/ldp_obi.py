"""LDP-OBI: optimism from counts that every user noises, in tabular decision processes, under local privacy."""

from typing import ClassVar

from algorithms._claims import EPISODE, claim_of
from algorithms._tabular_rl.algorithm import TabularAlgorithm
from algorithms._tabular_rl.plan import TablePlan, plan_of
from algorithms._tabular_rl.settings import TabularSettings
from dpaudit import Claim, Declaration, Local, Release, Sequential
from dpaudit.arguments import settled


@settled
class LdpObi(TabularSettings, TabularAlgorithm):
    """LDP-OBI: optimism from counts that every user noises themselves; pure local privacy.

    Parameters: see `TabularSettings`.
    Guarantee: a user's H tables differ from another's by two cells each, so noise of scale
    2 H / epsilon gives epsilon, exactly.
    Source: Garcelon, Perchet, Pike-Burke and Pirotta (2021), with the bonus reduced to its two terms.

    >>> from dpaudit import certify
    >>> config = LdpObi(epsilon=1.0, episodes=100, steps=3)
    >>> certify(config.declaration(), config.claim()).verdict
    'certified'
    """

    name: ClassVar[str] = "ldp_obi"

    def claim(self) -> Claim:
        """Return (epsilon, 0)-local privacy."""
        return claim_of(EPISODE, "local", self.epsilon)

    def plan(self) -> TablePlan:
        """Return the calibrated algorithm; it depends on nothing but the settings."""
        return plan_of(self, local=True)

    def declaration(self) -> Declaration:
        """Return one user's message: a table a step."""
        plan = self.plan()
        return Local(
            part=Sequential(parts=tuple(Release(label=label, mechanism=plan.mechanism) for label in plan.labels))
        )
