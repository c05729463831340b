"""Checks against numbers: exact values with their source, densities integrated anew, samples, trees counted by hand."""

import itertools
import math
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.engines import CLOSED, RENYI, TILTED
from dpaudit.engines.basic import total_infinite_mass
from dpaudit.model import losses
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Scheme
from dpaudit.model.losses.sampled_gaussian import SampledOrder
from dpaudit.printed.argument import replay
from dpaudit.rules import RULES, Budget, Step
from mechanisms import (
    Gaussian,
    JointGaussian,
    OneSidedWishart,
    SymmetricGaussian,
    SymmetrisedWishart,
    TreeAggregation,
)
from mechanisms.symmetric_gaussian import Symmetry
from tests.accounting.test_engines_truth import (
    test_hockey_stick_of_a_sampled_gaussian_is_the_integral_of_its_densities as integral_of_a_sampled_gaussian,
)
from tests.mutation.inputs import CLAIM, INPUTS, epochs, gaussian, laplace, release
from tests.narrowing import as_a
from tests.noise import test_contract, test_trees


def known_values() -> None:
    """Epsilons of the literature, most of them to ten digits."""
    answers = {
        "one Gaussian (Balle and Wang 2018, Theorem 8)": (
            CLOSED.epsilon(losses.Composition.of(losses.GaussianLoss(mu=1.0)), 1e-5), 4.3771780957, 1e-9),
        "a hundred Gaussians": (
            CLOSED.epsilon(losses.Composition.of(losses.GaussianLoss(mu=1.0)) * 100, 1e-5), 91.8172896247, 1e-9),
        "a hundred Laplaces of scale 10": (
            TILTED.epsilon(losses.Composition.of(losses.LaplaceLoss(shift=0.1)) * 100, 1e-5), LAPLACE_HUNDRED, 1e-4),
        "optimal composition (Kairouz, Oh and Viswanath 2015)": (
            TILTED.epsilon(losses.Composition.of(losses.ApproximateLoss(epsilon=0.1)) * 1000, 1e-5), 17.787, 1e-4),
        "Renyi of Laplace": (
            RENYI.epsilon(losses.Composition.of(losses.LaplaceLoss(shift=0.1)) * 1000, 1e-5), 18.575, 1e-3),
    }  # fmt: skip
    for name, (bracket, value, tolerance) in answers.items():
        assert bracket.upper >= value * (1 - tolerance / 10), name
        assert bracket.upper <= value * (1 + tolerance), name
        assert bracket.lower <= value * (1 + tolerance), name
    masses = losses.Composition.of(losses.ApproximateLoss(epsilon=0.0, delta=0.01)) * 10
    for bound in total_infinite_mass(masses):
        assert bound == pytest.approx(1 - 0.99**10, rel=1e-12)
    many = losses.Composition.of(losses.ApproximateLoss(epsilon=0.0, delta=1e-6)) * 5000
    for bound in total_infinite_mass(many):
        assert bound == pytest.approx(-math.expm1(5000 * math.log1p(-1e-6)), rel=1e-9)


LAPLACE_HUNDRED = 4.220346
"""Between the pessimistic and the optimistic answer of dp-accounting at a grid of 1e-4."""


