"""Accounts in rho and in mu: each booking costs the least that is proved in that measure, and says by which rule."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from scipy.stats import norm

from dpaudit import Certificate, Claim, Release, Repeat, Sequential, Stated, certify, schemas
from dpaudit.accounting.additive_costs import Cost, squared_mu
from dpaudit.budgets import Refusal
from dpaudit.ledger import Account, Ledger, recompute, store_at
from dpaudit.ledger.balance import Balance
from dpaudit.ledger.pricing import prices
from dpaudit.ledger.repricing import reprice
from dpaudit.model.losses import ApproximateLoss
from dpaudit.model.measures.claims import MuClaim, ProfileClaim, RenyiClaim, RhoClaim
from mechanisms import Gaussian, Laplace
from tests.command_line import dpaudit

NOW = "2026-01-01T00:00:00+00:00"
WHO: Any = {"neighbours": "replace_one", "unit": "one person"}
SUM = Release(label="sum", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one"))
COUNT = Release(label="count", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one"))
RHO, MU = RhoClaim(rho=1.0, **WHO), MuClaim(mu=2.0, **WHO)
EPSILONS = Claim(epsilon=3.0, delta=1e-5, **WHO)
TOLD = Stated(epsilon=1.0, source="a vendor")
MU_OF_ONE = 2 * norm.ppf(math.e / (1 + math.e))


def priced(declaration: Any, claim: Claim, budget: Claim) -> dict[str, tuple[float, str]]:
    """What a certificate costs by each theorem of a budget, and the rule."""
    found = prices(certify(declaration, claim), Account(name="data", budget=budget).filters())
    return {name: (float(price.cost.amount), price.rule) for name, price in found.items()}


@pytest.mark.parametrize(
    ("declaration", "claim", "budget", "amount", "rule"),
    [
        (SUM, RhoClaim(rho=0.5, **WHO), RHO, 0.5, "its rho"),
        (SUM, MuClaim(mu=1.0, **WHO), RHO, 0.5, "mu^2 / 2 of its mu"),
        (SUM, Claim(epsilon=5.0, delta=1e-5, **WHO), RHO, 0.5, "the losses that it declares, added up"),
        (COUNT, Claim(epsilon=1.0, **WHO), RHO, math.exp(-1), "the losses that it declares, added up"),
        (TOLD, Claim(epsilon=1.0, **WHO), RHO, math.tanh(0.5), "epsilon tanh(epsilon / 2) of its epsilon"),
        (SUM, MuClaim(mu=1.0, **WHO), MU, 1.0, "the square of its mu"),
        (COUNT, Claim(epsilon=1.0, **WHO), MU, 1.03006**2, "the mu of its declaration as a whole"),
        (
            TOLD,
            Claim(epsilon=1.0, **WHO),
            MU,
            (2 * norm.ppf(math.e / (1 + math.e))) ** 2,
            "the mu that its epsilon allows",
        ),
        (TOLD, RhoClaim(rho=0.4622, **WHO), RHO, math.tanh(0.5), "the losses that it declares, added up"),
    ],
)
def test_a_certificate_costs_the_least_that_is_proved_in_the_measure_of_the_budget(
    declaration: Any, claim: Claim, budget: Claim, amount: float, rule: str
) -> None:
    """Exact values: rho of Laplace x - 1 + e^-x, of an epsilon eps tanh(eps/2), mu of it 2 Phi^-1(e^eps/(1+e^eps))."""
    ((cost, said),) = priced(declaration, claim, budget).values()
    assert cost == pytest.approx(amount, rel=2e-5)
    assert said == rule


def test_rho_and_mu_are_mixed_with_an_epsilon_by_the_sum_that_can_count_them() -> None:
    """On a budget in epsilon and delta, rho and mu are counted by the concentrated filter; no epsilon is added up."""
    for claim in (RhoClaim(rho=0.5, **WHO), MuClaim(mu=1.0, **WHO)):
        told = priced(SUM, claim, EPSILONS)
        assert set(told) == {"concentrated"}
        assert told["concentrated"][0] == pytest.approx(0.5, rel=1e-9)


def test_what_bounds_nothing_in_a_measure_is_not_counted_in_it() -> None:
    """Rho bounds no mu (Laplace 1 has rho .3679 and mu 1.0301, not .8578); Renyi orders and a delta bound no rho."""
    told = certify(Stated(epsilon=1.0, source="a vendor"), RhoClaim(rho=0.4622, **WHO))
    mu = prices(told, Account(name="data", budget=MU).filters())["Gaussian privacy"]
    assert mu.rule == "the losses that it declares, added up"
    approximate = certify(Stated(epsilon=1.0, delta=1e-6, source="a vendor"), Claim(epsilon=1.0, delta=1e-6, **WHO))
    assert not prices(approximate, Account(name="data", budget=MU).filters())
    in_rho = prices(approximate, Account(name="data", budget=RHO).filters())["concentrated"]
    assert in_rho.cost.mass == Fraction(1, 10**6)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """An empty ledger in a file."""
    return Ledger(store_at(str(tmp_path / "ledger.db"), create=True))


def booked(ledger: Ledger, certificate: Certificate) -> int:
    """How many bookings of a certificate the account takes."""
    for number in range(20):
        if isinstance(ledger.book("data", certificate, f"release {number}", NOW), Refusal):
            return number
    return 20


def test_two_releases_of_rho_a_half_fill_a_budget_of_rho_one_and_a_third_is_refused(ledger: Ledger) -> None:
    """Sums are exact; a delta has no place, and the refusal says what is left."""
    ledger.open(Account(name="data", budget=RHO), NOW)
    half = certify(SUM, RhoClaim(rho=0.5, **WHO))
    assert booked(ledger, half) == 2
    refusal: Any = ledger.book("data", half, "one more", NOW)
    assert "would overspend rho = 1" in refusal.reason
    assert not reprice(ledger.store.entries()).findings
    balance = recompute(ledger.store.entries()).accounts["data"]
    assert balance.reading(balance.alive[0]) == 1.0


def test_four_releases_of_mu_one_fill_a_budget_of_mu_two(ledger: Ledger) -> None:
    ledger.open(Account(name="data", budget=MU), NOW)
    assert booked(ledger, certify(SUM, MuClaim(mu=1.0, **WHO))) == 4


def test_a_filled_account_in_rho_is_what_one_certificate_of_all_its_releases_proves(ledger: Ledger) -> None:
    """Laplace, Gaussian and stated releases: the sum of the bookings is at least the rho of them together."""
    ledger.open(Account(name="data", budget=RhoClaim(rho=2.1, **WHO)), NOW)
    for label, part in (("a", SUM), ("b", COUNT), ("c", TOLD), ("d", Repeat(part=COUNT, times=2))):
        ledger.book("data", certify(part, RhoClaim(rho=1.0, **WHO)), label, NOW)
    balance = recompute(ledger.store.entries()).accounts["data"]
    together = Sequential(parts=(SUM, COUNT, TOLD, Repeat(part=COUNT, times=2)))
    booked_in_all = balance.reading(balance.alive[0])
    outwards = 1 + 1e-7  # as certificates move ends that are no ratios
    assert certify(together, RhoClaim(rho=booked_in_all * outwards, **WHO)).verdict == "stated"


def test_a_budget_in_a_measure_that_does_not_add_up_is_refused() -> None:
    with pytest.raises(ValueError, match="Expected a claim"):
        Account(name="data", budget=RhoClaim(rho=1.0, xi=0.1, **WHO))


def test_a_budget_of_several_orders_ends_where_the_first_of_them_does(ledger: Ledger) -> None:
    """Gaussian noise of mu 1 costs order / 2 at each order: two at order 2, four at order 4. Twin: order 2 alone."""
    half = certify(SUM, RhoClaim(rho=0.5, **WHO))
    ledger.open(Account(name="data", budget=RenyiClaim(renyi=((2.0, 2.0), (4.0, 9.0)), **WHO)), NOW)
    assert booked(ledger, half) == 2
    refusal: Any = ledger.book("data", half, "one more", NOW)
    assert "by the Renyi at order 2 filter it costs 1, where 0 is left" in refusal.reason
    ledger.open(Account(name="alone", budget=RenyiClaim(renyi=((4.0, 9.0),), **WHO)), NOW)
    assert [isinstance(ledger.book("alone", half, f"{n}", NOW), Refusal) for n in range(5)] == [False] * 4 + [True]
    balance = recompute(ledger.store.entries()).accounts["data"]
    assert balance.binding.name == "Renyi at order 2"
    assert [balance.reading(one) for one in balance.alive] == [2.0, 4.0]
    assert not reprice(ledger.store.entries()).findings


@pytest.mark.parametrize(
    ("declaration", "claim", "amount", "rule"),
    [
        (SUM, RhoClaim(rho=0.5, **WHO), 2.0, "xi + rho times the order"),
        (SUM, MuClaim(mu=1.0, **WHO), 2.0, "mu^2 / 2 times the order"),
        (TOLD, RenyiClaim(renyi=((5.0, 0.93),), **WHO), 0.93, "its divergence at the next order"),
        (TOLD, Claim(epsilon=1.0, **WHO), math.log((math.exp(4) + math.exp(-3)) / (1 + math.e)) / 3, "its epsilon"),
    ],
)
def test_a_budget_at_one_order_counts_what_each_measure_bounds_of_it(
    declaration: Any, claim: Claim, amount: float, rule: str
) -> None:
    """A pure epsilon by the divergence of its randomised response; the declared losses where they cost less."""
    ((cost, said),) = priced(declaration, claim, RenyiClaim(renyi=((4.0, 9.0),), **WHO)).values()
    assert cost == pytest.approx(amount, rel=1e-6) or (cost < amount and said.startswith("the losses"))
    assert said.startswith((rule, "the losses"))


def test_a_budget_of_a_profile_keeps_each_point_by_the_rule_that_lasts_longest(ledger: Ledger) -> None:
    """Small Laplace releases: sums of epsilons at the point without delta, rho at the other; the first one ends it."""
    small = Release(label="n", mechanism=Laplace(scale=20.0, l1_sensitivity=1.0, neighbours="replace_one"))
    told = certify(small, Claim(epsilon=0.05, **WHO))
    profile = ProfileClaim(profile=((0.5, 0.0), (0.2, 1e-2)), **WHO)
    ledger.open(Account(name="data", budget=profile), NOW)
    assert booked(ledger, told) == min(10, alone(told, Claim(epsilon=0.2, delta=1e-2, **WHO)))
    balance = recompute(ledger.store.entries()).accounts["data"]
    assert {one.at for one in balance.alive} == {"at epsilon 0.5", "at epsilon 0.2"}
    together = Repeat(part=small, times=len(balance.bookings))
    assert certify(together, profile).verdict == "certified"


def alone(certificate: Certificate, budget: Claim) -> int:
    """How many bookings a budget in epsilon and delta takes."""
    balance = Balance(account=Account(name="one", budget=budget), alive=Account(name="one", budget=budget).filters())
    costs = {name: price.cost for name, price in prices(certificate, balance.account.filters()).items()}
    taken = 0
    while alive := balance.after(costs):
        balance, taken = replace(balance, alive=alive), taken + 1
    return taken


def test_no_mu_below_that_of_an_epsilon_covers_its_randomised_response() -> None:
    """The event of probability e^eps / (1 + e^eps) against 1 / (1 + e^eps) needs exactly this mu."""
    cost = squared_mu(ApproximateLoss(epsilon=1.0, delta=0.0))
    assert cost is not None
    assert math.sqrt(cost.amount) == pytest.approx(MU_OF_ONE, rel=1e-8)
    assert squared_mu(ApproximateLoss(epsilon=1.0, delta=1e-9)) is None
    assert squared_mu(ApproximateLoss(epsilon=701.0, delta=0.0)) is None


def test_the_command_line_keeps_an_account_in_rho(tmp_path: Path) -> None:
    """Open, book, refuse and show in rho; two measures, and a delta beside rho, are usage errors."""
    file, certificate = tmp_path / "ledger.db", tmp_path / "certificate.json"
    certificate.write_text(certify(SUM, RhoClaim(rho=0.5, **WHO)).to_json(), encoding="utf-8")

    def run(*words: object) -> Any:
        return dpaudit("ledger", *map(str, words))

    opening = ("open", file, "--account", "data", "--unit", "one person")
    assert run(*opening, "--rho", 0.5, "--mu", 1).exit_code == 2
    assert run(*opening, "--rho", 0.5, "--delta", 1e-5).exit_code == 2
    assert run(*opening).exit_code == 2
    assert run(*opening, "--renyi", "2:1:3").exit_code == 2
    assert run(*opening, "--rho", 0.5).exit_code == 0
    assert run("book", file, certificate, "--account", "data", "--label", "first").exit_code == 0
    refused = run("book", file, certificate, "--account", "data", "--label", "second")
    assert (refused.exit_code, "rho = 0.5" in refused.output) == (1, True)
    shown = run("show", file, "--format", "json")
    Draft202012Validator(schemas.load("ledger")).validate(json.loads(shown.output))
    assert "rho so far at most 0.5" in run("show", file).output.replace("\n", " ").replace("   ", " ")
    assert run("verify", file).exit_code == 0
    assert run("report", file, "-o", tmp_path / "page").exit_code == 0


@pytest.mark.parametrize("amount", [("--renyi", "8:4;2:1.5"), ("--profile", "5:1e-3;6:1e-4")])
def test_the_command_line_keeps_an_account_of_several_points(tmp_path: Path, amount: tuple[str, str]) -> None:
    """Each order and each point has a line of its own, on the terminal, in JSON and on the page."""
    file, certificate = tmp_path / "ledger.db", tmp_path / "certificate.json"
    certificate.write_text(certify(SUM, RhoClaim(rho=0.5, **WHO)).to_json(), encoding="utf-8")
    assert dpaudit("ledger", "open", str(file), "--account", "data", "--unit", "one person", *amount).exit_code == 0
    books = [
        dpaudit("ledger", "book", str(file), str(certificate), "--account", "data", "--label", f"{n}") for n in (1, 2)
    ]
    assert [one.exit_code for one in books] == [0, 1]
    shown = dpaudit("ledger", "show", str(file), "--format", "json")
    Draft202012Validator(schemas.load("ledger")).validate(json.loads(shown.output))
    text = " ".join(dpaudit("ledger", "show", str(file)).output.split())
    assert all(f" at {name}" in text for name in (("order 2", "order 8") if "renyi" in amount[0] else ("epsilon 5",)))
    assert dpaudit("ledger", "verify", str(file)).exit_code == 0
    assert dpaudit("ledger", "report", str(file), "-o", str(tmp_path / "page")).exit_code == 0


def test_what_was_spent_is_never_said_to_exceed_the_budget() -> None:
    """Of nine tenths of a budget of epsilon 2 the odometer reads 2.4, for all moments; the filter keeps 2."""
    account = Account(name="data", budget=Claim(epsilon=2.0, delta=1e-4, **WHO), rule="concentrated")
    (spending,) = account.filters()
    nearly = replace(spending, spent=Cost(amount=spending.limit.amount * Fraction(9, 10)), events=1)
    assert Balance(account=account, alive=(nearly,)).reading(nearly) == 2.0
    little = replace(spending, spent=Cost(amount=spending.limit.amount / 100), events=1)
    assert 0 < Balance(account=account, alive=(little,)).reading(little) < 2.0


def test_a_refusal_names_the_square_of_mu(tmp_path: Path) -> None:
    """A budget of mu 0.5 is one of 0.25 in mu^2."""
    ledger = Ledger(store_at(str(tmp_path / "budget.db"), create=True))
    ledger.open(Account(name="data", budget=MuClaim(mu=0.5, **WHO)), NOW)
    refused = ledger.book("data", certify(SUM, MuClaim(mu=9.0, **WHO)), "a", NOW)
    assert isinstance(refused, Refusal)
    assert refused.reason.endswith("where 0.25 is left (in mu^2).")
