"""Samples of any part, secret steps and persons with several records: known numbers, limits and broken twins."""

import math
from functools import reduce
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.accounting.accountant import bracket_delta, bracket_epsilon
from dpaudit.accounting.fold import above, fold
from dpaudit.engines import ENGINES, TILTED
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model import losses
from dpaudit.model.bracket import Bracket
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Scheme
from mechanisms import Gaussian, Laplace

CLOSE = 5e-5
"""Relative: how far a bracket's ends may lie from a number; grids aim at 2e-5 on either side."""


def normal(mu: float, neighbours: Neighbours = "add_remove") -> dp.Release:
    """A Gaussian release."""
    return dp.Release(label="sum", mechanism=Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours=neighbours))


def double(shift: float, neighbours: Neighbours = "add_remove") -> dp.Release:
    """A Laplace release."""
    return dp.Release(label="count", mechanism=Laplace(scale=1 / shift, l1_sensitivity=1.0, neighbours=neighbours))


def epsilon_of(loss: losses.SimpleLoss, times: int, delta: float) -> tuple[Bracket, Bracket]:
    """The smallest epsilon of `times` copies, in the order of the loss and in the other one."""
    composition = losses.Composition.of(loss) * times
    return _one_order(composition, delta), _one_order(composition.reversed(), delta)


def _one_order(composition: losses.Composition, delta: float) -> Bracket:
    """What the engines say of one order."""
    answers = [engine.epsilon(composition, delta) for engine in ENGINES if engine.covers(composition)]
    return reduce(Bracket.intersect, answers)


def holds(bracket: Bracket, value: float, digit: float) -> bool:
    """Whether both ends lie within two units of the number's last digit, or as near as a grid aims at."""
    room = max(2 * digit, CLOSE * value)
    return value - room <= bracket.lower <= bracket.upper <= value + room


def test_several_releases_in_one_sample_are_composed_first() -> None:
    """Three Gaussian releases of mu .5 and a Laplace one of .3, sampled at .05."""
    inside = ((losses.GaussianLoss(mu=0.5 * math.sqrt(3)), 1), (losses.LaplaceLoss(shift=0.3), 1))
    loss = losses.SampledLoss(inside=inside, rate=0.05)
    assert holds(epsilon_of(loss, 1, 1e-6)[0], 1.118622, 1e-6)
    removed, added = epsilon_of(loss, 200, 1e-6)
    assert holds(removed, 4.55699, 1e-5)
    assert holds(added, 2.93648, 1e-5)


def test_a_person_of_several_records_meets_a_binomial_mixture() -> None:
    """k 4, q .01, mu 1, 100 steps."""
    tree = dp.Group(part=dp.Repeat(part=dp.Subsample(part=normal(1.0), rate=0.01), times=100), size=4)
    ((loss, times),) = above(tree, "add_remove")[0].parts
    assert isinstance(loss, losses.MixtureLoss)
    assert times == 100
    removed, added = epsilon_of(loss, 100, 1e-5)
    assert holds(removed, 3.21039, 1e-5)
    assert holds(added, 1.47914, 1e-5)


@pytest.mark.parametrize("delta", [1e-5, 1e-8])
@pytest.mark.parametrize(("mu", "steps", "epochs"), [(0.25, 10, 4), (1.0, 1000, 1)])
def test_secret_steps_are_narrow_at_small_deltas(mu: float, steps: int, epochs: int, delta: float) -> None:
    """A thousandth between both sides, for several epochs and for a thousand steps."""
    found = bracket_epsilon(fold(dp.Allocate(part=normal(mu), steps=steps, epochs=epochs), "add_remove"), delta)
    assert 0 < found.upper - found.lower < 1e-3 * found.upper


@pytest.mark.parametrize("order", ["remove", "add"])
def test_secret_steps_of_much_noise_are_narrow_in_both_orders(order: losses.SampledOrder) -> None:
    """What atoms lack of a whole law is summed with one rounding; n of them put mass where a tilt sees nothing else."""
    loss = losses.AllocatedLoss(inside=((losses.GaussianLoss(mu=0.0176126), 1),), steps=3, order=order)
    found = TILTED.delta(losses.Composition.of(loss) * 2, 0.005294)
    assert 0 < found.upper - found.lower < 1e-4 * found.upper