def amplification_by_sampling() -> None:
    """ln(1 + q (e^epsilon - 1)) and q delta for black boxes, both mixtures by integration for Gaussians."""
    schemes: tuple[tuple[Scheme, Neighbours], ...] = (("poisson", "add_remove"), ("without_replacement", "replace_one"))
    twice = dp.Repeat(part=dp.Stated(epsilon=1.0, delta=5e-7, source="x"), times=2)
    parts: tuple[Declaration, ...] = (dp.Stated(epsilon=2.0, delta=1e-6, source="x"), twice)
    for (scheme, relation), part in itertools.product(schemes, parts):
        form = dp.fold(dp.Subsample(part=part, rate=0.1, scheme=scheme), relation)
        largest = math.log1p(0.1 * math.expm1(2.0))
        assert dp.bracket_epsilon(form, 1e-7).upper == pytest.approx(largest, rel=1e-6)
        assert dp.bracket_delta(form, largest * 1.01).upper == pytest.approx(1e-7, rel=1e-5)
        assert TILTED.delta(form.upper[0], largest * 1.01).upper == pytest.approx(1e-7, rel=1e-5)
    ordered = dp.Subsample(part=release(gaussian(1.0, "add_remove")), rate=0.1)
    lower = dp.fold(dp.Subsample(part=ordered, rate=0.5), "add_remove").lower
    assert lower == (losses.Composition(),), "no pair is known for a loss with an order"
    orders: tuple[SampledOrder, ...] = ("remove", "add")
    for order, target in itertools.product(orders, (0.0, 0.05, 0.3, -0.1)):
        integral_of_a_sampled_gaussian(order, target)
        loss, other = (losses.SampledGaussianLoss(mu=1.0, rate=0.1, order=o) for o in (order, reverse_of(order)))
        assert loss.reversed().hockey_stick(target) == other.hockey_stick(target)
    sampled = dp.Subsample(part=dp.Repeat(part=release(gaussian(2.0, "add_remove")), times=4), rate=0.1)
    worst = max(losses.SampledGaussianLoss(mu=1.0, rate=0.1, order=o).hockey_stick(0.1) for o in orders)
    bracket = dp.bracket_delta(dp.fold(sampled, "add_remove"), 0.1)
    assert bracket.lower == pytest.approx(worst, rel=1e-4)
    assert bracket.upper == pytest.approx(worst, rel=1e-4)


def reverse_of(order: SampledOrder) -> SampledOrder:
    """Return the other order."""
    return "add" if order == "remove" else "remove"


def examples(*names: str) -> list[Any]:
    """Return the first example of each mechanism."""
    return [import_module(f"mechanisms.{name}").EXAMPLES[0] for name in names]


def losses_are_those_of_the_densities() -> None:
    """delta(epsilon), integrated or summed from `log_density` at the worst pair, is what `loss` says."""
    for example in test_contract.EXAMPLES:
        mechanism: Any = example.values[0]
        if mechanism.name in NUMBERS:
            test_contract.test_the_stated_loss_of_a_number_is_that_of_its_density(mechanism)


NUMBERS = ("gaussian", "laplace", "discrete_laplace", "randomised_response", "exponential", "report_noisy_max")
"""Mechanisms that release one number or choice."""


def gaussian_distances_are_those_of_the_densities() -> None:
    """mu^2 / 2 is the log likelihood ratio at the worst pair, for vectors, matrices, joint releases and trees."""
    mechanisms: tuple[Gaussian | SymmetricGaussian | JointGaussian, ...] = (
        gaussian(2.0),
        *(SymmetricGaussian(stddev=2.0, l2_sensitivity=1.4, neighbours="replace_one", symmetry=s) for s in SYMMETRIES),
        *JOINT,
    )
    for mechanism in mechanisms:
        first, second = (np.asarray(answer, dtype=float) for answer in mechanism.worst_pair())
        ratio = np.sum(mechanism.log_density(first, first)) - np.sum(mechanism.log_density(first, second))
        assert mechanism.loss().mu ** 2 / 2 == pytest.approx(float(ratio), rel=1e-9), mechanism
    for horizon, signs in ((7, (1,)), (8, (1,)), (13, (1, -1)), (13, (1, 1)), (20, (1, 1, 1))):
        tree = TreeAggregation(horizon=horizon, leaf=gaussian(2.0), signs=signs)
        first, second = tree.worst_pair()
        output = np.cumsum(first)
        ratio = float(tree.log_density(output, first) - tree.log_density(output, second))
        whole = math.fsum(loss.mu**2 * times for loss, times in tree.loss().parts)
        assert whole / 2 == pytest.approx(ratio, rel=1e-9)
    worst = JOINT[0].loss().mu ** 2
    assert worst == pytest.approx(4.5 / 16)
    angles = np.linspace(0, math.pi, 2001)
    moved = [2 * (1 - math.cos(a) ** 2) + 2 * (1 - math.cos(a)) for a in angles]
    assert max(moved) / 16 == pytest.approx(worst, rel=1e-5)


