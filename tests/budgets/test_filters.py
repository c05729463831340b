"""Filters: exact sums, refusals that leave no trace, and the worst that an adaptive analyst can do to each."""

import math
from collections.abc import Callable, Hashable
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.accounting.additive_costs import Cost
from dpaudit.budgets.filters import (
    Filter,
    Refusal,
    advanced_filter,
    basic_filter,
    concentrated_filter,
    gaussian_filter,
    renyi_filter,
    stated_by,
)
from dpaudit.budgets.zcdp import largest_rho, largest_rho_at_the_advanced_rate
from dpaudit.checks import meant
from dpaudit.errors import DeclarationError
from dpaudit.model.losses import ApproximateLoss
from dpaudit.model.losses.concentrated import concentrated_delta
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian, Laplace

CLAIM = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
FILTERS = (basic_filter, gaussian_filter, concentrated_filter, advanced_filter, renyi_filter)


def normal(mu: float) -> dp.Release:
    return dp.Release(label="sum", mechanism=Gaussian(stddev=1 / mu, l2_sensitivity=1.0, neighbours="replace_one"))


def laplace(shift: float) -> dp.Release:
    return dp.Release(label="count", mechanism=Laplace(scale=1 / shift, l1_sensitivity=1.0, neighbours="replace_one"))


def stated(epsilon: float, delta: float = 0.0) -> dp.Stated:
    return dp.Stated(epsilon=epsilon, delta=delta, source="a vendor")


def spent_on(budget: Filter, *parts: dp.Declaration) -> Filter:
    for part in parts:
        after = budget.spend(part)
        assert isinstance(after, Filter), after
        budget = after
    return budget


# The worst an adaptive analyst can do, exactly. Against black boxes the worst parts are leaky randomised responses,
# and the worst analyst picks each by the losses seen so far; both are enumerated.

STEP = 0.25
"""All losses are multiples of this, so that equal sums are equal keys."""


def adaptive_delta(
    start: Hashable, spend: Callable[..., Any], epsilon: float, menu: tuple[tuple[int, float], ...]
) -> float:
    """delta(epsilon) of the worst adaptive stream that `spend(state, part)` (None: refused) admits from `start`.

    `menu` lists (epsilon in steps, delta). The value of a state is the largest expectation, over all strategies, of
    (1 - e^(epsilon - loss))_+ under P; an output beyond all loss is worth 1, and stopping is always allowed.
    """
    known: dict[tuple[Hashable, int], float] = {}

    def value(state: Hashable, loss: int) -> float:
        if (state, loss) not in known:
            best = max(0.0, -math.expm1(epsilon - loss * STEP))
            for steps, delta in menu:
                after = spend(state, (steps, delta))
                if after is not None:
                    atoms = ApproximateLoss(epsilon=steps * STEP, delta=delta)
                    up = (1 - atoms.delta) / (1 + math.exp(-atoms.epsilon))
                    down = (1 - atoms.delta) / (1 + math.exp(atoms.epsilon))
                    odds = up * value(after, loss + steps) + down * value(after, loss - steps)
                    best = max(best, atoms.delta + odds)
            known[state, loss] = best
        return known[state, loss]

    return value(start, 0)


def filter_spend(state: Filter, part: tuple[int, float]) -> Filter | None:
    after = state.spend(stated(part[0] * STEP, part[1]))
    return replace(after, events=0) if isinstance(after, Filter) else None


def against(budget: Filter, menu: tuple[tuple[int, float], ...]) -> float:
    return adaptive_delta(budget, filter_spend, budget.claim.epsilon, menu)


MENU = ((1, 0.0), (2, 0.0), (3, 0.001), (5, 0.0))


@pytest.mark.parametrize("build", [basic_filter, concentrated_filter, advanced_filter])
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1.0, 0.01), (1.5, 0.1), (2.0, 0.05), (0.0, 0.2), pytest.param(3.0, 0.3, marks=pytest.mark.slow)],
)
def test_no_adaptive_stream_of_two_point_parts_beats_a_filters_claim(
    build: Callable[..., Any], epsilon: float, delta: float
) -> None:
    claim = dp.Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")
    budget = build(claim) if build is basic_filter else build(claim, mass=delta / 4)
    assert against(budget, MENU) <= delta * (1 + 1e-12)


