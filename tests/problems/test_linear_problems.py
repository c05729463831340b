"""Linear problems hold what their docstrings say, and refuse what is no bandit."""

import math
from typing import Any

import numpy as np
import pytest

from algorithms.problems import load
from algorithms.problems.linear_bandit import LinearBandit
from dpaudit.model.mechanism import Array

GOOD: dict[str, Any] = {
    "name": "two",
    "description": "two cells",
    "features": np.array([[[0.6, 0.8], [1.0, 0.0]]]),
    "context_probabilities": np.array([1.0]),
    "mean_reward": np.array([[0.5, -0.5]]),
}


@pytest.mark.parametrize("name", ["hard_family", "ill_conditioned", "rare_direction", "random_atoms"])
def test_synthetic_families_are_linear(name: str) -> None:
    """Means are those of the parameter, to rounding."""
    problem = load(name)()
    assert problem.misfit < 1e-12
    assert problem.features @ problem.parameter == pytest.approx(problem.mean_reward)


def test_families_have_their_papers_numbers() -> None:
    """The fading direction, the rare share, and the gap, at a million users."""
    assert load("ill_conditioned")(users=1e8).features[0, 0] == pytest.approx([0.7, 0.007])
    assert load("rare_direction")(users=1e6).context_probabilities[1] == pytest.approx(0.103e-3)
    assert load("hard_family")(users=1e8).gaps.max() == pytest.approx(2 * 0.7 * 0.7 * 1e-2)
    norms = np.linalg.norm(load("random_atoms")(atoms=200).features, axis=2)
    assert 0.1 <= norms.min() <= norms.max() <= 1


@pytest.mark.parametrize("dimension", [2, 3, 4])
def test_the_insurance_features_fit_better_the_more_there_are(dimension: int) -> None:
    """Means of the data, fixed features, and a misfit that says how far from linear they are."""
    problem = load("linear_rand_hie")(dimension=dimension)
    assert problem.mean_reward == pytest.approx(load("rand_hie")().mean_reward)
    assert problem.dimension == dimension
    assert 0.15 < problem.misfit < 0.35
    assert math.isclose(problem.context_probabilities.sum(), 1.0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"features": np.array([[0.6, 0.8]])}, "shape"),
        ({"features": np.array([[[3.0, 0.0], [1.0, 0.0]]])}, "at most 1"),
        ({"mean_reward": np.array([[2.0, 0.0]])}, "at most reward_bound=1"),
        ({"mean_reward": np.array([0.5, 0.5])}, "mean_reward of shape"),
        ({"mean_reward": np.array([[np.nan, 0.5]])}, "finite"),
        ({"context_probabilities": np.array([0.9])}, "a law"),
    ],
)
def test_what_is_no_bandit_is_refused(changed: dict[str, Array], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinearBandit(**(GOOD | changed))


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("ill_conditioned", {"users": 0.5}, "users=0.5"),
        ("rare_direction", {"users": 1.0, "share": 0.9}, "share=0.9"),
        ("linear_rand_hie", {"dimension": 7}, "dimension=7"),
        ("random_atoms", {"atoms": 0}, "atoms=0"),
    ],
)
def test_a_parameter_out_of_range_is_named(name: str, parameters: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(name)(**parameters)