SYMMETRIES: tuple[Symmetry, ...] = ("half", "mirror", "sqrt2")
JOINT = (
    JointGaussian(matrix_stddev=4.0, vector_stddev=4.0, feature_bound=1.0, target_bound=1.0, neighbours="replace_one"),
    JointGaussian(matrix_stddev=2.0, vector_stddev=3.0, feature_bound=1.0, target_bound=2.0, neighbours="add_remove"),
)


def trees_are_counted_node_by_node() -> None:
    """Every choice of elements in small trees is tried, and prefixes are sums of nodes."""
    for horizon, signs, separation in itertools.product((1, 2, 3, 6, 8, 11), ((1,), (1, -1), (1, 1)), (1, 3)):
        test_trees.test_the_dynamic_program_finds_what_enumeration_finds(horizon, signs, separation)
    for horizon in (1, 2, 3, 7, 8, 9):
        test_trees.test_an_element_touches_the_nodes_that_cover_it_and_the_first_touches_most(horizon)
        test_trees.test_prefixes_are_sums_of_disjoint_nodes_and_can_be_taken_apart_again(horizon)


def samples_have_the_declared_law() -> None:
    """Likelihoods of samples accuse no example; 10 % more noise or less is seen, false alarms are below 1e-7 each."""
    for mechanism in examples(*NUMBERS, "tree_aggregation"):
        assert not test_contract.law_is_rejected(mechanism, mechanism, seed=11), mechanism


def masses_at_infinity_are_kept() -> None:
    """A one-sided Wishart is worth delta = 1 - e^-c at every epsilon; a symmetrised one is pure and bounded."""
    bad = OneSidedWishart(dimension=2, scale=4.5, trace_sensitivity=1.0, neighbours="replace_one")
    for target in (0.2, 1.0, 50.0):
        bracket = dp.bracket_delta(dp.fold(release(bad), "replace_one"), target)
        assert bracket.lower == pytest.approx(1 - math.exp(-1 / 9), rel=1e-9)
        assert bracket.upper == pytest.approx(1 - math.exp(-1 / 9), rel=1e-9)
    assert bad.loss().hockey_stick(1.0) == pytest.approx(1 - math.exp(-1 / 9))
    box = losses.ApproximateLoss(epsilon=1.0, delta=0.1)
    assert box.hockey_stick(0.0) == pytest.approx(0.1 + 0.9 * math.tanh(0.5))
    twice = dp.bracket_delta(dp.fold(dp.Repeat(part=release(bad), times=2), "replace_one"), 1.0)
    assert twice.lower == pytest.approx(1 - math.exp(-2 / 9), rel=1e-9)
    good = SymmetrisedWishart(dimension=2, scale=2.0, nuclear_sensitivity=2.0, neighbours="replace_one")
    assert good.loss().shift == pytest.approx(0.5)
    sided = losses.DiscreteLoss(atoms=((math.log(8 / 9), 0.8),), infinite_mass=0.2, reverse_infinite_mass=0.1)
    assert (sided.reversed().infinite_mass, sided.reversed().reverse_infinite_mass) == (0.1, 0.2)
    kept = losses.DiscreteLoss(atoms=((0.0, 0.9),), infinite_mass=0.1, reverse_infinite_mass=0.1)
    assert dp.bracket_epsilon(dp.fold(release(bad), "replace_one"), 0.05).lower == math.inf
    assert TILTED.delta(losses.Composition.of(kept) * 3, 2.0).lower == pytest.approx(1 - 0.9**3, rel=1e-6)
    assert RENYI.delta(losses.Composition.of(kept) * 3, 2.0).upper >= 1 - 0.9**3


def step(
    rule: str,
    epsilon: float,
    delta: float,
    parts: list[Any],
    slots: float | None = None,
    node: Declaration | None = None,
) -> Step:
    """Return one inference of a printed argument."""
    printed = dp.Printed(rule=rule, epsilon=epsilon, delta=delta, slots=slots)
    held = node or dp.Sequential(parts=(dp.Stated(epsilon=1.0, source="x"),) * max(1, len(parts)), printed=printed)
    return Step(node=held, printed=printed, parts=tuple((Budget(epsilon=e, delta=d), n) for e, d, n in parts))