def test_the_basic_filter_loses_nothing_to_an_analyst_who_spends_all_delta() -> None:
    claim = dp.Claim(epsilon=1.0, delta=0.004, neighbours="replace_one")
    worst = against(basic_filter(claim), ((1, 0.001),))
    assert worst == pytest.approx(1 - 0.999**4, rel=1e-12)


@settings(deadline=None)
@given(
    epsilon=st.floats(0.1, 3.0),
    delta=st.floats(1e-3, 0.4),
    share=st.floats(0.0, 0.9),
    menu=st.lists(st.tuples(st.integers(1, 6), st.sampled_from((0.0, 1e-3, 0.02))), min_size=1, max_size=3),
    build=st.sampled_from((concentrated_filter, advanced_filter)),
)
def test_no_menu_and_no_claim_lets_an_adaptive_analyst_through(
    epsilon: float, delta: float, share: float, menu: Any, build: Any
) -> None:
    claim = dp.Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")
    coarse = tuple((max(steps, 2), loss) for steps, loss in menu)
    assert against(build(claim, mass=delta * share), coarse) <= delta * (1 + 1e-12)


def test_a_filter_that_checks_before_adding_is_caught() -> None:
    """The twin admits a part whenever anything is left, and so overspends by one."""
    claim = dp.Claim(epsilon=1.0, delta=0.05, neighbours="replace_one")
    limit = concentrated_filter(claim).limit.amount

    def late(spent: Fraction, part: tuple[int, float]) -> Fraction | None:
        return spent + Fraction(part[0] * STEP) ** 2 / 2 if spent < limit else None

    assert adaptive_delta(Fraction(0), late, 1.0, ((2, 0.0), (8, 0.0))) > 5 * claim.delta


def test_a_filter_without_the_drift_is_caught() -> None:
    """The twin forgets half the sum of squares and keeps the root alone."""
    claim = dp.Claim(epsilon=6.0, delta=0.5, neighbours="replace_one")
    limit = Fraction(claim.epsilon**2 / (4 * math.log(1 / claim.delta)))

    def loose(spent: Fraction, part: tuple[int, float]) -> Fraction | None:
        after = spent + Fraction(part[0] * STEP) ** 2 / 2
        return after if after <= limit else None

    menu = ((4, 0.0),)
    assert adaptive_delta(Fraction(0), loose, claim.epsilon, menu) > claim.delta
    assert against(advanced_filter(claim), menu) <= claim.delta


# Sums and refusals.


@settings(deadline=None)
@given(
    build=st.sampled_from(FILTERS),
    stream=st.lists(st.tuples(st.sampled_from((normal, laplace, stated)), st.floats(1e-3, 0.6)), max_size=25),
)
def test_what_is_spent_never_exceeds_the_limit_and_a_refusal_changes_nothing(build: Any, stream: Array) -> None:
    budget = build(CLAIM)
    released = []
    for make, size in stream:
        before = replace(budget)
        after = budget.spend(make(size))
        assert budget == before
        assert hash(budget) == hash(before)
        if isinstance(after, Filter):
            assert after.spent.within(after.limit)
            assert after.events == budget.events + 1
            budget = after
            released.append(make(size))
    assert budget.spent.within(budget.limit)
    assert budget.events == len(released)
    if released:  # parts that were in fact fixed in advance: the accountant must agree with the filter
        form = dp.fold(dp.Sequential(parts=tuple(released)), "replace_one")
        assert dp.bracket_delta(form, CLAIM.epsilon).lower <= CLAIM.delta


@given(st.permutations([normal(0.05), normal(0.03), stated(0.02), laplace(0.1)]))
def test_the_order_of_spending_does_not_matter(parts: Any) -> None:
    assert (
        spent_on(concentrated_filter(CLAIM), *parts).spent
        == spent_on(concentrated_filter(CLAIM), normal(0.05), normal(0.03), stated(0.02), laplace(0.1)).spent
    )


def test_a_repeated_part_costs_what_its_copies_cost() -> None:
    at_once = spent_on(gaussian_filter(CLAIM), dp.Repeat(part=normal(0.01), times=7))
    one_by_one = spent_on(gaussian_filter(CLAIM), *(normal(0.01) for _ in range(7)))
    assert at_once.spent == one_by_one.spent
    assert (at_once.events, one_by_one.events) == (1, 7)