def test_one_step_and_a_sure_sample_are_the_part_itself() -> None:
    """Limits: t = 1, q = 1, a bound that never cuts, one record."""
    base = above(normal(1.0), "add_remove")
    assert above(dp.Allocate(part=normal(1.0), steps=1), "add_remove") == base
    assert above(dp.Subsample(part=normal(1.0), rate=1), "add_remove") == base
    assert above(dp.Subsample(part=normal(1.0), rate=1), "replace_one") == (
        losses.Composition.of(losses.GaussianLoss(mu=2.0)),
    )
    uncut = dp.Subsample(part=double(1.0), rate=0.1, scheme="truncated_poisson", population=50, batch_bound=50)
    plain = dp.Subsample(part=double(1.0), rate=0.1)
    one, other = (above(node, "add_remove") for node in (uncut, plain))
    assert one[0].parts[0][0].hockey_stick(0.05) == other[0].parts[0][0].hockey_stick(0.05)
    assert above(dp.Group(part=plain, size=1), "add_remove") == above(plain, "add_remove")


TOLD = dp.Stated(epsilon=1.0, source="a supplier")
REFUSED: dict[str, tuple[dp.Declaration, Neighbours, str]] = {
    "cut samples, replaced": (
        dp.Subsample(part=TOLD, rate=0.1, scheme="truncated_poisson", population=20, batch_bound=5),
        "replace_one",
        "is proved for",
    ),
    "draws, removed": (
        dp.Subsample(part=TOLD, rate=0.1, scheme="with_replacement", population=20, batch_size=2),
        "add_remove",
        "is proved for",
    ),
    "a part for other neighbours at rate 0": (
        dp.Subsample(part=normal(1.0, "replace_one"), rate=0.0),
        "add_remove",
        "states its sensitivity",
    ),
    "a group over secret steps": (
        dp.Group(part=dp.Allocate(part=normal(1.0), steps=10), size=2),
        "add_remove",
        "'group' over 'allocate' under remove: no rule",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_proved_is_refused_by_name(case: str) -> None:
    """One line, which names the rule."""
    tree, neighbours, said = REFUSED[case]
    with pytest.raises((DeclarationError, UnsupportedError), match=said) as caught:
        fold(tree, neighbours)
    assert "\n" not in str(caught.value)


def test_a_scheme_needs_its_sizes() -> None:
    """A missing, a foreign and a contradicting size are refused."""
    wrong: tuple[tuple[Scheme, dict[str, Any]], ...] = (
        ("truncated_poisson", {"population": 10}),
        ("poisson", {"population": 10}),
        ("with_replacement", {"population": 10, "batch_size": 3}),
    )
    for scheme, sizes in wrong:
        with pytest.raises(ValueError, match="Expected"):
            dp.Subsample(part=normal(1.0), rate=0.1, scheme=scheme, **sizes)


@pytest.mark.parametrize("delta", [1e-16, 3e-17, 1e-25])
def test_a_failure_that_one_minus_a_product_would_lose_counts(delta: float) -> None:
    """Two samples fail with probability 1 - (1 - delta / 2)^2; forty Gaussian releases lose less at 20."""
    noise = Gaussian(stddev=8.0, l2_sensitivity=1.0, neighbours="add_remove")
    beside = dp.Repeat(part=dp.Release(label="sums", mechanism=noise), times=40)
    part = dp.Sequential(parts=(dp.Stated(epsilon=0.1, delta=delta, source="a supplier"), beside))
    tree = dp.Repeat(part=dp.Subsample(part=part, rate=0.5), times=2)
    found = bracket_delta(fold(tree, "add_remove"), 20.0)
    assert found.lower <= delta * (1 - delta / 4) <= found.upper <= delta * (1 + 1e-9)
