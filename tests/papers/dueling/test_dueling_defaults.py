"""Defaults of DP-EBS: the reading of a removal, the width, and the planned schedule of batches."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from algorithms.dp_ebs import DpEbs
from algorithms.dp_ebs.widths.batches import batches_for, batches_of, planned_batches, predicted_regret
from algorithms.problems import load
from dpaudit import Streams, certify

EPSILONS = (0.003, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.11, 0.125, 0.2, 0.3, 1.0, 4.0)


@pytest.mark.parametrize(
    ("settings", "reading"),
    [
        ({"calibration": "tight"}, ("R3", "both")),
        ({}, ("R2", "left")),
        ({"calibration": "tight", "removal": "R2"}, ("R2", "left")),
        ({"calibration": "tight", "credit": "left"}, ("R2", "left")),
        ({"calibration": "tight", "model": "local"}, ("R2", "left")),
        ({"calibration": "tight", "variant": "batched"}, ("R2", "left")),
    ],
)
def test_tight_trees_are_read_as_crediting_both_options(settings: dict[str, str], reading: tuple[str, str]) -> None:
    """Only where nothing is said of removals; the printed calibration keeps its reading, and each meets its claim."""
    config = DpEbs(epsilon=1, horizon=1000, arms=5, **settings)  # type: ignore[arg-type] # each key has its own type
    assert (config.removal, config.credit) == reading
    certificate = certify(config.declaration(), config.claim())
    assert certificate.tight.epsilon.upper <= 1 + 1e-9
    spelt = replace(config, removal=reading[0], credit=reading[1])
    assert config == spelt


def test_the_default_width_can_remove_options_and_the_printed_one_says_that_it_cannot() -> None:
    """At 10^5 rounds and epsilon 4 the default finds the best option; the printed width removes nobody, with a note."""
    problem = load("bradley_terry")()
    config = DpEbs(epsilon=4, horizon=100_000, arms=5, calibration="tight")
    assert "vacuous" not in " ".join(config.notes(problem))
    transcript = config.run(problem, Streams.spawn(np.random.default_rng(0)), 4)
    assert (transcript.arrays["recommended"] == problem.best).all()
    assert "vacuous" in " ".join(replace(config, width="paper").notes(problem))


@pytest.mark.parametrize(("horizon", "arms"), [(10**5, 5), (10**6, 5), (10**6, 20), (10**7, 3)])
def test_the_predicted_regret_of_planned_batches_does_not_grow_with_epsilon(horizon: int, arms: int) -> None:
    """Over thirteen epsilons, and within .02 of the claim's own schedule; batches of epsilon / 16 are not."""
    planned = [
        predicted_regret(planned_batches(epsilon=e, horizon=horizon, arms=arms), horizon=horizon, arms=arms)
        for e in EPSILONS
    ]
    own = [
        predicted_regret(batches_of(epsilon=e, horizon=horizon, arms=arms), horizon=horizon, arms=arms)
        for e in EPSILONS
    ]
    assert all(later <= earlier for earlier, later in pairwise(planned))
    assert all(plan <= claim + 0.02 for plan, claim in zip(planned, own, strict=True))
    longer = batches_of(epsilon=0.1 / 16, horizon=horizon, arms=arms)
    assert predicted_regret(longer, horizon=horizon, arms=arms) > own[EPSILONS.index(0.1)] + 0.02


def test_planned_batches_have_the_claims_noise_and_repair_the_dip_at_a_tenth() -> None:
    """T = 1e5, epsilon .1: regret a round .28 for .68, 20 runs each, five standard errors apart, at one certificate."""
    problem = load("bradley_terry")()
    own = DpEbs(epsilon=0.1, horizon=100_000, arms=5, variant="batched")
    planned = replace(own, schedule="planned")
    assert batches_for(planned) != batches_for(own)
    for config in (own, planned):
        assert certify(config.declaration(), config.claim()).tight.epsilon.upper == pytest.approx(0.1, rel=1e-6)
    lost = [
        config.run(problem, Streams.spawn(np.random.default_rng(1)), 20).arrays["utility_regret"] / 1e5
        for config in (own, planned)
    ]
    error = np.sqrt(sum(values.var(ddof=1) / 20 for values in lost))
    assert lost[0].mean() - lost[1].mean() > 5 * error
