"""The paper's argument as annotations of a declaration: the theorem at each node, and its share of the budget."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from dpaudit import Printed, Release, Repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The part of the budget that an argument assigns to one node: (epsilon, delta)."""

    epsilon: float
    delta: float

    def split(self, slots: float) -> "Share":
        """Return the share of one of `slots` parts that are added up."""
        return Share(epsilon=self.epsilon / slots, delta=self.delta / slots)

    def advanced(self, slots: float, log: float | None = None) -> "Share":
        """Return the share of one of `slots` parts by the shorthand of advanced composition (Appendix F.6).

        `log` stands in for ln(2 / delta) where the paper has another logarithm.
        """
        log = math.log(2 / self.delta) if log is None else log
        return Share(epsilon=self.epsilon / math.sqrt(8 * slots * log), delta=self.delta / (2 * slots))

    def by(self, rule: str, slots: float | None = None) -> Printed:
        """Return the annotation of a node to which `rule` gives this share."""
        return Printed(rule=rule, epsilon=self.epsilon, delta=self.delta, slots=slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """How a paper adds up the budgets of many releases: the rule, the rule of one release, and a release's share."""

    rule: str
    leaf: str
    part: Callable[[Share, float], Share]

    def tree(self, node: Release, times: int, share: Share, slots: int) -> Repeat:
        """Return the `times` nodes of one tree that a record is in, of which the paper counts `slots`."""
        leaf = replace(node, printed=self.part(share, slots).by(self.leaf))
        return Repeat(part=leaf, times=times, printed=share.by(self.rule, slots))


ADVANCED = Argument(rule="advanced_short", leaf="classic_gaussian_2", part=Share.advanced)
"""Gaussian mechanisms as Appendix F.3 prints them, with ln(2 / delta), by advanced composition."""
ADDED = Argument(rule="basic", leaf="laplace", part=Share.split)
"""Laplace noise of the pure remarks, added up."""
