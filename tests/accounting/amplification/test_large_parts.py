"""Parts that hide next to nothing, inside samples and at secret steps: an answer on the safe side, and no crash."""

import math
from dataclasses import replace

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.fold import fold
from dpaudit.engines import BY_EFFORT
from dpaudit.engines.pairs.allocation import _tilts
from dpaudit.engines.pairs.looks import derived_delta
from dpaudit.engines.pairs.moderate import moderate_above, moderate_below
from dpaudit.model import losses
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration
from dpaudit.verifier import verify
from mechanisms import Finite, Gaussian, Laplace, PermuteAndFlip


def laplace(scale: float, neighbours: Neighbours) -> Declaration:
    """A query that moves by 1."""
    return dp.Release(label="x", mechanism=Laplace(scale=scale, l1_sensitivity=1.0, neighbours=neighbours))


TAIL = 1e-40
PARTS = {"a thousand of loss 1": (1.0, 1000), "one of loss 1000": (1e-3, 1)}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("neighbours", ["add_remove", "zero_out", "replace_one"])
def test_a_sample_of_what_hides_nothing_shows_a_record_with_its_rate(neighbours: Neighbours, part: str) -> None:
    """At epsilon 1 delta is nearly the rate, .01: it was an internal error."""
    scale, times = PARTS[part]
    inside = dp.Repeat(part=laplace(scale, "add_remove" if neighbours == "replace_one" else neighbours), times=times)
    found = dp.certify(dp.Subsample(part=inside, rate=0.01), dp.Claim(epsilon=1.0, delta=1e-6, neighbours=neighbours))
    assert found.tight.delta.lower <= 0.01
    assert found.tight.delta.upper == pytest.approx(0.01, rel=1e-9)
    assert found.verdict in ("refuted", "not_proved")
    if neighbours == "add_remove":
        assert found.verdict == "refuted"
        assert found.tight.delta.lower == pytest.approx(0.01, rel=0.02)
    held = dp.certify(dp.Subsample(part=inside, rate=0.01), dp.Claim(epsilon=0.0, delta=0.0101, neighbours=neighbours))
    assert held.verdict == "certified"


@pytest.mark.parametrize("rate", [0.5, 1 - 1e-6, 1 - 1e-9])
@pytest.mark.parametrize("neighbours", ["add_remove", "zero_out", "replace_one"])
def test_at_a_rate_next_to_one_what_hides_nothing_shows_a_record_with_the_rate(
    neighbours: Neighbours, rate: float
) -> None:
    """The one finite loss is below 0, ln(1 - rate): moving it as a largest loss was an internal error."""
    inside: Neighbours = "add_remove" if neighbours == "replace_one" else neighbours
    told = dp.Release(label="x", mechanism=Finite(first=(1.0, 0.0), second=(0.0, 1.0), neighbours=inside))
    found = dp.certify(dp.Subsample(part=told, rate=rate), dp.Claim(epsilon=1.0, delta=rate, neighbours=neighbours))
    assert found.tight.delta.upper == pytest.approx(rate, rel=1e-12)
    assert found.tight.delta.upper >= rate
    assert found.verdict == "certified"
    assert verify(found.to_json()).accepted


def test_a_loss_below_zero_that_is_moved_as_the_largest_one_is_no_law() -> None:
    """The broken twin: under the second law probabilities sum to 1 + 3.5e-14."""
    alone = losses.DiscreteLoss(atoms=((math.log1p(-0.999999999), 1 - 0.999999999),), infinite_mass=0.999999999)
    assert losses.outer_losses(alone, above=True) == alone
    with pytest.raises(ValueError, match="sum to 1"):
        replace(alone, atoms=((alone.supremum * (1 + 2.0**-49), alone.atoms[0][1]),))


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_a_sample_of_a_loss_beyond_every_grid_is_not_certified(neighbours: Neighbours) -> None:
    sample = dp.Subsample(part=laplace(1e-6, "add_remove"), rate=0.01)
    found = dp.certify(sample, dp.Claim(epsilon=1.0, delta=1e-6, neighbours=neighbours))
    assert found.verdict in ("refuted", "not_proved")
    assert found.tight.delta.lower <= 0.01 <= found.tight.delta.upper * (1 + 1e-9)


def test_a_secret_step_of_what_hides_nothing_is_bounded() -> None:
    """Four steps, one of which shows the record: delta is nearly 1 from both sides."""
    lower, upper = derived_delta(losses.AllocatedLoss(inside=((losses.LaplaceLoss(shift=1000.0), 1),), steps=4), 1.0)
    assert 0.9 < lower <= upper <= 1


