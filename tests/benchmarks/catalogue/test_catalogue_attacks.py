"""What the attacks can see: columns in company, rare outputs, bits of doubles; and events chosen from odds alone."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from audits import audit
from audits.attacks import classifier
from audits.attacks.classifier import LearnedScore, learn_score
from audits.attacks.counting import CountedOdds
from audits.attacks.table import Table
from audits.decision.events import event_by_odds, rated_event, rounded
from audits.decision.preparation import prepare
from audits.experiment.settings import Settings
from benchmarks.catalogue.catalogue import CATALOGUE, SUITE
from benchmarks.catalogue.entry import Entry, pure
from benchmarks.catalogue.law import laplace_law, repeated
from benchmarks.catalogue.mutants import SURVIVORS, mutants
from benchmarks.catalogue.table import measure_entry, measure_published
from dpaudit import Claim
from dpaudit.model.mechanism import Array
from tests.narrowing import present

ENTRIES = {entry.name: entry for entry in CATALOGUE}
TWO = Claim(epsilon=2.0, neighbours="replace_one")


def signed(data: Any, rng: np.random.Generator, n_runs: int) -> Array:
    """A number that moves up or down as a public place says: neither column says anything alone."""
    place = 1_000 + 4_000 * rng.random(n_runs)
    sign = np.where(np.floor(place / 1_000) % 2 == 0, 1.0, -1.0)
    return np.column_stack([place, sign * (rng.laplace(size=n_runs) / 2 + data - 0.5)])


def test_columns_that_tell_only_in_company_are_seen_by_trees_and_by_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Epsilon 2 behind a place: more than 1.4 with trees; without, fewer than 1.0, at the zones' edges."""
    arguments: dict[str, Any] = {"neighbours": (0.0, 1.0), "claim": TWO, "runs": 20_000}
    seen = audit(signed, rng=np.random.default_rng(0), **arguments)
    assert 1.4 < seen.epsilon_lower < 2.1
    monkeypatch.setattr(classifier, "_TREES", 0)
    blind = audit(signed, rng=np.random.default_rng(0), **arguments)
    assert blind.epsilon_lower < 1.0
    assert blind.counts.guesses < 0.02 * blind.counts.runs < 0.5 * seen.counts.guesses


def test_identical_laws_grow_no_tree() -> None:
    """Ten streams of 4,000 runs of four columns: luck alone grows a tree in none of them."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        score = learn_score(rng.normal(size=(4_000, 4)), rng.random(4_000) < 0.5, rng)
        assert isinstance(score, LearnedScore)
        assert score.trees == ()


def test_odds_of_rare_outputs_are_shrunk_and_those_that_pile_up_are_kept() -> None:
    """Forty outputs, equally likely under both: odds within .3, though the counts' own go up to .4. At +-1: kept."""
    rng = np.random.default_rng(1)
    outputs, coins = rng.integers(0, 40, 6_000), rng.random(6_000) < 0.5
    table = Table.learned(outputs)
    odds = CountedOdds.learned(table, table.numbers(outputs), coins)(np.arange(40))
    raw = [math.log(coins[outputs == i].sum() / (~coins[outputs == i]).sum()) for i in range(40)]
    assert np.abs(odds).max() < 0.3 < 0.37 < np.abs(raw).max()
    told = rng.random(6_000) < 1 / (1 + np.exp(np.where(outputs % 2 == 0, 1.0, -1.0)))
    odds = CountedOdds.learned(table, table.numbers(outputs), told)(np.arange(40))
    assert np.abs(np.abs(odds) - 1).max() < 0.3
    assert (np.sign(odds) == np.where(np.arange(40) % 2 == 0, -1, 1)).all()


def test_an_event_by_odds_is_the_one_that_many_coins_choose() -> None:
    """Laplace log likelihood ratios at epsilon 1: saturated tails, as from 400,000 labelled runs; no coin is used."""
    rng = np.random.default_rng(2)
    labels = rng.random(400_000) < 0.5
    output = rng.laplace(size=400_000) + labels
    ratio = rounded(np.abs(output) - np.abs(output - 1))
    promise, event = event_by_odds(ratio[:20_000], 20_000, 0.05)
    many, same = rated_event(ratio, labels, 20_000, 0.05)
    assert event.low == pytest.approx(same.low, abs=0.15)
    assert event.high == pytest.approx(same.high, abs=0.15)
    assert event.high > 0.85
    assert promise == pytest.approx(many, abs=0.03)
    assert event_by_odds(np.zeros(5), 10, 0.05)[1].low == -math.inf