def rules_conclude_what_their_theorems_say() -> None:
    """Each formula against its own value, and no theorem concludes less than optimal composition."""
    e, k = 0.1, 1000
    values = {
        "basic": (step("basic", 100, 0, [(e, 0, k)]), 100.0),
        "advanced": (step("advanced", 26, 1e-5, [(e, 0, k)]), 25.691),
        "advanced_refined": (step("advanced_refined", 21, 1e-5, [(e, 0, k)]), 20.170),
        "advanced_short": (
            step("advanced_short", 1, 1e-5, [(1 / math.sqrt(8 * k * math.log(2e5)), 0, k)]), 1.0),
        "optimal": (step("optimal", 21, 1e-5, [(e, 0, k)]), 20.170),
        "optimal, few small parts": (step("optimal", 1, 0.1, [(0.01, 0, 10)]), 0.0005 + math.sqrt(
            0.002 * math.log(math.e + math.sqrt(0.001) / 0.1))),
        "parallel": (step("parallel", 1, 0, [(0.5, 0, 1), (0.9, 0, 1)]), 0.9),
        "classic_gaussian": (
            step("classic_gaussian", 0.9, 1e-5, [], node=release(gaussian(5.0))), math.sqrt(2 * math.log(1.25e5)) / 5),
        "classic_gaussian_2": (
            step("classic_gaussian_2", 0.99, 1e-5, [], node=release(gaussian(5.0))), math.sqrt(2 * math.log(2e5)) / 5),
        "laplace": (step("laplace", 0.5, 0, [], node=release(laplace(2.0))), 0.5),
    }  # fmt: skip
    for name, (inference, value) in values.items():
        assert RULES[inference.printed.rule].conclude(inference) == pytest.approx(value, rel=2e-4), name
    for delta in (0.0, 1e-7):
        truth = TILTED.epsilon(losses.Composition.of(losses.ApproximateLoss(epsilon=0.1, delta=delta)) * 200, 1e-4)
        for name in ("basic", "advanced", "advanced_refined", "optimal"):
            concluded = RULES[name].conclude(step(name, 9, 1e-4, [(0.1, delta, 200)]))
            assert concluded >= truth.lower, name
            assert concluded <= 20 + 1e-9
    slots = step("basic", 9, 1e-5, [(0.1, 0, 5)], slots=9.2)
    assert RULES["basic"].conclude(slots) == pytest.approx(0.92)
    spent = step("advanced", 9, 1e-5, [(0.1, 1e-8, 100)])
    assert RULES["advanced"].conclude(spent) == pytest.approx(
        0.1 * math.sqrt(200 * math.log(1 / 9e-6)) + 10 * math.expm1(0.1), rel=1e-9
    )


