"""An adaptive choice between releases: above every way of choosing, below all of them together."""

import json
from functools import cache

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accounting.additive_costs import cost_of, zcdp
from dpaudit.accounting.derivation.groups import chain
from dpaudit.engines import TILTED
from dpaudit.engines.pairs.derived import pair_above
from dpaudit.engines.pairs.finite_pair import FinitePair
from dpaudit.errors import UnsupportedError
from dpaudit.model import losses
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration
from dpaudit.verifier import verify
from dpaudit.verifier.pairs import pair
from mechanisms import DiscreteLaplace, Gaussian, Laplace

BOXES = (losses.ApproximateLoss(epsilon=0.5), losses.ApproximateLoss(epsilon=0.25, delta=0.02))
CHOICES = (
    losses.ChoiceLoss(options=(losses.GaussianLoss(mu=0.3), losses.LaplaceLoss(shift=0.4))),
    losses.ChoiceLoss(options=BOXES),
    losses.ChoiceLoss(
        options=(losses.SampledGaussianLoss(mu=1.0, rate=0.1), losses.SampledGaussianLoss(mu=0.5, rate=0.3))
    ),
    losses.ChoiceLoss(
        options=(losses.SampledGaussianLoss(mu=1.0, rate=0.1, order="add"), losses.LaplaceLoss(shift=0.08))
    ),
    losses.ChoiceLoss(
        options=(losses.DiscreteLoss(atoms=((0.0, 0.9),), infinite_mass=0.1, reverse_infinite_mass=0.1), BOXES[0])
    ),
    losses.ChoiceLoss(
        options=(
            losses.GaussianLoss(mu=4.0),
            losses.LaplaceLoss(shift=3.0),
            losses.ApproximateLoss(epsilon=5.0, delta=1e-12),
        )
    ),
)


def release(mechanism: dp.Mechanism, label: str = "x") -> dp.Release:
    return dp.Release(label=label, mechanism=mechanism)


def gaussian(stddev: float, neighbours: Neighbours = "replace_one") -> dp.Release:
    return release(Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours=neighbours))


def laplace(scale: float) -> dp.Release:
    return release(Laplace(scale=scale, l1_sensitivity=1.0, neighbours="replace_one"))


def either(*parts: Declaration) -> dp.Parallel:
    return dp.Parallel(parts=parts, key="the arm shown")


@pytest.mark.parametrize("loss", CHOICES)
def test_the_masses_of_a_choice_lie_above_every_option_and_near_the_largest(loss: losses.ChoiceLoss) -> None:
    """At 160 epsilons of either sign, by sums of positive terms; the excess falls with the width's square."""
    excess = []
    for width in (0.02, 0.005):
        pair = pair_above(loss, width, 1e-60)
        found = []
        for epsilon in np.linspace(-0.6, 0.6, 161).tolist():
            above = pair.losses > epsilon
            curve = pair.infinite + float(pair.masses[above] @ -np.expm1(epsilon - pair.losses[above]))
            true = max(option.hockey_stick(epsilon) for option in loss.options)
            assert curve >= true * (1 - 1e-12)
            found.append(curve - true)
        excess.append(max(found))
    assert excess[0] < 0.02
    assert excess[1] < max(excess[0] / 3, 1e-9)


def chosen_delta(options: tuple[losses.ApproximateLoss, losses.ApproximateLoss], rounds: int, epsilon: float) -> float:
    """Return the largest delta of any adaptive way to choose one of `options` in every round, by recursion.

    With x = e^epsilon q/p of what was seen, the best continuation is worth max over options of
    delta_option + E_P[worth of x e^-L]: nothing is assumed about dominating pairs.
    """

    @cache
    def worth(left: int, x: float) -> float:
        if not left:
            return max(0.0, 1 - x)
        return max(
            option.delta
            + (1 - option.delta)
            * sum(
                share * worth(left - 1, round(x * float(np.exp(-loss)), 12))
                for loss, share in (
                    (option.epsilon, 1 / (1 + float(np.exp(-option.epsilon)))),
                    (-option.epsilon, 1 / (1 + float(np.exp(option.epsilon)))),
                )
            )
            for option in options
        )

    return worth(rounds, float(np.exp(epsilon)))


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.8, 1.5, 2.6])
def test_no_adaptive_way_of_choosing_exceeds_the_bound(epsilon: float) -> None:
    """Five rounds of two black boxes, every strategy tried; the bound is far below that of all ten releases."""
    best = chosen_delta(BOXES, 5, epsilon)
    fixed = max(
        dp.bracket_delta(dp.NormalForm(upper=(held,), lower=(held,)), epsilon).lower
        for k in range(6)
        for held in [losses.Composition.of(BOXES[0]) * k + losses.Composition.of(BOXES[1]) * (5 - k)]
    )
    together = losses.Composition.of(*BOXES) * 5
    (upper,) = dp.fold(dp.Repeat(part=either(*map(stated, BOXES)), times=5), "replace_one").upper
    found = TILTED.delta(upper, epsilon).upper
    assert fixed * (1 - 1e-9) <= best <= found * (1 + 1e-9)
    assert found < 0.9 * TILTED.delta(together, epsilon).lower


