"""Budgets on a tape: what two neighbours move in all releases together stays within the rho that is declared.

A site asks for last-touch attribution: of the records that take part, the latest one reports its value, in a bucket of
its own. Each record has a budget.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from audits import replay_program
from audits.checks.taped_budgets import Budget, overspent
from audits.checks.taped_moves import Move
from dpaudit import Group, Recorder, Release, Sequential, Streams, Transcript
from dpaudit.budgets.individual import IndividualFilter, gaussian_cost
from dpaudit.model.case import ReplayCase
from dpaudit.model.declaration import BudgetHolder, Filtered
from mechanisms import Gaussian, Laplace

NOISE = Gaussian(stddev=4.0, l2_sensitivity=3.0, neighbours="add_remove")
LARGEST, QUERIES = 2, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Twelve reports of the latest record; `cost` says what a record pays for a report."""

    cost: str = "whole"
    per: BudgetHolder = "record"

    def declaration(self) -> Filtered:
        return Filtered(parts=(Release(label="sales", mechanism=NOISE),), rho=0.5, per=self.per)

    def cases(self, problem: Any) -> tuple[Any, ...]:
        return ()

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        arrays, recorder = self.publish((2, 1), streams, n_runs)
        return Transcript(n_runs=n_runs, arrays=arrays, views={"all": tuple(arrays)}, trace=recorder.trace())

    def replays(self, problem: Any) -> tuple[ReplayCase, ...]:
        def run(data: Any, rng: Any, n_runs: int) -> Any:
            return self.publish(data, Streams.spawn(rng), n_runs)[0]

        pairs = (("the latest record goes", (2, 2), (2, 0)), ("the only record goes", (1, 0), (0, 0)))
        return (ReplayCase(name="attribution", pairs=pairs, run=run),)

    def publish(self, data: tuple[int, int], streams: Streams, n_runs: int) -> tuple[dict[str, Any], Recorder]:
        recorder, reports = Recorder(streams.noise), []
        filters = {epoch: IndividualFilter(limit=0.5) for epoch, value in enumerate(data) if value}
        for _ in range(QUERIES):
            exact, paid, present = np.zeros((n_runs, 2)), {}, []
            for epoch, own in filters.items():
                price = self.price(epoch, data)
                filters[epoch], takes_part = own.charged(price)
                paid[f"epoch {epoch}"] = price * takes_part
                present += [epoch] * takes_part
            if present:
                exact[:, present[-1]] = data[present[-1]]
            reports.append(recorder.release("sales", NOISE, exact, paid=paid))
        return {"reports": np.stack(reports, axis=1)}, recorder

    def price(self, epoch: int, data: tuple[int, int]) -> Fraction:
        """The right price covers the older record that comes back where this one goes."""
        if self.cost == "where it counts" and any(data[epoch + 1 :]):
            return Fraction(0)
        brought_back = 0 if self.cost == "own value" else gaussian_cost(LARGEST, NOISE.stddev)
        return gaussian_cost(data[epoch], NOISE.stddev) + brought_back


def found(program: Attribution) -> set[str]:
    return {finding.rule for finding in replay_program(program, None, program.declaration(), ()).findings}


def test_a_program_within_its_budgets_is_clean_however_often_it_asks() -> None:
    """Of twelve reports a record takes part in two; a label below a budget has no number of times."""
    assert found(Attribution()) == set()


@pytest.mark.parametrize("cost", ["own value", "where it counts"])
def test_records_that_pay_less_than_their_presence_changes_are_found(cost: str) -> None:
    """The known counterexamples; each record stays within its own budget by its own account."""
    assert found(Attribution(cost=cost)) == {"DPA228"}


def moved(noise: Gaussian | Laplace, distance: float, label: str = "sales") -> Move:
    """One answer of the first run that moved by a share of its sensitivity."""
    return Move(label=label, run=0, entry="", distance=distance, site="", mechanism=noise)


def test_budgets_that_share_labels_in_a_chain_are_one_and_a_person_has_the_square() -> None:
    """Two budgets that a third joins hold their sum; a label that is released without a budget is not judged."""
    first, second = (Release(label=label, mechanism=NOISE) for label in ("a", "d"))
    parts = [(first, replace(first, label="b")), (replace(second, label="c"), second)]
    joining = (replace(first, label="b"), replace(first, label="c"))
    chain = [Filtered(parts=some, rho=0.5, per="record") for some in (*parts, joining)]
    assert [budget.limit for budget in Budget.all_of(Sequential(parts=tuple(chain)))] == [1.5]
    assert [budget.limit for budget in Budget.all_of(Group(part=chain[0], size=3))] == [4.5]
    assert not [*Budget.all_of(Sequential(parts=(chain[0], first)))]


def test_only_noise_whose_rho_follows_from_the_length_of_a_move_is_counted() -> None:
    """Laplace noise on two entries that move by half each has less rho than on one entry that moves by all."""
    budget = Budget(labels=frozenset({"sales"}), measure="rho", limit=0.1)
    wide = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove")
    assert not [*overspent((moved(wide, 1.0),), (budget,))]
    assert [finding.rule for finding in overspent((moved(NOISE, 1.0),), (budget,))] == ["DPA228"]


def test_budgets_of_epsilon_and_mu_are_judged_in_their_measure() -> None:
    """An epsilon by Laplace noise, mu by its square; twins: noise within the budget, and noise that is not counted."""
    loud, wide = (Laplace(scale=scale, l1_sensitivity=1.0, neighbours="add_remove") for scale in (1.0, 4.0))
    parts = (Release(label="sales", mechanism=wide),), (Release(label="sales", mechanism=NOISE),)
    declared = Filtered(parts=parts[0], epsilon=0.3), Filtered(parts=parts[1], mu=0.3)
    (epsilon,), (mu,) = ((*Budget.all_of(Group(part=budget, size=2)),) for budget in declared)
    assert (epsilon.limit, mu.limit, mu.measure) == (0.6, 0.18, "rho")
    assert [finding.rule for finding in overspent((moved(loud, 1.0),), (epsilon,))] == ["DPA228"]
    assert not [*overspent((moved(wide, 1.0), moved(NOISE, 1.0)), (epsilon,))]
    assert [finding.rule for finding in overspent((moved(NOISE, 1.0),), (mu,))] == ["DPA228"]
    assert not [*overspent((moved(NOISE, 0.5),), (mu,))]


def test_a_label_that_two_budgets_pay_for_is_judged_in_one_measure() -> None:
    """Rho .28 was accused where budgets of mu .7 and rho .2 pay for it. Twins: rho .56, and a budget of epsilon."""
    sales = (Release(label="sales", mechanism=NOISE),)
    of_mu, of_rho = Filtered(parts=sales, mu=0.7), Filtered(parts=sales, rho=0.2)
    budgets = tuple(Budget.all_of(Sequential(parts=(of_mu, of_rho))))
    once = moved(NOISE, 1.0)
    assert not [*overspent((once,), budgets)]
    assert [finding.rule for finding in overspent((once,) * 2, budgets)] == ["DPA228"]
    assert not [*Budget.all_of(Sequential(parts=(of_rho, Filtered(parts=sales, epsilon=1.0))))]
