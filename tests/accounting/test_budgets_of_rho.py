"""Releases within a budget of rho: what follows in each measure, and what the checker makes of a forged one."""

import json
import math

import numpy as np
import pytest

from dpaudit import Claim, DPAuditError, Group, Release, Repeat, Sequential, Subsample, certify
from dpaudit.accounting.curves.renyi_divergence import rho_above
from dpaudit.model.certificate import digest_of
from dpaudit.model.declaration import Declaration, Filtered
from dpaudit.model.losses import ApproximateLoss, Composition, DiscreteLoss, GaussianLoss, LaplaceLoss
from dpaudit.model.losses.composed import StitchedLoss
from dpaudit.model.losses.concentrated import concentrated_delta
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim
from dpaudit.model.trace import Released, admit
from dpaudit.verifier import verify
from dpaudit.verifier.cells import cumulants_of_sample
from mechanisms import DiscreteGaussian, Exponential, Gaussian, Laplace, TruncatedDiscreteGaussian

NOISE = Gaussian(stddev=20.0, l2_sensitivity=1.0, neighbours="add_remove")
COUNT = Release(label="count", mechanism=NOISE)
CHOICE = Release(label="choice", mechanism=Exponential(epsilon=0.1, linf_sensitivity=1.0, neighbours="add_remove"))
SUM = Release(label="sum", mechanism=Laplace(scale=20.0, l1_sensitivity=1.0, neighbours="add_remove"))
WHOLE = Release(label="whole", mechanism=DiscreteGaussian(stddev=20.0, l2_sensitivity=1, neighbours="add_remove"))
BUDGET = Filtered(parts=(COUNT, CHOICE), rho=0.03)
PARTS = Sequential(parts=(BUDGET, SUM, Repeat(part=CHOICE, times=3)))


def source_delta(rho: float, epsilon: float) -> float:
    """Return the bound of Canonne, Kamath and Steinke (2020), Corollary 13, at the best of many orders."""
    powers = (math.exp(n / 2_000) for n in range(-4_000, 14_000))
    constants = ((s, (1 + s) * math.log1p(1 / s) + math.log(s)) for s in powers)
    return math.exp(min(s * (1 + s) * rho - s * epsilon - c for s, c in constants))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 8.0])
