"""An account: the budget of a data set, and the theorems that may count the spending."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from dpaudit.budgets import filters
from dpaudit.budgets.filters import Filter
from dpaudit.certification.digits import stated
from dpaudit.checks import settle
from dpaudit.configuration.tables import read_object
from dpaudit.errors import LedgerError
from dpaudit.model.claim import Claim
from dpaudit.model.codec import encode
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim

Rule = Literal["either", "basic", "concentrated", "gaussian", "renyi"]
"""How spending is counted; `either` is the sum of epsilons and the sum of rho, side by side.

`renyi` adds Renyi divergences of one order, that of `renyi_filter`; it counts samples too.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A budget for one data set: `budget` bounds all that is ever released of it, together.

    A budget in rho, in mu or in Renyi divergences counts each release in that measure, see `pricing`, and has no rule
    to choose. Of several orders, or points of a profile, each has filters of its own, and all must hold.
    `refresh` says in the owner's words when a new budget begins, and why that is sound; it changes no number.
    Raises: ValueError: no name, an infinite epsilon, or a rule other than `basic` for a budget without delta, or
        a budget in rho with xi.
    """

    name: str
    budget: Claim
    rule: Rule = "either"
    refresh: str = ""

    def __post_init__(self) -> None:
        settle(self)
        if not self.name.strip():
            raise ValueError(f"Expected name={self.name!r} to name a data set.")
        if isinstance(self.budget, MeasuredClaim):
            self._require_own_rule(self.budget)
            return
        if self.budget.epsilon == float("inf"):
            raise ValueError("Expected epsilon=inf of the budget to be finite: it would allow every release.")
        if self.budget.delta == 0 and self.rule in ("concentrated", "gaussian", "renyi"):
            raise ValueError(f"Expected rule={self.rule!r} with a positive delta; for delta = 0 take rule='basic'.")

    def _require_own_rule(self, budget: MeasuredClaim) -> None:
        """Refuse a budget in a measure whose parts do not add up to it, and a rule that counts something else."""
        self.filters()
        if self.rule != "either":
            raise ValueError(f"Expected rule={self.rule!r} to be left out: a budget in {budget.measure} has one rule.")

    def filters(self) -> tuple[Filter, ...]:
        """Return the filters that may count, unspent; bookings go on while one filter has consented to all of them.

        Filters for several orders or points differ in `at`: bookings go on while one of each has consented to all.
        Guarantee: everything released meets the budget. Let a transcript belong to the first filter that consented to
        all of it. For an event E and neighbours with laws P and Q, the transcripts of E that belong to one filter are
        an event of the run that stops where that filter refuses, which is (epsilon, its delta)-private; so
        P(E) - e^epsilon Q(E) is at most the sum of the filters' deltas, and those add up to the budget's. That another
        order or point stops the run earlier takes nothing away: whoever asks a filter may stop at any time.
        """
        claim = self.budget
        if isinstance(claim, MeasuredClaim):
            return tuple(self._of_measure(claim))
        if claim.delta == 0 or self.rule == "basic":
            return (filters.basic_filter(claim),)
        if self.rule == "gaussian":
            return (filters.gaussian_filter(claim),)
        if self.rule == "renyi":
            return (filters.renyi_filter(claim),)
        if self.rule == "concentrated":
            return (filters.concentrated_filter(claim, mass=claim.delta / 2),)
        share = replace(claim, delta=claim.delta / 2)
        return filters.basic_filter(share), filters.concentrated_filter(share, mass=share.delta / 2)

    def _of_measure(self, claim: MeasuredClaim) -> Iterator[Filter]:
        """Yield the filters of a budget that is not in epsilon and delta."""
        match claim:
            case RenyiClaim(renyi=points):
                for point in points:
                    one = filters.measure_filter(replace(claim, renyi=(point,)))
                    yield replace(one, at=f"at order {stated(point[0])}")
            case ProfileClaim(profile=points):
                for epsilon, delta in points:
                    budget = Claim(epsilon=epsilon, delta=delta, **claim.whose)
                    for one in replace(self, budget=budget).filters():
                        yield replace(one, at=f"at epsilon {stated(epsilon)}")
            case RhoClaim() | MuClaim():
                yield filters.measure_filter(claim)

    def to_dict(self) -> dict[str, Any]:
        """Return the account as plain data."""
        return dict(encode(self))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Account":
        """Return the account that `data` spells.

        Raises: LedgerError: it spells none.
        """
        try:
            return read_object(cls, data)
        except Exception as error:
            raise LedgerError(f"An account is malformed: {error}") from None
