"""Budgets on a tape: what two neighbours move in all releases together stays within the rho that is declared.

A site asks for last-touch attribution: of the records that take part, the latest one reports its value, in a bucket of
its own. Each record has a budget.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from audits import replay_program
from dpaudit import Recorder, Release, Streams, Transcript
from dpaudit.budgets.individual import IndividualFilter, gaussian_cost
from dpaudit.model.case import ReplayCase
from dpaudit.model.declaration import BudgetHolder, Filtered
from mechanisms import Gaussian

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