@pytest.mark.parametrize(
    ("loss", "rho"),
    [
        (GaussianLoss(mu=1.0), 0.5),
        (GaussianLoss(mu=0.1), 0.005),
        (LaplaceLoss(shift=1.0), math.exp(-1)),
        (ApproximateLoss(epsilon=1.5), 1.5 * math.tanh(0.75)),
    ],
)
def test_no_law_of_a_rho_has_a_larger_delta(loss: GaussianLoss, rho: float, epsilon: float) -> None:
    """And the bound is no larger than that of the source, at the best of many orders."""
    assert loss.hockey_stick(epsilon) <= concentrated_delta(rho, epsilon) * (1 + 1e-12)
    assert concentrated_delta(rho, epsilon) <= min(1.0, source_delta(rho, epsilon)) * (1 + 1e-6) + 1e-300


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho"), [(1.0, 1e-5, 0.030557), (1.0, 1e-9, 0.014973), (3.0, 1e-6, 0.18507)]
)
def test_a_rho_at_the_inequality_of_the_source_has_room_for_rounding(epsilon: float, delta: float, rho: float) -> None:
    """Libraries compute rho so; a bound with the mean M in the place of M - 1 would be too large by rounding."""
    assert source_delta(rho, epsilon) == pytest.approx(delta, rel=1e-3)
    assert concentrated_delta(rho, epsilon) < source_delta(rho, epsilon) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("tree", "claim", "verdict"),
    [
        (BUDGET, Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove"), "certified"),
        (BUDGET, Claim(epsilon=0.98, delta=1e-5, neighbours="add_remove"), "not_proved"),
        (BUDGET, Claim(epsilon=9.0, neighbours="add_remove"), "not_proved"),
        (BUDGET, RhoClaim(rho=0.03, neighbours="add_remove"), "certified"),
        (BUDGET, RhoClaim(rho=0.0299, neighbours="add_remove"), "not_proved"),
        (BUDGET, RenyiClaim(renyi=((4.0, 0.12),), neighbours="add_remove"), "certified"),
        (BUDGET, MuClaim(mu=9.0, neighbours="add_remove"), "not_proved"),
        (BUDGET, ProfileClaim(profile=((1.0, 1e-5), (0.5, 0.01)), neighbours="add_remove"), "certified"),
        (Group(part=BUDGET, size=3), RhoClaim(rho=0.27, neighbours="add_remove"), "certified"),
        (Group(part=BUDGET, size=3), RhoClaim(rho=0.26, neighbours="add_remove"), "not_proved"),
        (PARTS, Claim(epsilon=1.2, delta=1e-5, neighbours="add_remove"), "certified"),
        (PARTS, RhoClaim(rho=0.036, neighbours="add_remove"), "certified"),
        (Filtered(parts=(WHOLE,), rho=0.03), Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove"), "certified"),
    ],
)
def test_a_budget_has_its_rho_and_what_follows_from_it(
    tree: Declaration, claim: Claim | MeasuredClaim, verdict: str
) -> None:
    """From above in each measure, and derived again; from below nothing is known of it."""
    certificate = certify(tree, claim)
    assert certificate.verdict == verdict, certificate.reasons
    assert verify(certificate.to_json()).accepted, verify(certificate.to_json())


def test_a_forged_end_of_a_budget_is_not_confirmed() -> None:
    """A smaller upper end, with the claim, reason and digest to fit."""
    honest = certify(BUDGET, Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove"))
    data = json.loads(honest.to_json().replace('"epsilon": 1.0', '"epsilon": 0.9'))
    data["tight"]["epsilon"]["upper"] = 0.89
    data["reasons"] = [
        "The declared releases are proved to cost at most epsilon 0.89 at delta 1e-05, within the claimed 0.9."
    ]
    assert not verify(json.dumps(data | {"digest": digest_of(data)})).accepted


def test_a_part_without_a_rho_and_a_budget_on_a_sample_are_refused() -> None:
    """Cut noise has outputs that one neighbour alone can have; on a sample no law says what a rare record shows."""
    cut = TruncatedDiscreteGaussian(stddev=3.0, cut=10.0, l2_sensitivity=1, neighbours="add_remove")
    claim = Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove")
    with pytest.raises(DPAuditError, match="no finite rho"):
        certify(Filtered(parts=(Release(label="cut", mechanism=cut),), rho=0.03), claim)
    with pytest.raises(DPAuditError, match="'poisson' over 'filtered'"):
        certify(Subsample(part=BUDGET, rate=0.1), claim)


def test_a_trace_may_make_any_number_of_a_budgets_releases_with_any_noise() -> None:
    """The twin: a label that no part has is undeclared."""
    often = Released(label="count", mechanism=NOISE.scaled(3.0), times=5)
    assert admit(BUDGET, (often,)) == ()
    assert [found.rule for found in admit(BUDGET, (Released(label="other", mechanism=NOISE),))] == ["DPA213"]


@pytest.mark.parametrize(("times", "found"), [(1, []), (6, []), (0, ["DPA213"])])
def test_a_budget_admits_releases_that_are_declared_beside_it_as_well(times: int, found: list[str]) -> None:
    """One release stands beside the budget, and the budget pays for others. The twin lacks the one."""
    beside = Sequential(parts=(BUDGET, COUNT))
    run = tuple(Released(label="count", mechanism=NOISE.scaled(1.0 + step)) for step in range(times))
    assert [finding.rule for finding in admit(beside, run)] == found


def test_noise_that_a_budget_admits_is_not_that_of_the_release_beside_it() -> None:
    """Two releases of other noise are the budget's: the declared one is missing. Twin: one has the declared noise."""
    louder = Released(label="count", mechanism=NOISE.scaled(2.0))
    beside = Sequential(parts=(BUDGET, COUNT))
    assert [finding.rule for finding in admit(beside, (louder, louder))] == ["DPA213"]
    assert not admit(beside, (louder, Released(label="count", mechanism=NOISE)))


@pytest.mark.parametrize("steps", [1, 100])
def test_a_budget_beside_a_sampled_release_is_confirmed(steps: int) -> None:
    """Their moments multiply. Twin: the same certificate with twice the rate is contradicted or not confirmed."""
    noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
    sample = Subsample(part=Release(label="gradient", mechanism=noise), rate=0.01)
    tree = Sequential(parts=(Filtered(parts=(COUNT,), rho=0.1), Repeat(part=sample, times=steps)))
    certificate = certify(tree, Claim(epsilon=2.2, delta=1e-5, neighbours="add_remove"))
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted
    data = json.loads(certificate.to_json())
    data["declaration"]["parts"][1]["part"]["rate"] = 0.1
    for row in data["derivation"]:
        row["parameters"] |= {"rate": 0.1} if "rate" in row["parameters"] else {}
    data["digest"] = digest_of(data)
    assert not verify(json.dumps(data)).accepted


@pytest.mark.parametrize(("rate", "mu"), [(0.01, 1.0), (0.2, 0.5), (0.5, 3.0)])
def test_cumulants_of_a_sample_are_exact_at_whole_orders(rate: float, mu: float) -> None:
    """Of order 2 it is ln(1 + q^2 (e^(mu^2) - 1)). Twin: the release without its sample has mu^2."""
    powers = np.array([1.0, 1.5, 2.0])
    found = cumulants_of_sample(rate, mu, powers)
    second = math.log1p(rate**2 * math.expm1(mu**2))
    weights = [math.comb(3, k) * rate**k * (1 - rate) ** (3 - k) for k in range(4)]
    third = math.log(math.fsum(w * math.exp((k * k - k) * mu**2 / 2) for k, w in enumerate(weights)))
    assert found[[0, 2]] == pytest.approx([second, third], rel=1e-8)
    assert found[0] < mu**2 * 0.99
    assert found[1] <= (second + third) / 2 * (1 + 1e-8) + 1e-12


def test_a_loss_whose_moments_are_not_bounded_has_the_rho_of_its_largest_value() -> None:
    """Of two orders stitched together one may lose a little for certain: no moment is finite, and rho was no number."""
    laws = ((-0.7, 0.4), (0.0, 0.18), (3.7, 0.42))
    inverse = tuple((-value, mass * math.exp(-value)) for value, mass in laws[::-1])
    lost = 1 - math.fsum(mass for _, mass in inverse)
    positive = DiscreteLoss(atoms=laws, reverse_infinite_mass=lost)
    negative = DiscreteLoss(atoms=inverse, infinite_mass=lost)
    found = rho_above(Composition.of(StitchedLoss(positive=positive, negative=negative)))
    assert 0 < found <= 3.7 * (1 + 1e-6)
