"""What a record moved in all releases of a budget, certified against the rho of that budget."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from audits.checks.taped_moves import Move
from dpaudit import Claim, Declaration, DPAuditError, Release, Repeat, Sequential, certify
from dpaudit.model.declaration import Filtered, children, walk
from dpaudit.model.mechanism import Mechanism
from dpaudit.model.trace import Finding

_ROUNDING = 1e-9
"""By so much less, relative, a distance of two sums is taken, which are floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A budget of a declaration: the labels that it pays for, and what it holds, each time that it is met."""

    labels: frozenset[str]
    rho: float

    @classmethod
    def all_of(cls, node: Declaration, times: int = 1) -> "Iterator[Budget]":
        """Yield the budgets of a declaration.

        >>> from dpaudit import Stated
        >>> [budget.rho for budget in Budget.all_of(Filtered(parts=(Stated(epsilon=0.1, source="a vendor"),), rho=0.5))]
        [0.5]
        """
        if isinstance(node, Filtered):
            yield cls(labels=frozenset(n.label for _, n in walk(node) if isinstance(n, Release)), rho=times * node.rho)
        for child in children(node):
            yield from cls.all_of(child, times * node.times if isinstance(node, Repeat) else times)


def overspent(moves: tuple[Move, ...], budgets: tuple[Budget, ...]) -> Iterator[Finding]:
    """Yield a finding (DPA228) for each budget that two neighbours spend more of than it holds, in one run.

    The releases that moved are certified as they were made, at the distances that they moved: only a rho that is
    refuted is a finding. Budgets that share a label count as one of their sum.
    """
    for budget in budgets:
        shared = [other for other in budgets if other.labels & budget.labels]
        labels, rho = frozenset().union(*(other.labels for other in shared)), sum(other.rho for other in shared)
        by_run: dict[int, list[Move]] = defaultdict(list)
        for move in moves:
            if move.label in labels and move.distance:
                by_run[move.run].append(move)
        if any(_costs_more(of_run, rho) for of_run in by_run.values()):
            text = f"One record moved {_listed(labels)} in one run by more than a budget of rho {rho:g} pays for."
            yield Finding(rule="DPA228", where=min(labels), message=text)


def _costs_more(moves: list[Move], rho: float) -> bool:
    """Return whether a rho is refuted for releases that moved so far; what cannot be certified is not."""
    parts = tuple(Release(label=move.label, mechanism=_as_moved(move.mechanism, move.distance)) for move in moves)
    try:
        claim = Claim(rho=rho, neighbours=moves[0].mechanism.neighbours)
        return certify(Sequential(parts=parts), claim).verdict == "refuted"
    except (DPAuditError, ValueError):
        return False


def _as_moved(mechanism: Mechanism, distance: float | None) -> Mechanism:
    """Return a mechanism with so much more noise as its answer moved less than its sensitivity."""
    scaled: Mechanism = mechanism.scaled(1 / (min(distance or 1.0, 1.0) * (1 - _ROUNDING)))
    return scaled


def _listed(labels: frozenset[str]) -> str:
    """Return the labels in words."""
    return " and ".join(f"'{label}'" for label in sorted(labels))