def rules_know_their_premises() -> None:
    """Each premise is broken once, and named; kept, it is silent."""
    gauss, part = release(gaussian(5.0)), dp.Stated(epsilon=0.1, source="x")
    broken = {
        "the classic Gaussian needs epsilon < 1": step("classic_gaussian", 1.0, 1e-5, [], node=gauss),
        "parts fit the slots": step("basic", 9, 1e-5, [(0.1, 0, 5)], slots=4.5),
        "deltas fit, basic": step("basic", 9, 1e-5, [(0.1, 3e-6, 5)]),
        "deltas fit, slots": step("basic", 9, 1e-5, [(0.1, 3e-6, 2)], slots=5),
        "some delta is left, advanced": step("advanced", 9, 1e-5, [(0.1, 2e-6, 10)]),
        "some delta is left, refined": step("advanced_refined", 9, 1e-5, [(0.1, 2e-6, 10)]),
        "the shorthand needs epsilon <= 1": step("advanced_short", 2, 1e-5, [(0.001, 0, 10)]),
        "the shorthand halves delta": step("advanced_short", 1, 1e-5, [(0.001, 8e-7, 10)]),
        "deltas fit, parallel": step("parallel", 1, 1e-6, [(0.1, 1e-5, 1)]),
        "deltas fit, group": step(
            "group", 1, 1e-6, [(0.1, 1e-6, 1)], node=dp.Group(part=dp.Stated(epsilon=0.1, source="x"), size=3)
        ),
        "a pure rule knows mass at infinity": step("wishart", 1, 0, [], node=INPUTS["wishart"][0]),
    }
    for says, inference in broken.items():
        assert RULES[inference.printed.rule].premises(inference), says
    kept = (
        step("classic_gaussian", 0.99, 1e-5, [], node=gauss),
        step("basic", 9, 1e-5, [(0.1, 2e-6, 5)]),
        step("basic", 9, 1e-5, [(0.1, 0, 5)], slots=5.5),
        step("advanced", 9, 1e-5, [(0.1, 1e-7, 10)]),
        step("advanced_short", 1, 1e-5, [(0.001, 5e-7, 10)]),
        step("parallel", 1, 1e-5, [(0.1, 1e-5, 1)]),
        step("laplace", 1, 0, [], node=release(laplace(1.0))),
    )
    for inference in kept:
        assert RULES[inference.printed.rule].premises(inference) == (), inference
    for node in (
        dp.Sequential(parts=(part,), printed=dp.Printed(rule="billboard", epsilon=1.0, delta=1e-5)),
        dp.Sequential(parts=(part,), printed=dp.Printed(rule="local", epsilon=1.0, delta=1e-5)),
        dp.Sequential(parts=(part,), printed=dp.Printed(rule="laplace", epsilon=1.0, delta=1e-5)),
        release(laplace(5.0), printed=dp.Printed(rule="classic_gaussian", epsilon=0.5, delta=1e-5)),
    ):
        assert not replay(node, CLAIM).valid
    unproved = step("classic_gaussian", 3.0, 1e-5, [], node=release(gaussian(2.0)))
    assert "true although unproved" in RULES["classic_gaussian"].premises(unproved)[0]
    false = step("classic_gaussian", 9.0, 1e-5, [], node=release(gaussian(math.sqrt(2 * math.log(1.25e5)) / 9)))
    assert "false" in RULES["classic_gaussian"].premises(false)[0]


def printed_arguments_are_replayed() -> None:
    """A sound argument is valid; one with a smaller conclusion than its rule gives, or than the claim, is not."""
    claim = INPUTS["epochs"][1]
    assert replay(epochs(), claim).valid
    tree = as_a(dp.Billboard, epochs())
    changes: tuple[dict[str, Any], ...] = (
        {"epsilon": 0.9, "rule": "billboard"},
        {"epsilon": 2.0, "rule": "billboard"},
        {"epsilon": 1.0, "delta": 1e-6, "rule": "billboard"},
        {"epsilon": 1.0, "delta": 1e-5, "rule": "local"},
    )
    for change in changes:
        fields: dict[str, Any] = {"delta": 1e-5} | change
        changed = dp.Billboard(part=tree.part, reads=tree.reads, printed=dp.Printed(**fields))
        assert not replay(changed, claim).valid, change
    unprinted = dp.Sequential(
        parts=(dp.Stated(epsilon=0.3, delta=1e-6, source="a"), dp.Stated(epsilon=0.4, delta=1e-6, source="b"))
    )
    held = replay(dp.Repeat(part=unprinted, times=2, printed=dp.Printed(rule="basic", epsilon=1.4, delta=4e-6)), CLAIM)
    assert [problem.rule for problem in held.problems] == ["claim"]
    outer = dp.Sequential(
        parts=(dp.Repeat(part=unprinted, times=2),), printed=dp.Printed(rule="basic", epsilon=1.4, delta=4e-6)
    )
    assert [problem.rule for problem in replay(outer, CLAIM).problems] == ["claim"]
    short = dp.Sequential(
        parts=(dp.Repeat(part=unprinted, times=2),), printed=dp.Printed(rule="basic", epsilon=1.0, delta=4e-6)
    )
    assert not replay(short, CLAIM).valid


def noise_is_calibrated_exactly() -> None:
    """Every mechanism's `calibrated` meets the claim, and slightly less noise does not."""
    for mechanism in examples("gaussian", "laplace", "randomised_response", "tree_aggregation", "joint_gaussian"):
        test_contract.test_calibrated_noise_meets_the_claim_within_1e_9_and_never_below(mechanism, 1.0, 1e-5)
