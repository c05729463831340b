"""The Renyi filter: samples chosen on the way, against exact compositions, exact games and closed forms."""

import math
from fractions import Fraction
from itertools import product

import pytest

from dpaudit import Claim, Declaration, Release, Repeat, Sequential, Stated, Subsample, bracket_delta, fold
from dpaudit.budgets.filter_theorems import limit_of
from dpaudit.budgets.filters import Filter, Refusal, concentrated_filter, renyi_filter
from dpaudit.budgets.renyi import largest_divergence, reading_at, renyi_cost, usual_order
from dpaudit.engines import QUICK
from dpaudit.ledger import Account
from dpaudit.ledger.balance import Balance
from dpaudit.model.losses import GaussianLoss, SampledGaussianLoss
from mechanisms import Finite, Gaussian

CLAIM = Claim(epsilon=2.0, delta=1e-5, neighbours="add_remove")
RENYI = 8.0
"""The order of these tests."""


def step(rate: float, stddev: float, times: int = 1) -> Declaration:
    """Return steps of a training."""
    noise = Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="add_remove")
    return Repeat(part=Subsample(part=Release(label="gradient", mechanism=noise), rate=rate), times=times)


def spent_down(budget: Filter, parts: list[Declaration]) -> tuple[Filter, list[Declaration]]:
    """Return the filter and the parts it consented to, going round until it refuses each of them."""
    taken: list[Declaration] = []
    for number in range(10_000):
        match budget.spend(parts[number % len(parts)]):
            case Filter() as more:
                budget = more
                taken.append(parts[number % len(parts)])
            case Refusal():
                return budget, taken
    raise AssertionError


@pytest.mark.parametrize("rates", [(0.01, 0.02), (0.02, 0.005)])
def test_what_the_filter_consents_to_is_within_the_claim_by_exact_composition(rates: tuple[float, float]) -> None:
    """Steps of several rates and noises, until it refuses: the proved delta of all of them is at most the claim's."""
    parts = [step(rates[0], 1.2, 9), step(rates[1], 1.5, 16), step(rates[0], 1.0, 4)]
    _, taken = spent_down(renyi_filter(CLAIM, RENYI), parts)
    assert len(taken) > 3
    exact = bracket_delta(fold(Sequential(parts=tuple(taken)), "add_remove"), CLAIM.epsilon, QUICK)
    assert exact.upper <= CLAIM.delta


def test_a_filter_of_a_quarter_of_the_price_consents_to_too_much() -> None:
    """The broken twin: four times what is taken, as at a quarter of its cost, breaks the claim by exact composition."""
    budget, taken = spent_down(renyi_filter(CLAIM, RENYI), [step(0.02, 1.5, 5)])
    exact = bracket_delta(fold(Sequential(parts=tuple(taken) * 4), "add_remove"), CLAIM.epsilon)
    assert budget.events == len(taken)
    assert exact.lower > CLAIM.delta


@pytest.mark.parametrize("order", ["remove", "add"])
def test_a_sample_costs_the_larger_divergence_of_both_orders(order: str) -> None:
    """Mironov, Talwar and Zhang (2019), Section 3.3: the binomial sum at a whole order, which is the removal's."""
    loss = SampledGaussianLoss(mu=1.0, rate=0.1)
    cost = renyi_cost(loss if order == "remove" else loss.reversed(), 3.0)
    assert cost is not None
    assert 0.0317123003 <= float(cost.amount) <= 0.0317123003 * (1 + 1e-8)


def test_adaptive_games_of_finite_samples_end_within_the_claim() -> None:
    """An analyst who picks each response from the answers so far, enumerated: the largest delta of all.

    The filter prices a sampled response of e^1 odds; every strategy is a choice of one of two rates after each answer.
    """
    rates = (0.15, 0.3)
    parts = {rate: Subsample(part=response(), rate=rate) for rate in rates}
    budget = renyi_filter(Claim(epsilon=0.2, delta=0.15, neighbours="add_remove"), 4.0)

    def best(now: Filter, p: float, q: float, *, added: bool) -> float:
        """Return the largest sum of (P - e^epsilon Q)+ that any continuation reaches."""
        reached = max(0.0, (q - math.exp(now.claim.epsilon) * p) if added else (p - math.exp(now.claim.epsilon) * q))
        for rate, part in parts.items():
            after = now.spend(part)
            if isinstance(after, Filter):
                reached = max(reached, sum(best(after, p * a, q * b, added=added) for a, b in laws(rate)))
        return reached

    reached = [best(budget, 1.0, 1.0, added=added) for added in (False, True)]
    assert 0 < max(reached) <= budget.claim.delta


