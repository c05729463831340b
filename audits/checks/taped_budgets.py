"""What a record moved in all releases of a budget, certified against the rho of that budget."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from audits.checks.taped_moves import Move
from dpaudit import Claim, Declaration, DPAuditError, Release, Repeat, Sequential, certify
from dpaudit.checks import meant
from dpaudit.model.declaration import Filtered, Group, children, walk
from dpaudit.model.losses import GaussianLoss
from dpaudit.model.mechanism import Mechanism
from dpaudit.model.trace import Finding, joined_budgets

_ROUNDING = 1e-9
"""By so much less, relative, a distance of two sums is taken, which are floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Budgets of a declaration that share labels: these labels, and what all of them hold together.

    A person's k records have k^2 times a record's rho.
    """

    labels: frozenset[str]
    rho: float

    @classmethod
    def all_of(cls, node: Declaration) -> "Iterator[Budget]":
        """Yield the budgets of a declaration whose labels are released nowhere else.

        >>> from dpaudit import Stated
        >>> [budget.rho for budget in Budget.all_of(Filtered(parts=(Stated(epsilon=0.1, source="a vendor"),), rho=0.5))]
        [0.5]
        """
        outside = set(_outside(node))
        budgets = joined_budgets(cls._each(node, 1))
        yield from (cls(labels=labels, rho=float(rho)) for labels, rho in budgets if not labels & outside)

    @classmethod
    def _each(cls, node: Declaration, times: int) -> Iterator[tuple[frozenset[str], Fraction]]:
        """Yield the labels of each budget, and its rho as often as it is met."""
        if isinstance(node, Filtered):
            labels = frozenset(inner.label for _, inner in walk(node) if isinstance(inner, Release))
            yield labels, times * meant(node.rho)
        more = node.times if isinstance(node, Repeat) else node.size**2 if isinstance(node, Group) else 1
        for child in children(node):
            yield from cls._each(child, times * more)


def _outside(node: Declaration) -> Iterator[str]:
    """Yield the labels that are released without a budget."""
    if isinstance(node, Release):
        yield node.label
    if not isinstance(node, Filtered):
        for child in children(node):
            yield from _outside(child)


def overspent(moves: tuple[Move, ...], budgets: tuple[Budget, ...]) -> Iterator[Finding]:
    """Yield a finding (DPA228) for each budget that two neighbours spend more of than it holds, in one run.

    The releases that moved are certified as they were made, at the distances that they moved: only a rho that is
    refuted is a finding. Gaussian noise alone is counted: the rho of another move of the same length may be smaller.
    """
    for budget in budgets:
        by_run: dict[int, list[Move]] = defaultdict(list)
        for move in moves:
            if move.label in budget.labels and move.distance and isinstance(move.mechanism.loss(), GaussianLoss):
                by_run[move.run].append(move)
        if any(_costs_more(of_run, budget.rho) for of_run in by_run.values()):
            paid = f"by more than a budget of rho {budget.rho:g} pays for"
            text = f"One record moved {_listed(budget.labels)} in one run {paid}."
            yield Finding(rule="DPA228", where=min(budget.labels), message=text)


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
    return mechanism.scaled(1 / (min(distance or 1.0, 1.0) * (1 - _ROUNDING)))


def _listed(labels: frozenset[str]) -> str:
    """Return the labels in words."""
    return " and ".join(f"'{label}'" for label in sorted(labels))