def test_outputs_that_do_not_fit_are_counted_and_teach_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for 2,000 of 3,000 runs to learn from, the other 1,001 are counted."""
    monkeypatch.setattr("audits.decision.preparation._ROOM", 2_000 * 8)
    monkeypatch.setattr("audits.decision.preparation.LEAST_LEARNING", 100)
    case = ENTRIES["laplace"].case()
    prepared = prepare(case, 20_000, np.random.default_rng(0), 0.05, Settings(chunk_runs=500))
    assert prepared.counted == 15_000 - 1 + 1_001
    assert len(prepared.count(case, Settings()).scores) == prepared.counted


def test_doubles_give_naive_laplace_noise_away() -> None:
    """Ten times the claim of .1 from 100,000 runs, four times the best bound in print; snapped, nothing."""
    naive = measure_entry(ENTRIES["floating-point laplace"], runs=100_000, seed=0)
    snapped = measure_entry(ENTRIES["snapped laplace"], runs=100_000, seed=0)
    assert naive.verdict == "violation"
    assert naive.bound > 1.0 > 0.252
    assert snapped.sure_bound < 0.1


def test_the_lean_count_is_the_audit() -> None:
    """The row for tens of millions of runs has the bound of the ordinary one: same stream, same event, same counts."""
    for name in ("randomised response", "laplace, epsilon 1"):
        ordinary, lean = (measure(ENTRIES[name], runs=6_000, seed=3) for measure in (measure_entry, measure_published))
        assert lean.bound == ordinary.bound
        assert lean.sure_bound == pytest.approx(ordinary.sure_bound, abs=1e-12)


def test_the_suite_has_fifteen_finite_truths_and_published_bounds() -> None:
    """Every name in the catalogue, with its exact epsilon; four worst pairs are ours, and were not published."""
    assert len(set(SUITE)) == 15
    unpublished = {"report noisy max 1", "sparse vector 1", "sparse vector 2", "sparse vector 4"}
    for name in SUITE:
        assert (ENTRIES[name].published is None) == (name in unpublished)
        assert math.isfinite(present(ENTRIES[name].exact()))


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("sparse vector 3", lambda v: np.where(v[:, 0] < 0, 0, 1 + 2 * v[:, 0] + (v[:, 1] > 0))),
        ("numerical sparse vector", lambda v: np.where(v[:, 0] < 0, 0, 1 + 2 * v[:, 0] + (v[:, 1] > 0))),
    ],
)
def test_places_and_numbers_come_as_often_as_their_law_says(name: str, cells: Callable[..., Any]) -> None:
    """Chi-square of place and sign of the number, 200,000 runs on either neighbour, at 1e-7 each."""
    entry, runs = ENTRIES[name], 200_000
    law = present(entry.law)()
    for place, (data, masses) in enumerate(zip(entry.neighbours, (law.first, law.second), strict=True)):
        seen = np.bincount(cells(entry.run(data, np.random.default_rng(place), runs)).astype(int), minlength=21)
        rows = masses[:-1].reshape(10, -1)
        zero = rows.shape[1] // 2 if name == "sparse vector 3" else 1
        split = np.stack([rows[:, :zero].sum(axis=1), rows[:, zero:].sum(axis=1)], axis=1)
        if name != "sparse vector 3":
            split = split[::-1]
        expected = np.concatenate([[masses[-1]], split.ravel()]) * runs
        groups = [np.append(x[expected >= 10], x[expected < 10].sum() + 1e-9) for x in (seen, expected)]
        assert stats.chisquare(groups[0], groups[1] * groups[0].sum() / groups[1].sum()).pvalue > 1e-7


def test_a_learned_attack_accuses_no_correct_mechanism_with_columns_in_company() -> None:
    """Twenty audits of a private pair behind a place at significance .05: at most six bounds above the truth (1e-6)."""
    entry = Entry(name="signed", claim=pure(2.0), run=signed, neighbours=(0.0, 1.0), correct=True, truth=2.0)
    above = sum(measure_entry(entry, runs=4_000, seed=seed).bound > 2.0 for seed in range(20))
    assert above <= stats.binom.isf(1e-6, 20, 0.05)


def test_survivors_are_mutants_that_even_the_best_event_hardly_catches() -> None:
    """Each is in the list of mutants; Laplace answers that move together leave at most 5 % above the claim."""
    named = {mutant.name: mutant for mutant in mutants()}
    assert set(SURVIVORS) <= set(named)
    assert len(SURVIVORS) <= 0.05 * len(named)
    for name in SURVIVORS:
        if "noise times .9" in name:
            epsilon, answers = named[name].program.epsilon, len(named[name].program.weights)
            best, _ = repeated(laplace_law(1.0, 0.9 * answers / epsilon), answers, 1e-4).best_bound(200_000, 0.0, 1e-7)
            assert epsilon < best < 1.05 * epsilon
            assert f"{best:.3f}".lstrip("0") in SURVIVORS[name]


def test_a_learner_of_the_users_own_sees_outputs_as_the_function_returned_them() -> None:
    """Whole numbers keep their type, so that arithmetic on them does not overflow."""
    seen = []

    def learner(view: Array, labels: Array, rng: np.random.Generator) -> Callable[..., Any]:
        seen.append(view.dtype)
        return lambda outputs: outputs.astype(float)

    claim = Claim(epsilon=1.0, neighbours="replace_one")
    audit(
        lambda data, rng, n_runs: rng.integers(0, 3, n_runs) + data,
        neighbours=(0, 1),
        claim=claim,
        runs=200,
        rng=np.random.default_rng(0),
        how=Settings(learner=learner),
    )
    assert seen == [np.dtype(np.int64)]
