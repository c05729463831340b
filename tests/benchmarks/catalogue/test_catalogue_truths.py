"""The proving ground's truths, against other ways to the same number: formulas, quadrature, simulation, papers."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from benchmarks.catalogue.catalogue import CATALOGUE
from benchmarks.catalogue.law import Law, laplace_law, repeated
from tests.narrowing import present

ENTRIES = {entry.name: entry for entry in CATALOGUE}
LISTED = [e.name for e in CATALOGUE if e.law is not None and e.law().outcomes is not None]


def test_there_are_at_least_sixty_mechanisms_with_names_of_their_own() -> None:
    """Correct and broken ones, each with a truth or a reason why there is none."""
    assert len(ENTRIES) == len(CATALOGUE) >= 60
    assert 30 <= sum(entry.correct for entry in CATALOGUE) <= len(CATALOGUE) - 30
    assert all(entry.exact() is not None or entry.note for entry in CATALOGUE)


def test_correct_mechanisms_keep_their_claim_and_most_broken_ones_break_it_on_their_pair() -> None:
    """A truth above the claim never stands beside `correct`, at most one broken one is broken elsewhere only."""
    known = [(entry, entry.exact()) for entry in CATALOGUE if entry.exact() is not None]
    assert [e.name for e, truth in known if e.correct and present(truth) > e.claim.epsilon * (1 + 1e-9)] == []
    assert [e.name for e, truth in known if not e.correct and present(truth) <= e.claim.epsilon] == []


@pytest.mark.parametrize("name", [e.name for e in CATALOGUE if e.truth is not None and e.law is not None])
def test_formula_and_law_agree(name: str) -> None:
    """Where both are given, cells and closed form have one epsilon; a grid may fall short where it is infinite."""
    entry = ENTRIES[name]
    found = present(entry.law)().epsilon(entry.claim.delta)
    if math.isinf(present(entry.truth)):
        assert found > 3 * entry.claim.epsilon
    else:
        assert found == pytest.approx(entry.truth, rel=1e-3)


@pytest.mark.parametrize("name", LISTED)
def test_listed_outcomes_come_as_often_as_the_law_says(name: str) -> None:
    """Chi-square of 40,000 runs on either neighbour, at 1e-8 each; a cell of .1 that is .01 off gives p < 1e-9."""
    entry, runs = ENTRIES[name], 40_000
    law = present(entry.law)()
    for place, (data, masses) in enumerate(zip(entry.neighbours, (law.first, law.second), strict=True)):
        outputs = np.asarray(entry.run(data, np.random.default_rng(place), runs)).reshape(runs, -1)
        order = {tuple(row): i for i, row in enumerate(present(law.outcomes))}
        seen = np.bincount([order[tuple(row)] for row in outputs], minlength=len(masses))
        large = masses * runs >= 10
        groups = [np.append(x[large], x[~large].sum()) for x in (seen, masses * runs)]
        used = groups[1] > 1e-6
        assert groups[0][~used].sum() == 0
        if used.sum() > 1:
            assert stats.chisquare(groups[0][used], groups[1][used] * runs / groups[1][used].sum()).pvalue > 1e-8


def test_the_chi_square_catches_a_cell_that_is_a_hundredth_off() -> None:
    """The fault that the test above promises to see."""
    wrong, right = np.array([0.11, 0.89]) * 40_000, np.array([0.1, 0.9]) * 40_000
    assert stats.chisquare(right, wrong).pvalue < 1e-8


def test_noisy_maximum_agrees_with_adaptive_quadrature() -> None:
    """The chance that the one rising query of five wins, by scipy's quadrature with Laplace noise of scale 20."""
    law = present(ENTRIES["report noisy max 1"].law)()

    def wins(x: float, answers: tuple[float, ...]) -> float:
        others = np.prod([stats.laplace.cdf(x, a, 20) for a in answers[1:]])
        return float(stats.laplace.pdf(x, answers[0], 20) * others)

    rising: tuple[tuple[Any, tuple[float, ...]], ...] = ((law.first, (1.0,) * 5), (law.second, (2.0, 0, 0, 0, 0)))
    for masses, answers in rising:
        pieces = [(-800, 0), (0, 2), (2, 800)]
        chance = sum(integrate.quad(lambda x, at=answers: wins(x, at), *piece, limit=200)[0] for piece in pieces)
        assert masses[0] == pytest.approx(chance, abs=1e-7)


def test_permute_and_flip_is_the_maximum_with_exponential_noise() -> None:
    """Ding et al. (2021): the law by quadrature is that of exact coins in random order, for answers 2, 0, 0, 0, 0."""
    law = present(ENTRIES["permute and flip"].law)()
    p = math.exp(-1.0)
    last = sum((1 - p) ** k / 5 for k in range(5))
    assert law.second[0] == pytest.approx(last, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        ("report noisy max 2", 0.1),
        ("truncated geometric", math.log(9 / 8)),
        ("one-time rappor", 0.6005),
        ("noisy histogram 2", 10.0),
        ("laplace in parallel", 0.1),
    ],
)
def test_published_exact_values_are_met(name: str, epsilon: float) -> None:
    """Exact values printed with the standard suite (Bichsel et al. 2021), or by their formula."""
    assert ENTRIES[name].exact() == pytest.approx(epsilon, abs=1e-4)


def test_repetition_adds_losses_and_keeps_both_laws() -> None:
    """Three Laplace releases of 1/2 each have epsilon 3/2 exactly and a mean loss of three times one."""
    one, three = laplace_law(1.0, 2.0), repeated(laplace_law(1.0, 2.0), 3)
    assert three.epsilon() == pytest.approx(1.5, rel=1e-9)
    means = [float((law.second * law.ratios()).sum()) for law in (one, three)]
    assert means[1] == pytest.approx(3 * means[0], rel=1e-3)


def test_the_best_bound_stays_below_the_truth_and_comes_closer() -> None:
    """Laplace, epsilon 1: the oracle game's .987 at 200,000 runs (auditing literature), never above 1."""
    law = laplace_law(1.0, 1.0)
    bounds = [law.best_bound(runs, 0.0, 0.05)[0] for runs in (2_000, 20_000, 200_000)]
    assert bounds == sorted(bounds)
    assert bounds[-1] == pytest.approx(0.987, abs=0.004)


def test_a_law_that_leaves_something_out_is_refused() -> None:
    """Cells must cover everything, else an epsilon read from them would be too small."""
    with pytest.raises(ValueError, match="sum to 1"):
        Law(first=np.array([0.5, 0.4]), second=np.array([0.5, 0.5]))
