"""Audits of strategy matrices at their explicit pairs: exact ratios and laws."""

import math

import numpy as np
import pytest

from mechanisms.matrix import EXAMPLES as MATRICES
from mechanisms.matrix import Matrix
from tests.cases import released_case


@pytest.mark.parametrize("matrix", MATRICES, ids=lambda matrix: matrix.strategy)
def test_a_strategy_matrix_is_attacked_at_its_worst_schedule(matrix: Matrix) -> None:
    """The ratio is Gaussian with the mean of the attained loss, within 6.5 deviations (1e-10); thinner noise is not."""
    first, second = matrix.worst_pair()
    case = released_case(matrix, first, second)
    square = float(np.sum((matrix.rows(first) - matrix.rows(second)) ** 2)) / matrix.leaf.stddev**2  # type: ignore[attr-defined]
    assert square == pytest.approx(matrix.squared_move.lower * (matrix.leaf.loss().mu) ** 2, rel=1e-9)
    assert case.score is not None

    def deviations(factor: float) -> float:
        """Return by how much the mean ratio on the second stream is off, with a factor of the noise in the score."""
        score = released_case(matrix.scaled(factor), first, second).score
        assert score is not None
        ratio = score(case.run(case.neighbours[1], np.random.default_rng(0), 50_000))
        return abs(float(ratio.mean()) - square / 2) / math.sqrt(square / 50_000)

    assert deviations(1.0) < 6.5
    assert deviations(0.9) > 6.5