def test_secret_steps_of_which_no_loss_is_finite_are_bounded_by_their_sum() -> None:
    """Three epochs of 48,912 selections, of which no atom is left: it was an internal error."""
    chosen = dp.Release(label="x", mechanism=PermuteAndFlip(scale=2.5, linf_sensitivity=1.0, neighbours="add_remove"))
    steps = dp.Allocate(part=dp.Repeat(part=chosen, times=48_912), steps=2, epochs=3, per_epoch=1)
    bracket = bracket_epsilon(fold(steps, "add_remove"), 3e-5, BY_EFFORT["quick"])
    assert 0 <= bracket.lower <= bracket.upper
    assert bracket.upper == pytest.approx(3 * 48_912 * 2 / 2.5)


def test_what_stands_for_a_large_part_is_on_the_safe_side() -> None:
    """From above everything is shown; from below fewer copies, or more noise. Small parts stay as they are."""

    def other(_: object) -> float:
        return 0.0

    small = ((losses.LaplaceLoss(shift=1.0), 100),)
    assert moderate_above(small, TAIL, other) == moderate_below(small, TAIL, other) == small
    large = ((losses.LaplaceLoss(shift=1.0), 1000), (losses.GaussianLoss(mu=0.1), 2))
    assert moderate_above(large, TAIL, other) == ((losses.LOST, 1),)
    assert moderate_below(large, TAIL, other) == ((losses.LaplaceLoss(shift=1.0), 60),)
    for loss in (
        losses.LaplaceLoss(shift=1e6),
        losses.ApproximateLoss(epsilon=1e6, delta=0.1),
        losses.GaussianLoss(mu=1e3),
    ):
        ((below, times),) = moderate_below(((loss, 3),), TAIL, other)
        assert times == 1
        for epsilon in (0.0, 1.0, 50.0):
            assert below.hockey_stick(epsilon) <= loss.hockey_stick(epsilon)


def test_draws_of_little_noise_keep_a_finite_epsilon_from_above() -> None:
    """Ten draws from a hundred records, of which one counts several times: as before large parts were looked at."""
    noise = Gaussian(stddev=0.25, l2_sensitivity=1.0, neighbours="replace_one")
    drawn = dp.Subsample(
        part=dp.Release(label="x", mechanism=noise), rate=0.1, scheme="with_replacement", population=100, batch_size=10
    )
    bracket = dp.bracket_epsilon(dp.fold(drawn, "replace_one"), 1e-5)
    assert 79.5 < bracket.lower < bracket.upper < 86.3


def test_both_sides_of_a_large_part_agree_with_its_limit() -> None:
    """rate (1 - e^(epsilon' - 1000)) with epsilon' far below 1000 is the rate; a bound of .009 would be caught."""
    lower, upper = derived_delta(losses.SampledLoss(inside=((losses.LaplaceLoss(shift=1000.0), 1),), rate=0.01), 1.0)
    assert 0.0099 < lower <= 0.01 <= upper < 0.0101


def test_the_largest_loss_of_shifts_far_apart_has_no_logarithm_of_zero() -> None:
    """Laplace noise replaced in a sample: shifts 1000 apart, whose e^-1000 is no number."""
    far = losses.MixtureLoss(above=((0.0, 0.99), (1000.0, 0.01)), below=((-1000.0, 0.01), (0.0, 0.99)), noise="laplace")
    assert far.supremum == pytest.approx(1000.0, rel=1e-2)
    near = losses.MixtureLoss(above=((0.0, 0.9), (1.0, 0.1)), below=((-1.0, 0.1), (0.0, 0.9)), noise="laplace")
    assert near.supremum >= near.loss_at(60.0)
    assert near.supremum == pytest.approx(near.loss_at(60.0), rel=1e-12)


def test_what_hides_nothing_at_a_secret_step_of_a_sample_shows_a_record_with_its_rate() -> None:
    """Beside a rarer sample of the same: no outcome is shared, and no tilt has a mass to weigh."""
    exact = dp.Release(label="size", mechanism=Finite(first=(1.0, 0.0), second=(0.0, 1.0), neighbours="add_remove"))
    parts = dp.Sequential(parts=(dp.Subsample(part=exact, rate=0.1), dp.Allocate(part=exact, steps=2)))
    bracket = dp.bracket_delta(dp.fold(dp.Subsample(part=parts, rate=0.25), "add_remove"), 0.5)
    assert bracket.lower <= 0.25
    assert bracket.upper == pytest.approx(0.25, rel=1e-6)


def test_a_step_without_mass_has_tilts() -> None:
    """They enter no proof, so that a label that no output has needs any."""
    assert all(map(math.isfinite, _tilts(np.zeros(3), 2, 64, "remove")))