def test_the_gaussian_filter_loses_nothing_against_parts_fixed_in_advance() -> None:
    """Four quarters of the calibrated mu^2 fit (halving mu is exact), and one part in 10^9 more does not."""
    needed = Gaussian.calibrated(CLAIM, l2_sensitivity=1.0)
    quarter = dp.Release(label="quarter", mechanism=needed.scaled(2.0))
    full = spent_on(gaussian_filter(CLAIM), *(quarter,) * 4)
    assert float(full.remaining.amount) <= 1e-9 * float(full.limit.amount)
    assert isinstance(full.spend(normal(1e-4)), Refusal)
    more = dp.Release(label="quarter", mechanism=needed.scaled(2.0 * (1 - 1e-9)))
    assert isinstance(spent_on(gaussian_filter(CLAIM), *(quarter,) * 3).spend(more), Refusal)


def test_parallel_parts_cost_the_worst_of_them() -> None:
    both = dp.Parallel(parts=(stated(0.2), stated(0.5)), key="the arrival time")
    assert spent_on(basic_filter(CLAIM), both).spent.amount == Fraction(1, 2)


@pytest.mark.parametrize("parts", [(normal(0.1), stated(0.05, 1e-7)), (stated(0.05, 1e-7), normal(0.1))])
def test_of_parts_that_cannot_be_compared_the_worse_amount_and_the_worse_mass_are_spent(
    parts: tuple[dp.Declaration, ...],
) -> None:
    budget = concentrated_filter(CLAIM, mass=1e-6)
    assert spent_on(budget, dp.Parallel(parts=parts, key="the arrival time")).spent == Cost(
        amount=spent_on(budget, normal(0.1)).spent.amount, mass=Fraction(1, 10**7)
    )


@pytest.mark.parametrize("build", [concentrated_filter, advanced_filter])
def test_delta_that_is_set_aside_for_parts_is_not_used_twice(build: Callable[..., Any]) -> None:
    shared = build(CLAIM, mass=CLAIM.delta / 2).limit
    assert shared == Cost(amount=build(replace(CLAIM, delta=CLAIM.delta / 2)).limit.amount, mass=Fraction(5, 10**6))


def test_each_filter_ends_where_its_theorem_says() -> None:
    """At (1, 1e-5): rho 0.02082 by Bun and Steinke, more by Canonne, Kamath and Steinke, mu^2 / 2 alone is larger."""
    tail = math.log(1e5)
    advanced = advanced_filter(CLAIM).limit.amount
    assert float(advanced + 2 * Fraction(math.sqrt(advanced * Fraction(tail)))) == pytest.approx(1.0, rel=1e-12)
    sharper = concentrated_filter(CLAIM).limit.amount
    exact = gaussian_filter(CLAIM).limit.amount / 2
    assert advanced < sharper < exact
    assert float(exact) == pytest.approx(0.5 / 3.7306316351**2, rel=1e-9)  # Balle and Wang (2018), Theorem 8


def test_the_conversion_of_rho_is_above_its_formula_and_within_a_billionth_of_the_best_order() -> None:
    """Corollary 13 of Canonne, Kamath and Steinke (2020), evaluated with 60 digits and minimised there."""
    import mpmath

    def formula(rho: float, epsilon: float, log_above: Any) -> Any:
        above = mpmath.exp(log_above)
        order = 1 + above
        return mpmath.exp(above * (order * rho - epsilon)) / above * (above / order) ** order

    with mpmath.workdps(60):
        for rho, epsilon in ((2.56, 17.14), (0.07, 2.47), (1e-6, 0.01), (5.0, 6.0), (1e-3, 0.5), (0.5, 0.0)):
            best = min(formula(mpmath.mpf(rho), mpmath.mpf(epsilon), mpmath.mpf(k) / 100) for k in range(-1000, 1500))
            bound = concentrated_delta(rho, epsilon)
            assert bound <= best * (1 + mpmath.mpf(10) ** -9)
            assert bound >= best * (1 - mpmath.mpf(10) ** -3)  # the grid's own distance from the valley


@given(st.floats(1e-4, 10.0), st.floats(0.0, 20.0))
def test_the_conversion_of_rho_is_an_upper_bound_for_the_gaussian_that_has_it(rho: float, epsilon: float) -> None:
    form = dp.fold(normal(math.sqrt(2 * rho)), "replace_one")
    assert dp.bracket_delta(form, epsilon).lower <= concentrated_delta(rho, epsilon)


