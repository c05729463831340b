"""Outputs that draws of noise decide one by one: exact probabilities, and a sparse vector without a noisy threshold."""

import math
from typing import Any

import numpy as np
import pytest

from audits import audit
from audits.outputs.calls import as_run
from audits.procedures.replayed import replayed
from audits.replay.decisions import decided_loss
from audits.replay.one_call import Player
from dpaudit import Claim

CLAIM = Claim(epsilon=1.0, neighbours="add_remove")
FOUR, THREE = [[1, 1, 1]] * 4, [[1, 1, 1]] * 3


def above(rows: list[list[int]], rng: np.random.Generator, noisy: bool) -> list[bool]:
    """Return which counts exceed 3, up to the first one: with noise on the threshold too, or without."""
    threshold = 3.0 + (rng.laplace(0, 2.0) if noisy else 0.0)
    answers: list[bool] = []
    for column in range(3):
        answers.append(sum(row[column] for row in rows) + rng.laplace(0, 4.0 if noisy else 2.0) > threshold)
        if answers[-1]:
            break
    return answers


def loss_of(function: Any, pair: Any = (FOUR, THREE)) -> Any:
    return decided_loss(Player(run=as_run(function)[0]), pair, CLAIM)


def test_three_decisions_have_the_product_of_their_probabilities() -> None:
    """Below the threshold each of three counts of four, or of three: Laplace tails of scale 2."""
    loss, (four, three) = loss_of(lambda rows, rng: above(rows, rng, noisy=False))
    assert four.probability == pytest.approx((0.5 * math.exp(-0.5)) ** 3, rel=1e-4)
    assert three.probability == pytest.approx(0.5**3, rel=1e-4)
    assert loss.epsilon == pytest.approx(1.5, rel=1e-4)


@pytest.mark.parametrize(
    ("law", "below"),
    [
        ("laplace", 1 - 0.5 * math.exp(-1.0)),
        ("normal", 0.5 * (1 + math.erf(1 / math.sqrt(2)))),
        ("gumbel", math.exp(-math.exp(-1.0))),
        ("logistic", 1 / (1 + math.exp(-1.0))),
    ],
)
def test_a_decision_has_the_distribution_function_of_its_noise(law: str, below: float) -> None:
    """One scale below the threshold, with each law of location and scale."""
    _, (first, _) = loss_of(lambda data, rng: len(data) + getattr(rng, law)(0.0, 2.0) > 6, (FOUR, THREE))
    assert 1 - first.probability == pytest.approx(below, rel=1e-4)


def test_a_number_with_noise_is_no_decision() -> None:
    """Each draw changes it."""
    assert loss_of(lambda rows, rng: len(rows) + rng.laplace()) is None


def test_an_output_that_no_run_shows_is_no_finding() -> None:
    """Eight right noises: the ranges of so rare an output multiply to a loss above the claim, and are not its law."""

    def eight(rows: list[list[int]], rng: np.random.Generator) -> list[bool]:
        threshold = 3.0 + rng.laplace(0, 2.0)
        answers: list[bool] = []
        for _ in range(7):
            answers.append(len(rows) + rng.laplace(0, 4.0) > threshold)
            if answers[-1]:
                break
        return answers

    loss, _ = loss_of(eight, ([[1]] * 10, [[1]] * 9))
    assert loss.epsilon > CLAIM.epsilon
    assert loss.margin > 0
    looked = replayed(eight, ([[1]] * 10, [[1]] * 9), None, CLAIM, runs=500, rng=np.random.default_rng(1))
    assert looked.causes == ()
    assert looked.sound


@pytest.mark.parametrize("noisy", [False, True])
def test_a_sparse_vector_without_noise_on_its_threshold_is_found(noisy: bool) -> None:
    """In 500 runs, by its law. Twin: with the noise of its proof no product explains the output."""
    result = audit(
        lambda rows, rng: above(rows, rng, noisy=noisy),
        neighbours=(FOUR, THREE),
        claim=CLAIM,
        runs=500,
        rng=np.random.default_rng(1),
        control_runs=0,
    )
    assert (result.verdict == "violation") is not noisy
    assert any("3 draws of noise decide this output" in remark for remark in result.remarks) is not noisy