def test_choosing_adaptively_can_be_worse_than_any_fixed_choice() -> None:
    """Two rounds at epsilon 0.8: the recursion itself shows why the worst alternative alone would be no bound."""
    best = chosen_delta(BOXES, 2, 0.8)
    fixed = [losses.Composition.of(BOXES[0]) * k + losses.Composition.of(BOXES[1]) * (2 - k) for k in range(3)]
    assert best > 1.02 * max(TILTED.delta(held, 0.8).upper for held in fixed)


def stated(box: losses.ApproximateLoss) -> dp.Stated:
    return dp.Stated(epsilon=box.epsilon, delta=box.delta, source="a supplier")


def test_a_choice_that_is_made_once_costs_its_worst_option() -> None:
    alone = max(dp.bracket_epsilon(dp.fold(part, "replace_one"), 1e-5).upper for part in (gaussian(3.0), laplace(3.0)))
    chosen = dp.bracket_epsilon(
        dp.fold(dp.Repeat(part=either(gaussian(3.0), laplace(3.0)), times=1), "replace_one"), 1e-5
    )
    assert alone <= chosen.upper <= alone * (1 + 1e-9)


def test_a_gaussian_option_is_cut_into_as_many_pieces_as_the_other_has_parts() -> None:
    """Ten Gaussian releases beside forty Laplace ones are forty of half the size; the cut never loses any."""
    tree = dp.Repeat(
        part=either(dp.Repeat(part=gaussian(4.0), times=10), dp.Repeat(part=laplace(8.0), times=40)), times=3
    )
    ((choice, times),) = dp.fold(tree, "replace_one").upper[0].parts
    normal, other = choice.options
    assert (times, other) == (120, losses.LaplaceLoss(shift=0.125))
    assert 10 * 0.25**2 <= 40 * normal.mu**2 <= 10 * 0.25**2 * (1 + 1e-12)


def test_unequal_numbers_of_options_pair_as_far_as_they_go() -> None:
    """Three of one and one of another: one pair, and two that stand alone; a choice is never counted twice."""
    parts = dp.Repeat(part=laplace(8.0), times=3), stated(losses.ApproximateLoss(epsilon=0.2, delta=1e-9))
    (found,) = dp.fold(dp.Repeat(part=either(*parts), times=7), "replace_one").upper
    option = losses.ApproximateLoss(epsilon=0.2, delta=1e-9)
    pair = losses.ChoiceLoss(options=(losses.LaplaceLoss(shift=0.125), option))
    assert found == losses.Composition.of(pair) * 7 + losses.Composition.of(losses.LaplaceLoss(shift=0.125)) * 14


def test_records_of_one_person_that_may_meet_different_options_are_refused() -> None:
    """They change one after another, and how a Gaussian and a Laplace part chain is not known."""
    tree = dp.Group(part=dp.Repeat(part=either(gaussian(4.0), laplace(4.0)), times=2), size=2)
    with pytest.raises(UnsupportedError, match="no largest loss"):
        dp.fold(tree, "replace_one")


def test_two_records_of_one_person_meet_each_option_twice() -> None:
    pair = losses.ChoiceLoss(options=(losses.GaussianLoss(mu=0.25), losses.LaplaceLoss(shift=0.25)))
    (normal, _), (other, _) = chain(losses.Composition.of(pair), 2).parts
    assert (normal, other) == (losses.GaussianLoss(mu=0.5), losses.LaplaceLoss(shift=0.5))


def test_a_budget_over_time_is_charged_the_dearest_option() -> None:
    """rho of a Gaussian release with noise 4 is 1/32, of a Laplace one with scale 8 it is below 1/128."""
    tree = dp.Repeat(part=either(gaussian(4.0), laplace(8.0)), times=3)
    cost = cost_of(tree, dp.Claim(epsilon=1.0, delta=1e-6, neighbours="replace_one"), zcdp)
    assert float(cost.amount) == pytest.approx(3 / 32, rel=1e-12)