@given(st.floats(0.01, 20.0), st.floats(1e-30, 0.5))
def test_the_sharper_conversion_never_gives_less_and_both_meet_their_claim(epsilon: float, delta: float) -> None:
    slower, sharper = largest_rho_at_the_advanced_rate(epsilon, delta), largest_rho(epsilon, delta)
    assert slower <= sharper * (1 + 1e-9)
    assert concentrated_delta(sharper, epsilon) <= delta


def test_the_advanced_limit_is_rounded_down() -> None:
    import mpmath

    with mpmath.workdps(50):
        for epsilon, delta in ((1.0, 1e-5), (0.01, 1e-30), (30.0, 0.5), (1e-8, 1e-12)):
            rho = mpmath.mpf(largest_rho_at_the_advanced_rate(epsilon, delta))
            total = rho + 2 * mpmath.sqrt(rho * mpmath.log(1 / mpmath.mpf(delta)))
            assert epsilon * (1 - mpmath.mpf(10) ** -12) < total <= epsilon


# What is no spending.


def test_a_part_that_a_filter_cannot_count_is_refused_with_what_it_counts() -> None:
    refusal = basic_filter(CLAIM).spend(normal(0.01))
    assert isinstance(refusal, Refusal)
    assert "bounded losses" in refusal.reason
    assert isinstance(gaussian_filter(CLAIM).spend(laplace(0.01)), Refusal)


def test_a_part_for_other_neighbours_or_a_weaker_model_is_an_error() -> None:
    other = dp.Release(label="sum", mechanism=Gaussian(stddev=90.0, l2_sensitivity=1.0, neighbours="add_remove"))
    with pytest.raises(DeclarationError, match="neighbours"):
        gaussian_filter(CLAIM).spend(other)
    with pytest.raises(DeclarationError, match="joint view"):
        gaussian_filter(CLAIM).spend(dp.Billboard(part=normal(0.01)))
    assert isinstance(gaussian_filter(replace(CLAIM, model="joint")).spend(dp.Billboard(part=normal(0.01))), Filter)


def test_a_filter_that_overspent_cannot_be_built_and_none_can_be_changed() -> None:
    budget = basic_filter(CLAIM)
    with pytest.raises(ValueError, match="overspent"):
        replace(budget, spent=Cost(amount=Fraction(2)))
    with pytest.raises(ValueError, match="zero or positive"):
        Cost(amount=Fraction(-1))
    with pytest.raises(ValueError, match="share of the claim's delta"):
        concentrated_filter(CLAIM, mass=1e-4)
    with pytest.raises(FrozenInstanceError):
        budget.events = 3  # type: ignore[misc]


def test_a_pure_claim_leaves_nothing_for_gaussian_noise() -> None:
    pure = dp.Claim(epsilon=1.0, neighbours="replace_one")
    for build in (gaussian_filter, concentrated_filter):
        with pytest.raises(dp.UnsupportedError, match="positive delta"):
            build(pure)
    assert advanced_filter(pure).limit == Cost()


def test_a_certificate_is_spent_at_what_it_proves_and_nothing_else_is_spent_by_it() -> None:
    claim = dp.Claim(epsilon=0.5, delta=1e-6, neighbours="replace_one", unit="one traveller")
    certificate = dp.certify(normal(0.05), claim)
    budget = basic_filter(replace(CLAIM, unit="one traveller"))
    part = stated_by(certificate, budget.claim)
    spent = spent_on(budget, part).spent
    assert spent == Cost(amount=meant(certificate.tight.epsilon.upper), mass=Fraction(1, 10**6))
    assert float(spent.amount) < claim.epsilon
    with pytest.raises(DeclarationError, match="is about"):
        stated_by(certificate, CLAIM)
    with pytest.raises(DeclarationError, match="refuted"):
        stated_by(dp.certify(normal(9.0), claim), budget.claim)


def test_a_joint_certificate_is_no_central_spending() -> None:
    claim = replace(CLAIM, model="joint")
    part = stated_by(dp.certify(dp.Billboard(part=normal(0.05)), claim), CLAIM)
    with pytest.raises(DeclarationError, match="joint view"):
        basic_filter(CLAIM).spend(part)


def test_every_filter_states_its_theorem_source_and_conditions() -> None:
    for build in FILTERS:
        budget = build(CLAIM)
        assert budget.theorem.statement.endswith(".")
        assert "(20" in budget.theorem.source
        assert {condition.status for condition in budget.conditions} == {"assumed"}
