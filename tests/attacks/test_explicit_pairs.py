"""Audits of strategy matrices at their explicit pairs: exact ratios and laws; and what is no plain release."""

import math

import numpy as np
import pytest

from audits.attacks.likelihood import declared_case
from dpaudit import Allocate, Release, Shuffle, Subsample
from mechanisms import Gaussian, RandomisedResponse
from mechanisms.matrix import EXAMPLES as MATRICES
from mechanisms.matrix import Matrix


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
    answer = Release(label="answer", mechanism=RandomisedResponse(epsilon=1.0, categories=3))
    for node in (Subsample(part=noise, rate=0.1), Allocate(part=noise, steps=3), Shuffle(part=answer, users=3)):
        with pytest.raises(ValueError, match=type(node).__name__):
            declared_case(node, {"sum": (0.0, 1.0), "answer": (0, 1)})
