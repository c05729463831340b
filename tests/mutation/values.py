"""Checks against numbers: exact values with their source, densities integrated anew, samples, trees counted by hand."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.engines import ENUMERATION, GAUSSIAN, RENYI, TILTED
from dpaudit.engines.basic import total_infinite_mass
from dpaudit.model import losses
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Scheme
from dpaudit.model.losses.sampled_gaussian import SampledOrder
from dpaudit.model.mechanism import Array
from dpaudit.printed.argument import replay
from dpaudit.rules import RULES, Budget, Step
from mechanisms import (
    DiscreteLaplace,
    Exponential,
    Gaussian,
    JointGaussian,
    Laplace,
    OneSidedWishart,
    RandomisedResponse,
    ReportNoisyMax,
    SymmetricGaussian,
    SymmetrisedWishart,
    TreeAggregation,
)
from mechanisms._matrices.fenwick import node_values, prefix_sums
from mechanisms.symmetric_gaussian import Symmetry
from tests.mutation.inputs import CLAIM, INPUTS, epochs, gaussian, laplace, release
from tests.narrowing import as_a


def known_values() -> None:
    """Epsilons of the literature, most of them to ten digits."""
    answers = {
        "one Gaussian (Balle and Wang 2018, Theorem 8)": (
            GAUSSIAN.epsilon(losses.Composition.of(losses.GaussianLoss(mu=1.0)), 1e-5), 4.3771780957, 1e-9),
        "a hundred Gaussians": (
            GAUSSIAN.epsilon(losses.Composition.of(losses.GaussianLoss(mu=1.0)) * 100, 1e-5), 91.8172896247, 1e-9),
        "a hundred Laplaces of scale 10": (
            TILTED.epsilon(losses.Composition.of(losses.LaplaceLoss(shift=0.1)) * 100, 1e-5), LAPLACE_HUNDRED, 1e-4),
        "optimal composition (Kairouz, Oh and Viswanath 2015)": (
            ENUMERATION.epsilon(losses.Composition.of(losses.ApproximateLoss(epsilon=0.1)) * 1000, 1e-5), 17.787, 1e-4),
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
    x = np.linspace(-14, 16, 600_001)
    step = x[1] - x[0]
    plain, moved = (np.exp(-((x - m) ** 2) / 2) / math.sqrt(2 * math.pi) for m in (0.0, 1.0))
    mixed = 0.9 * plain + 0.1 * moved
    orders: tuple[tuple[SampledOrder, tuple[Array, Array]], ...] = (("remove", (mixed, plain)), ("add", (plain, mixed)))
    for order, (p, q) in orders:
        loss = losses.SampledGaussianLoss(mu=1.0, rate=0.1, order=order)
        for target in (0.0, 0.05, 0.3, -0.1):
            exact = float(np.maximum(p - math.exp(target) * q, 0.0).sum() * step)
            assert loss.hockey_stick(target) == pytest.approx(exact, rel=1e-6, abs=1e-12)
            other = float(np.maximum(q - math.exp(target) * p, 0.0).sum() * step)
            assert loss.reversed().hockey_stick(target) == pytest.approx(other, rel=1e-6, abs=1e-12)
    sampled = dp.Subsample(part=dp.Repeat(part=release(gaussian(2.0, "add_remove")), times=4), rate=0.1)
    worst = max(losses.SampledGaussianLoss(mu=1.0, rate=0.1, order=o).hockey_stick(0.1) for o, _ in orders)
    bracket = dp.bracket_delta(dp.fold(sampled, "add_remove"), 0.1)
    assert bracket.lower == pytest.approx(worst, rel=1e-4)
    assert bracket.upper == pytest.approx(worst, rel=1e-4)


def losses_are_those_of_the_densities() -> None:
    """delta(epsilon), integrated or summed from `log_density` at the worst pair, is what `loss` says."""
    x = np.linspace(-80, 80, 400_001)
    additive: tuple[Gaussian | Laplace, ...] = (gaussian(2.0, sensitivity=3.0), laplace(2.0))
    for mechanism in additive:
        laws = [mechanism.log_density(x, np.asarray(answer)) for answer in mechanism.worst_pair()]
        _compare(mechanism, laws[0], laws[1], x[1] - x[0], exact=True)
    counts = np.arange(-200, 201)
    geometric = DiscreteLaplace(scale=3.0, l1_sensitivity=2, neighbours="add_remove")
    _compare(
        geometric,
        geometric.log_density(counts, np.array(2)),
        geometric.log_density(counts, np.array(0)),
        1.0,
        exact=True,
    )
    for categories in (2, 5):
        response = RandomisedResponse(epsilon=0.8, categories=categories)
        values = np.arange(categories)
        _compare(
            response,
            response.log_density(values, np.array(0)),
            response.log_density(values, np.array(1)),
            1.0,
            exact=True,
        )
        assert float(np.exp(response.log_density(values, np.array(0))).sum()) == pytest.approx(1.0)
    for choice in (
        Exponential(epsilon=0.7, linf_sensitivity=2.0, neighbours="replace_one"),
        ReportNoisyMax(scale=3.0, linf_sensitivity=1.0, neighbours="replace_one"),
    ):
        first, second = (np.asarray(pair, dtype=float) for pair in choice.worst_pair())
        index = np.arange(len(first))
        laws = [
            np.array([float(choice.log_density(np.asarray(k), scores)) for k in index]) for scores in (first, second)
        ]
        _compare(choice, laws[0], laws[1], 1.0, exact=False)
        attained = choice.attained_loss()
        gap = np.maximum(np.exp(laws[0]) - np.exp(laws[1]) * math.exp(0.1), 0.0).sum()
        assert attained.hockey_stick(0.1) == pytest.approx(float(gap), rel=1e-6, abs=1e-9)


def _compare(mechanism: dp.Mechanism, log_p: Array, log_q: Array, step: float, *, exact: bool) -> None:
    p, q = np.exp(log_p), np.exp(log_q)
    assert p.sum() * step == pytest.approx(1.0, abs=1e-6)
    for target in (0.0, 0.1, 0.45, 1.2):
        value = float(np.maximum(p - math.exp(target) * q, 0.0).sum() * step)
        if exact:
            assert mechanism.loss().hockey_stick(target) == pytest.approx(value, rel=2e-4, abs=1e-8), mechanism
        else:
            assert mechanism.loss().hockey_stick(target) >= value * (1 - 1e-9), mechanism


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
    """Every choice of elements in small trees is tried; no more and no fewer nodes than `squared_nodes` are touched."""
    for horizon in (1, 2, 3, 6, 8, 11, 16):
        assert np.array_equal(node_values(prefix_sums(np.eye(horizon))), np.eye(horizon))
        nodes = [range(n - (n & -n) + 1, n + 1) for n in range(1, horizon + 1)]

        def counted(elements: tuple[int, ...], signs: tuple[int, ...], nodes: Sequence[range] = nodes) -> int:
            return sum(sum(s for e, s in zip(elements, signs, strict=True) if e in node) ** 2 for node in nodes)

        one = TreeAggregation(horizon=horizon, leaf=laplace(1.0))
        assert one.squared_nodes == max(counted((e,), (1,)) for e in range(1, horizon + 1)) == one.levels
        assert all(len(one.touched(e)) == counted((e,), (1,)) for e in range(1, horizon + 1))
        for signs in ((1, -1), (1, 1)):
            for separation in (1, 3):
                tree = TreeAggregation(horizon=horizon, leaf=gaussian(1.0), signs=signs, separation=separation)
                pairs = [
                    counted((a, b), signs) for a in range(1, horizon + 1) for b in range(a + separation, horizon + 1)
                ]
                assert tree.squared_nodes == max([*pairs, one.squared_nodes])


def samples_have_the_declared_law() -> None:
    """Second moments of 200,000 draws are within six deviations of the density's; false alarms below 1e-8 each.

    A noise scale that is off by 2 % or more is seen (deviations are at most 0.4 % of the moment).
    """
    number = 200_000
    x = np.linspace(-90, 90, 200_001)
    for mechanism in (Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one"), laplace(2.0)):
        drawn = np.asarray(mechanism.release(np.zeros(number), np.random.default_rng(11)))
        density = np.exp(mechanism.log_density(x, np.zeros(1))) * (x[1] - x[0])
        second, fourth = float(density @ x**2), float(density @ x**4)
        assert abs(np.mean(drawn**2) - second) < 6 * math.sqrt((fourth - second**2) / number)
        assert abs(np.mean(drawn)) < 6 * math.sqrt(second / number)
    response = RandomisedResponse(epsilon=1.0, categories=4)
    said = response.release(np.full(number, 2), np.random.default_rng(12))
    for value in range(4):
        expected = float(np.exp(response.log_density(np.array(value), np.array(2))))
        assert abs(np.mean(said == value) - expected) < 6 * math.sqrt(expected / number)
    scores = np.array([1.0, 0.0, 0.5])
    for choice in (
        Exponential(epsilon=2.0, linf_sensitivity=1.0, neighbours="replace_one"),
        ReportNoisyMax(scale=1.0, linf_sensitivity=1.0, neighbours="replace_one"),
    ):
        picked = choice.release(np.tile(scores, (number, 1)), np.random.default_rng(13))
        for k in range(3):
            expected = float(np.exp(choice.log_density(np.array(k), scores)))
            assert abs(np.mean(picked == k) - expected) < 6 * math.sqrt(expected / number)
    tree = TreeAggregation(horizon=7, leaf=gaussian(1.0))
    sums = np.asarray(tree.release(np.zeros((60_000, 7)), np.random.default_rng(14)))
    bits = np.array([bin(n).count("1") for n in range(1, 8)])
    assert np.all(np.abs(sums.var(axis=0) - bits) < 6 * bits * math.sqrt(2 / 60_000))


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
    assert ENUMERATION.delta(losses.Composition.of(kept) * 3, 2.0).lower == pytest.approx(1 - 0.9**3, rel=1e-6)
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
        truth = ENUMERATION.epsilon(losses.Composition.of(losses.ApproximateLoss(epsilon=0.1, delta=delta)) * 200, 1e-4)
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
    """Every mechanism's `calibrated` meets the claim, and 0.01 % less noise does not."""
    for mechanism in (
        Gaussian.calibrated(CLAIM, l2_sensitivity=2.0),
        Laplace.calibrated(CLAIM, l1_sensitivity=2.0),
        RandomisedResponse.calibrated(CLAIM),
        TreeAggregation.calibrated(CLAIM, horizon=50, leaf=gaussian(1.0)),
        JointGaussian.calibrated(CLAIM, feature_bound=1.0, target_bound=1.0),
    ):
        tree = dp.Release(label="x", mechanism=mechanism)
        assert dp.bracket_delta(dp.fold(tree, "replace_one"), 1.0).upper <= 1e-5 * (1 + 1e-5)
        less = dp.Release(label="x", mechanism=mechanism.scaled(0.9999))
        assert dp.bracket_delta(dp.fold(less, "replace_one"), 1.0).lower > 1e-5
