"""The paper's own arguments as annotations: which theorem it uses at which node, and the budget it assigns there."""

import math
from dataclasses import dataclass, replace

from algorithms.linear_rl.printed_mixture import nodes_printed
from dpaudit import Declaration, Mechanism, Printed, Release, Repeat, Sequential


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A budget on its way down an argument: (epsilon, delta)."""

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
        """Return the annotation of a node that has this budget by `rule`."""
        return Printed(rule=rule, epsilon=self.epsilon, delta=self.delta, slots=slots)


def node(label: str, mechanism: Mechanism, times: int) -> Declaration:
    """Return the nodes of one tree that a record is in: `times` releases with fresh noise."""
    return Repeat(part=Release(label=label, mechanism=mechanism), times=times)


def tree_by_advanced(tree: Declaration, share: Share, slots: int) -> Declaration:
    """Return a tree's nodes with the paper's argument: classic Gaussians in `slots` nodes by advanced composition."""
    assert isinstance(tree, Repeat) and isinstance(tree.part, Release)  # noqa: S101, PT018  # made by `node`
    leaf = replace(tree.part, printed=share.advanced(slots).by("classic_gaussian"))
    return replace(tree, part=leaf, printed=share.by("advanced_short", slots))


def tree_by_sum(tree: Declaration, share: Share, slots: int) -> Declaration:
    """Return a tree's nodes with the argument of the pure remarks: Laplace noise in `slots` nodes, added up."""
    assert isinstance(tree, Repeat) and isinstance(tree.part, Release)  # noqa: S101, PT018  # made by `node`
    leaf = replace(tree.part, printed=share.split(slots).by("laplace"))
    return replace(tree, part=leaf, printed=share.by("basic", slots))


def nested_advanced(
    kinds: tuple[tuple[Declaration, ...], ...], share: Share, *, steps: int, episodes: int
) -> Declaration:
    """Return the argument of Corollaries 5 and 10 over trees grouped by kind (matrices, vectors, ...).

    The budget is split evenly between kinds, and within a kind by advanced composition over `steps` trees, and over
    ceil(log2 K + 1) nodes in each.
    """
    slots = nodes_printed(episodes)
    one = share.split(len(kinds))
    each = one.advanced(steps)
    parts = tuple(
        Sequential(
            parts=tuple(tree_by_advanced(tree, each, slots) for tree in trees), printed=one.by("advanced_short", steps)
        )
        for trees in kinds
    )
    return Sequential(parts=parts, printed=share.by("basic"))