def laws(rate: float) -> tuple[tuple[float, float], ...]:
    """Return both probabilities of each answer: with the record the answer leans one way, without it the other."""
    true, false = 1 / (1 + math.exp(-1)), 1 - 1 / (1 + math.exp(-1))
    return ((rate * true + (1 - rate) * false, false), (rate * false + (1 - rate) * true, true))


def response() -> Release:
    """Return a response of epsilon 1, for a record that is there or not."""
    true, false = 1 / (1 + math.exp(-1)), 1 - 1 / (1 + math.exp(-1))
    noise = Finite(first=(true, false), second=(false, true), neighbours="add_remove")
    return Release(label="bit", mechanism=noise)


def test_samples_last_longer_than_by_concentrated_privacy() -> None:
    """A sampled Gaussian has no useful rho, so that only the Renyi filter counts it."""
    assert isinstance(concentrated_filter(CLAIM).spend(step(0.01, 1.0)), Refusal)
    assert isinstance(renyi_filter(CLAIM).spend(step(0.01, 1.0)), Filter)


def test_a_stated_delta_is_refused_with_what_counts() -> None:
    """Its divergence is infinite."""
    refused = renyi_filter(CLAIM).spend(Stated(epsilon=0.1, delta=1e-9, source="a vendor"))
    assert isinstance(refused, Refusal)
    assert "losses of finite Renyi divergence" in refused.reason


@pytest.mark.parametrize("order", [1.0, 0.5, math.inf])
def test_an_order_that_is_none_is_refused(order: float) -> None:
    """Orders lie above 1 and are finite."""
    with pytest.raises(ValueError, match="order"):
        renyi_filter(CLAIM, order)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (2.0, 1e-5), (8.0, 1e-3)])
def test_the_limit_is_turned_into_the_claim_and_no_more(epsilon: float, delta: float) -> None:
    """Proposition 12 of Canonne, Kamath and Steinke at the limit gives the delta back, from below."""
    for order in (1.5, 4.0, usual_order(epsilon, delta), 200.0):
        limit = largest_divergence(order, epsilon, delta)
        if limit > 0:
            power = order - 1
            back = math.exp(power * (limit - epsilon)) * (1 - 1 / order) ** order / power
            assert delta * (1 - 1e-6) <= back <= delta * (1 + 1e-9)


def test_an_account_counts_samples_and_reads_what_is_spent() -> None:
    """Rule `renyi` of a ledger: the reading rises with the spending and covers a Gaussian's own epsilon."""
    account = Account(name="survey", budget=CLAIM, rule="renyi")
    (budget,) = account.filters()
    after = budget.spend(step(0.01, 1.0, 100))
    assert isinstance(after, Filter)
    balance = Balance(account=account, alive=(after,))
    assert 0 < balance.share(after) < 1
    assert balance.reading(budget) == 0.0
    assert balance.reading(after) == reading_at(after.spent.amount, usual_order(2.0, 1e-5), 1e-5)
    assert balance.reading(after) < CLAIM.epsilon
    with pytest.raises(ValueError, match="positive delta"):
        Account(name="survey", budget=Claim(epsilon=1.0, neighbours="add_remove"), rule="renyi")


def test_the_reading_covers_the_tail_of_gaussian_losses_at_every_moment() -> None:
    """P(loss > reading) after each of several spendings, by the normal law; the sum over moments is below delta."""
    delta, order = 1e-3, 9.0
    for mu in (0.1, 0.3, 0.5):
        cost = renyi_cost(GaussianLoss(mu=mu), order)
        assert cost is not None
        reading = reading_at(cost.amount * 1, order, delta)
        tail = math.erfc((reading - mu * mu / 2) / mu / math.sqrt(2)) / 2
        assert tail <= delta


def test_prices_are_the_same_on_machines_that_round_otherwise() -> None:
    """A cost has at most 32 bits, so that the last places of a logarithm rarely matter."""
    for mu, rate in product((0.5, 1.0), (0.01, 0.1)):
        cost = renyi_cost(SampledGaussianLoss(mu=mu, rate=rate), RENYI)
        assert cost is not None
        assert cost.amount.numerator.bit_length() <= 33
        assert isinstance(cost.amount, Fraction)


def test_limits_are_those_of_the_theorem() -> None:
    """The filter's limit is the largest divergence of its order."""
    budget = renyi_filter(CLAIM, RENYI)
    assert limit_of(budget.theorem, CLAIM.epsilon, CLAIM.delta, 0.0).amount == Fraction(
        largest_divergence(RENYI, CLAIM.epsilon, CLAIM.delta)
    )
