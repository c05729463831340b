"""The paper's argument as annotations of a declaration: the theorem at each node, and its share of the budget."""

import math
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


def tree_by_advanced(node: Release, times: int, share: Share, slots: int) -> Repeat:
    """Return the `times` nodes of one tree that a record is in, with the paper's argument.

    Gaussian mechanisms as Appendix F.3 prints them, with ln(2 / delta), in `slots` nodes, by advanced composition.
    """
    leaf = replace(node, printed=share.advanced(slots).by("classic_gaussian_2"))
    return Repeat(part=leaf, times=times, printed=share.by("advanced_short", slots))


def tree_by_sum(node: Release, times: int, share: Share, slots: int) -> Repeat:
    """Return the same nodes with the argument of the pure remarks: Laplace noise in `slots` nodes, added up."""
    leaf = replace(node, printed=share.split(slots).by("laplace"))
    return Repeat(part=leaf, times=times, printed=share.by("basic", slots))
