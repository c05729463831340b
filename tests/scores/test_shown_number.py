"""Outputs that show few of their numbers: sparse vectors that stop, and what a shown number tells at its place."""

from collections.abc import Callable

import numpy as np
import pytest

from audits import Settings, audit
from audits.attacks.classifier import learn_score
from audits.attacks.logistic import log_likelihood
from audits.attacks.shown_number import ShownNumber
from audits.attacks.table import Table
from dpaudit import Claim
from dpaudit.model.mechanism import Array

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")
RISING = np.zeros(10), np.ones(10)
"""All ten queries rise by their sensitivity."""

Run = Callable[[Array, np.random.Generator, int], Array]


def sparse_vector(
    threshold: float, query: float, cutoff: int, *, renewed: bool = False, prints: bool = False
) -> Callable[..., Array]:
    """Return a sparse vector of such scales: 0 below, 1 or the tested answer above, NaN after it has stopped."""

    def run(queries: Array, rng: np.random.Generator, n_runs: int) -> Array:
        shown = np.full((n_runs, len(queries)), np.nan)
        level, above = rng.laplace(0, threshold, n_runs), np.zeros(n_runs)
        for place, value in enumerate(queries):
            answer = value + rng.laplace(0, query, n_runs) if query else np.full(n_runs, float(value))
            going, over = above < cutoff, answer >= level
            shown[going, place] = 0.0
            shown[going & over, place] = answer[going & over] if prints else 1.0
            level = np.where(going & over, rng.laplace(0, threshold, n_runs), level) if renewed else level
            above += going & over
        return shown

    return run


def swapped(below: int, above: int) -> tuple[Array, Array]:
    """Return queries of which the first rise by 1 and the last fall by 1."""
    first = np.repeat([0.0, 1.0], [below, above])
    return first, 1 - first


PRINTS = sparse_vector(2, 2, 1, prints=True)
"""The third published variant (Lyu, Su and Li 2017, Figure 1) at a claim of 1."""

RIGHT = {
    "1": (sparse_vector(2, 8, 2), swapped(10, 2)),
    "2": (sparse_vector(4, 8, 2, renewed=True), swapped(10, 2)),
}
WRONG = {
    "3, all rise": (PRINTS, RISING),
    "3, the last falls": (PRINTS, swapped(10, 1)),
    "4": (sparse_vector(4, 4 / 3, 2), swapped(10, 2)),
    "5": (sparse_vector(2, 0, 1), swapped(1, 1)),
    "6": (sparse_vector(2, 2, 99), swapped(5, 5)),
}
"""The six published variants, each with the pair that its proof of violation names."""


def refuted(run: Run, pair: tuple[Array, Array], seed: int) -> bool:
    """Return whether an audit of 60,000 runs with no other setting refutes the claim."""
    result = audit(
        run, neighbours=pair, claim=CLAIM, runs=60_000, rng=np.random.default_rng(seed), how=Settings(control_runs=0)
    )
    return result.verdict == "violation"


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_an_audit_refutes_each_wrong_sparse_vector(name: str) -> None:
    """60,000 runs at the default settings, two streams."""
    run, pair = WRONG[name]
    assert all(refuted(run, pair, seed) for seed in (1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
def test_no_audit_refutes_a_right_sparse_vector(name: str) -> None:
    """False alarms are at most .01 each; of twenty none is seen at these seeds."""
    run, pair = RIGHT[name]
    assert not any(refuted(run, pair, seed) for seed in range(5))


def drawn(runs: int, seed: int) -> tuple[Array, Array]:
    """Return outputs of the third variant, and which of the pair ran."""
    rng = np.random.default_rng(seed)
    labels = rng.random(runs) < 0.5
    return np.where(labels[:, None], PRINTS(RISING[1], rng, runs), PRINTS(RISING[0], rng, runs)), labels


def learned(view: Array, labels: Array) -> ShownNumber:
    """Return a score, which must be there."""
    found = ShownNumber.learned(Table.learned(view), view, labels)
    assert found is not None
    return found


def test_the_score_predicts_fresh_runs_better_than_an_additive_one() -> None:
    """By a thousandth of a nat a run; a score of labels that were drawn anew predicts nothing."""
    (taught, known), (view, labels) = drawn(9_000, 1), drawn(50_000, 2)
    rng = np.random.default_rng(3)
    drawn_anew = rng.random(len(known)) < 0.5
    scores = learned(taught, known), learn_score(taught, known, rng), learned(taught, drawn_anew)
    own, additive, blind = (float(log_likelihood(score(view), labels)) / len(labels) for score in scores)
    assert own > additive + 1e-3 > blind


@pytest.mark.parametrize("symbol", [np.nan, -np.inf, 0.0, -1.0])
def test_the_symbol_that_stands_for_nothing_may_be_any(symbol: float) -> None:
    view, labels = drawn(3_000, 1)
    named = np.where(np.isnan(view) | (view == 0), symbol, view)
    plain = np.where(np.isnan(view) | (view == 0), np.nan, view)
    assert learned(named, labels)(named) == pytest.approx(learned(plain, labels)(plain))


def test_outputs_that_show_most_of_their_numbers_or_hardly_any_have_no_such_score() -> None:
    rng = np.random.default_rng(1)
    labels = rng.random(2_000) < 0.5
    dense = rng.normal(size=(2_000, 5))
    for view in (dense, np.where(np.arange(2_000)[:, None] < 9, dense, np.nan), dense[:, :2], dense[:500]):
        assert ShownNumber.learned(Table.learned(view), view, labels[: len(view)]) is None


def test_a_row_of_a_list_stands_at_its_own_place() -> None:
    """Outputs that are lists of other lengths have a field for each place: [9] comes before [10]."""
    rows = [[None] * place + [float(place)] for place in (11, 2, 9, 0, 10)] * 3
    shown = Table.learned(rows).in_order(rows)
    assert [int(np.flatnonzero(np.isfinite(row))[0]) for row in shown[:5]] == [4, 1, 2, 0, 3]
