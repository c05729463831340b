"""Audits of shuffled reports and of strategy matrices at their explicit pairs: exact ratios, exact laws, and power."""

import math

import numpy as np
import pytest
from scipy.stats import multinomial

from audits import Settings, audit
from audits.attacks.likelihood import declared_case
from audits.attacks.shuffled import shuffled_case
from dpaudit import Allocate, Claim, Release, Shuffle, Subsample, bracket_delta, bracket_epsilon, fold
from mechanisms import Gaussian, Laplace, RandomisedResponse
from mechanisms.matrix import EXAMPLES as MATRICES
from mechanisms.matrix import Matrix


def shuffle(users: int, categories: int = 3, epsilon: float = 1.0) -> Shuffle:
    """Return k-ary response in a secret order."""
    mechanism = RandomisedResponse(epsilon=epsilon, categories=categories)
    return Shuffle(part=Release(label="answer", mechanism=mechanism), users=users)


@pytest.mark.parametrize(("categories", "others"), [(2, 1), (3, 2), (4, 0)])
def test_the_ratio_of_shuffled_counts_is_that_of_their_multinomial_laws(categories: int, others: int) -> None:
    """scipy's multinomial of the others, summed over the user's own report; every count vector of six users."""
    case = shuffled_case(shuffle(6, categories), answers=(0, 1), others=others)
    p = math.e / (math.e + categories - 1)

    def law(answer: int) -> np.ndarray:
        return np.where(np.arange(categories) == answer, p, p / math.e)

    grid = np.stack(np.meshgrid(*[np.arange(7)] * categories), axis=-1).reshape(-1, categories)
    counts = grid[grid.sum(axis=1) == 6]
    own = np.eye(categories, dtype=int)
    rest = multinomial(5, law(others) / law(others).sum())

    def mass(answer: int) -> np.ndarray:
        less = counts[:, None, :] - own
        return np.asarray(
            (np.where((less >= 0).all(axis=2), rest.pmf(np.maximum(less, 0)), 0.0) * law(answer)).sum(axis=1)
        )

    assert mass(0).sum() == pytest.approx(1)
    assert case.score is not None
    np.testing.assert_allclose(case.score(counts), np.log(mass(1) / mass(0)), atol=1e-12)


def test_simulated_shuffled_reports_have_the_delta_that_is_proved_from_below() -> None:
    """200,000 runs of 30 users lie within 6.5 deviations (1e-10) of the lower side; other numbers of users do not."""
    lower = bracket_delta(fold(shuffle(30), "replace_one"), 0.2).lower

    def deviations(users: int) -> float:
        """Return how far the estimate of so many users lies above the lower side of thirty."""
        case = shuffled_case(shuffle(users), answers=(0, 1), others=2)
        assert case.score is not None
        loss = case.score(case.run(1, np.random.default_rng(users), 200_000))
        part = np.maximum(0.0, -np.expm1(0.2 - loss))
        return (float(part.mean()) - lower) / (float(part.std()) / math.sqrt(len(part)))

    assert abs(deviations(30)) < 6.5
    assert deviations(24) > 10
    assert deviations(38) < -10


def test_an_audit_of_shuffled_reports_is_powerful_and_never_above_its_certificate() -> None:
    """Two hundred binary reports of epsilon 3, 20,000 runs: a tenth of the lower side; ten reports are a violation."""
    node = shuffle(200, 2, 3.0)
    proved = bracket_epsilon(fold(node, "replace_one"), 1e-3)
    claim = Claim(epsilon=proved.upper, delta=1e-3, neighbours="replace_one")
    case = shuffled_case(node, answers=(0, 1), others=1)
    sound = audit(case, claim=claim, runs=20_000, rng=np.random.default_rng(1), how=Settings(control_runs=0))
    assert proved.lower / 10 < sound.epsilon_lower <= proved.lower
    assert sound.verdict != "violation"
    alone = shuffled_case(shuffle(10, 2, 3.0), answers=(0, 1), others=1)
    assert (
        audit(alone, claim=claim, runs=20_000, rng=np.random.default_rng(1), how=Settings(control_runs=0)).verdict
        == "violation"
    )


@pytest.mark.parametrize("matrix", MATRICES, ids=lambda matrix: matrix.strategy)
def test_a_strategy_matrix_is_attacked_at_its_worst_schedule(matrix: Matrix) -> None:
    """The ratio is Gaussian with the mean of the attained loss, within 6.5 deviations (1e-10); thinner noise is not."""
    first, second = matrix.worst_pair()
    case = declared_case(Release(label="rows", mechanism=matrix), {"rows": (first, second)})
    square = float(np.sum((matrix.rows(first) - matrix.rows(second)) ** 2)) / matrix.leaf.stddev**2  # type: ignore[attr-defined]
    assert square == pytest.approx(matrix.squared_move.lower * (matrix.leaf.loss().mu) ** 2, rel=1e-9)
    assert case.score is not None

    def deviations(factor: float) -> float:
        """Return by how much the mean ratio on the second stream is off, with a factor of the noise in the score."""
        score = declared_case(Release(label="rows", mechanism=matrix.scaled(factor)), {"rows": (first, second)}).score
        assert score is not None
        ratio = score(case.run(case.neighbours[1], np.random.default_rng(0), 50_000))
        return abs(float(ratio.mean()) - square / 2) / math.sqrt(square / 50_000)

    assert deviations(1.0) < 6.5
    assert deviations(0.9) > 6.5


def test_nodes_that_hide_a_record_are_no_plain_releases() -> None:
    """Their releases alone would show more than is declared: honest code would be accused."""
    noise = Release(label="sum", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove"))
    for node in (Subsample(part=noise, rate=0.1), Allocate(part=noise, steps=3), shuffle(3)):
        with pytest.raises(ValueError, match=type(node).__name__):
            declared_case(node, {"sum": (0.0, 1.0), "answer": (0, 1)})


def test_reports_without_outcomes_are_refused() -> None:
    """Numbers with Laplace noise have no counts, and too few outcomes do not hold every report."""
    noise = Release(label="sum", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one"))
    with pytest.raises(ValueError, match="outcomes"):
        shuffled_case(Shuffle(part=noise, users=3), answers=(0, 1), others=0)
    with pytest.raises(ValueError, match="every report"):
        shuffled_case(shuffle(3, 4), answers=(0, 1), others=0, outcomes=3)
