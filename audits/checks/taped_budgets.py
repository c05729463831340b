"""What a record moved in all releases of a budget, certified against that budget."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from audits.checks.taped_moves import Move
from dpaudit import Claim, Declaration, DPAuditError, Release, Repeat, Sequential, certify
from dpaudit.model.declaration import Filtered, Group, children
from dpaudit.model.losses import GaussianLoss, LaplaceLoss
from dpaudit.model.mechanism import Mechanism
from dpaudit.model.trace import Finding, LabelledBudget, joined_budgets

_ROUNDING = 1e-9
"""By so much less, relative, a distance of two sums is taken, which are floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Budgets of a declaration that share labels: these labels, the measure, and what all of them hold together.

    A person's k records have k times a record's epsilon, and k^2 times its rho.
    """

    labels: frozenset[str]
    measure: Literal["epsilon", "rho"]
    limit: float

    @classmethod
    def all_of(cls, node: Declaration) -> "Iterator[Budget]":
        """Yield the budgets of a declaration whose labels are released nowhere else, nor paid for in another measure.

        >>> from dpaudit import Stated
        >>> told = Stated(epsilon=0.1, source="a vendor")
        >>> [budget.limit for budget in Budget.all_of(Filtered(parts=(told,), mu=0.5))]
        [0.125]
        """
        budgets = joined_budgets(_each(node))
        met = Counter([*set(_outside(node)), *(label for budget in budgets for label in budget.labels)])
        for labels, measure, limit in budgets:
            if all(met[label] == 1 for label in labels):
                yield cls(labels=labels, measure="epsilon" if measure == "epsilon" else "rho", limit=float(limit))


def _each(node: Declaration, times: int = 1, records: int = 1) -> Iterator[LabelledBudget]:
    """Yield each budget, of mu by its rho, with what it holds as often as it is met, for all records of a person."""
    if isinstance(node, Filtered):
        budget = LabelledBudget.of(node, times * (records if node.epsilon is not None else records**2))
        yield budget if node.mu is None else budget._replace(measure="rho", limit=budget.limit / 2)
    often = node.times if isinstance(node, Repeat) else 1
    several = node.size if isinstance(node, Group) else 1
    for child in children(node):
        yield from _each(child, times * often, records * several)


def _outside(node: Declaration) -> Iterator[str]:
    """Yield the labels that are released without a budget."""
    if isinstance(node, Release):
        yield node.label
    if not isinstance(node, Filtered):
        for child in children(node):
            yield from _outside(child)


def overspent(moves: tuple[Move, ...], budgets: tuple[Budget, ...]) -> Iterator[Finding]:
    """Yield a finding (DPA228) for each budget that two neighbours spend more of than it holds, in one run.

    The releases that moved are certified as they were made, at the distances that they moved: only a cost that is
    refuted is a finding. Of rho and mu Gaussian noise alone is counted, and of epsilon Laplace noise: what another move
    of the same length costs may be less.
    """
    for budget in budgets:
        counted = LaplaceLoss if budget.measure == "epsilon" else GaussianLoss
        by_run: dict[int, list[Move]] = defaultdict(list)
        for move in moves:
            if move.label in budget.labels and move.distance and isinstance(move.mechanism.loss(), counted):
                by_run[move.run].append(move)
        if any(_costs_more(of_run, budget) for of_run in by_run.values()):
            paid = f"by more than a budget of {budget.measure} {budget.limit:g} pays for"
            text = f"One record moved {_listed(budget.labels)} in one run {paid}."
            yield Finding(rule="DPA228", where=min(budget.labels), message=text)


def _costs_more(moves: list[Move], budget: Budget) -> bool:
    """Return whether a budget is refuted for releases that moved so far; what cannot be certified is not."""
    parts = tuple(Release(label=move.label, mechanism=_as_moved(move.mechanism, move.distance)) for move in moves)
    try:
        who = moves[0].mechanism.neighbours
        in_epsilon = budget.measure == "epsilon"
        claim = Claim(epsilon=budget.limit, neighbours=who) if in_epsilon else Claim(rho=budget.limit, neighbours=who)
        return certify(Sequential(parts=parts), claim).verdict == "refuted"
    except (DPAuditError, ValueError):
        return False


def _as_moved(mechanism: Mechanism, distance: float | None) -> Mechanism:
    """Return a mechanism with so much more noise as its answer moved less than its sensitivity."""
    return mechanism.scaled(1 / (min(distance or 1.0, 1.0) * (1 - _ROUNDING)))


def _listed(labels: frozenset[str]) -> str:
    """Return the labels in words."""
    return " and ".join(f"'{label}'" for label in sorted(labels))