TREES: dict[str, Declaration] = {
    "Gaussian or Laplace": dp.Repeat(part=either(gaussian(3.0), laplace(3.0)), times=30),
    "black boxes": dp.Repeat(part=either(*map(stated, BOXES)), times=10),
    "unequal numbers": dp.Repeat(part=either(dp.Repeat(part=laplace(9.0), times=10), laplace(4.0)), times=10),
    "one in three is dominated": dp.Repeat(
        part=either(laplace(9.0), dp.Repeat(part=laplace(4.0), times=3), dp.Repeat(part=gaussian(6.0), times=4)),
        times=9,
    ),
    "a group": dp.Group(part=dp.Repeat(part=either(gaussian(9.0), gaussian(7.0)), times=3), size=2),
    "whole numbers": dp.Repeat(
        part=either(release(DiscreteLaplace(scale=4.0, l1_sensitivity=2, neighbours="replace_one")), gaussian(3.0)),
        times=8,
    ),
    "a choice within a choice": dp.Repeat(
        part=either(
            dp.Repeat(part=either(gaussian(5.0), laplace(6.0)), times=4), dp.Repeat(part=laplace(5.0), times=4)
        ),
        times=3,
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_the_checker_comes_to_the_same_bound(name: str) -> None:
    """It refuses the same certificate with the bound of the worst fixed option, which would be too small."""
    claim = dp.Claim(epsilon=6.0, delta=1e-6, neighbours="replace_one")
    certificate = dp.certify(TREES[name], claim)
    assert verify(certificate.to_json()).complaints == ()
    assert certificate.tight.epsilon.lower < certificate.tight.epsilon.upper


def test_the_checker_refuses_the_bound_of_all_fixed_choices() -> None:
    """Forged: the upper ends replaced by the lower ones, which no adaptive choice is known to respect."""
    data = json.loads(
        dp.certify(TREES["black boxes"], dp.Claim(epsilon=3.0, delta=1e-6, neighbours="replace_one")).to_json()
    )
    fixed = max(
        dp.bracket_delta(dp.NormalForm(upper=(held,), lower=(held,)), 3.0).upper
        for held in (losses.Composition.of(box) * 10 for box in BOXES)
    )
    assert fixed < data["tight"]["delta"]["upper"]
    data["tight"]["delta"]["upper"] = fixed
    verified = verify(json.dumps(data | {"digest": digest_of(data)}))
    assert not verified.accepted
    assert any("upper bound on delta" in text for text in verified.unconfirmed)


def test_both_orders_of_a_choice_are_reversed() -> None:
    """Sampled releases are not symmetric: reversing twice comes back, once does not."""
    for loss in CHOICES[2:4]:
        assert loss.reversed() != loss
        assert loss.reversed().reversed() == loss
    removed, added = (
        TILTED.delta(losses.Composition.of(CHOICES[2]) * 20, 0.4),
        TILTED.delta(losses.Composition.of(CHOICES[2].reversed()) * 20, 0.4),
    )
    assert removed.upper > 1.01 * added.upper


def test_the_checker_moves_no_mass_of_a_choice_beyond_its_cell() -> None:
    """Noise that rounding leaves short of a whole law, and a table beside it: no label is above the table's loss."""
    table = ("discrete", ((-1.1367, 0.2429272), (1.1367, 0.7570728)), 0.0, 0.0)
    held = pair(("choice", frozenset({("gaussian", 0.0868), table})), 2**17)
    assert held.told[held.p > 1e-30].max() < 1.138


@pytest.mark.parametrize(("atoms", "width"), [(5, 0.25), (500, 0.0625), (30_000, 0.1)])
def test_deltas_in_one_pass_are_no_smaller_than_one_by_one_and_the_same_to_eleven_digits(
    atoms: int, width: float
) -> None:
    """Losses lie on places that are asked for, between them and beyond; only what rounding adds is apart."""
    rng = np.random.default_rng(3)
    losses = np.append(rng.normal(0.0, 1.0, atoms - 2), [2 * width, 40 * width])
    masses = rng.dirichlet(np.ones(atoms)) * 0.9
    pair = FinitePair(losses=losses, masses=masses, infinite=1e-6, error=1e-14)
    together = pair.deltas_above(width, 41)
    alone = np.array([pair.delta_above(width * place) for place in range(41)])
    assert np.all(alone <= together)
    assert np.allclose(together, alone, rtol=1e-11, atol=0.0)
