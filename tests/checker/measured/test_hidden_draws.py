"""Ends in rho, Renyi divergences and points of a profile where a draw is hidden are confirmed, and no smaller ones."""

import json
from collections import Counter

import pytest

from dpaudit import Allocate, BestOf, Claim, Declaration, Group, Local, Release, Subsample, certify, verify
from dpaudit.model.certificate import digest_of
from dpaudit.verifier.losses import Loss
from dpaudit.verifier.measured.ends import points_compared
from dpaudit.verifier.proof.derivation import checked_rows
from mechanisms import DiscreteGaussian, Gaussian, Laplace, PermuteAndFlip

NOISE = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")
COUNT = Release(label="count", mechanism=DiscreteGaussian(stddev=2.0, l2_sensitivity=1, neighbours="add_remove"))
SUM = Release(label="sum", mechanism=Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove"))
WIDE = Laplace(scale=10.0, l1_sensitivity=1.0, neighbours="add_remove")
BATCH = Subsample(
    part=Release(label="sum", mechanism=NOISE),
    rate=0.1,
    scheme="without_replacement",
    population=100,
    batch_size=10,
)
REPLACED = Subsample(part=SUM, rate=0.1)
CUT = Subsample(part=SUM, rate=0.5, scheme="truncated_poisson", population=4, batch_bound=2)
Place = tuple[str | int, ...]
CASES: dict[str, tuple[Declaration, Claim, Place]] = {
    "divergences of a batch": (BATCH, Claim(renyi=[(2.0, 0.5), (8.0, 3.0)], neighbours="replace_one"), ("renyi", 0)),
    "divergences of a replaced record": (REPLACED, Claim(renyi=[(2.0, 0.5)], neighbours="replace_one"), ("renyi", 0)),
    "rho of a replaced record": (REPLACED, Claim(rho=0.5, neighbours="replace_one"), ("rho",)),
    "divergences of a cut sample": (CUT, Claim(renyi=[(2.0, 0.5)], neighbours="add_remove"), ("renyi", 0)),
    "rho of a person on a sample": (Group(part=REPLACED, size=3), Claim(rho=1.0, neighbours="add_remove"), ("rho",)),
    "rho of a person in a batch": (Group(part=BATCH, size=2), Claim(rho=2.0, neighbours="add_remove"), ("rho",)),
    "rho of whole noise at a secret step": (
        Allocate(part=COUNT, steps=5),
        Claim(rho=0.5, neighbours="add_remove"),
        ("rho",),
    ),
    "mu of Laplace noise at secret steps": (
        Allocate(part=Release(label="sum", mechanism=WIDE), steps=20),
        Claim(mu=0.5, neighbours="add_remove"),
        ("mu",),
    ),
    "a profile of secret steps": (
        Allocate(part=SUM, steps=10),
        Claim(profile=[(0.5, 0.3)], neighbours="add_remove"),
        ("profile", 0),
    ),
}


def with_upper_end(text: str, place: Place, share: float = 0.0, end: float = 0.0) -> str:
    """Return a certificate with another upper end: a share less, or a number."""
    data = json.loads(text)
    held = data["tight"]
    for key in place:
        held = held[key]
    held["upper"] = end or held["upper"] * (1 - share)
    data["digest"] = digest_of(data)
    return json.dumps(data)


@pytest.mark.parametrize("case", CASES)
def test_an_end_of_a_hidden_draw_is_confirmed_and_one_below_it_is_not(case: str) -> None:
    """The moment is an integral of both signs' curves; whole noise has the divergences of the release that holds it."""
    declaration, claim, place = CASES[case]
    found = certify(declaration, claim).to_json()
    assert verify(found).accepted
    assert not verify(with_upper_end(found, place, share=1e-3)).accepted


def test_the_best_run_under_whole_noise_has_no_rho_by_the_curve_of_gaussian_noise() -> None:
    """Whole noise has at most the divergences of Gaussian noise, and no smaller curve; both enter the rho."""
    run = BestOf(part=COUNT, law="geometric", gamma=0.5)
    honest = certify(run, Claim(rho=0.1, neighbours="add_remove")).to_json()
    assert verify(honest).accepted
    told = with_upper_end(honest, ("rho",), end=1.0)
    data = json.loads(told.replace("No finite bound on rho is proved", "It is proved that rho is at most 1 only"))
    data["digest"] = digest_of(data)
    forged = verify(json.dumps(data))
    assert not forged.complaints
    assert any("not confirmed" in why for why in forged.unconfirmed)


def test_a_lower_end_where_no_pair_is_known_is_open_and_contradicts_nothing() -> None:
    """Nothing known is not nothing attained, be it of one pair of two. A twin: all pairs are known."""
    choice = Release(label="c", mechanism=PermuteAndFlip(scale=2.8, linf_sensitivity=1.0, neighbours="add_remove"))
    tree = Subsample(part=Local(part=choice), rate=0.3)
    found = certify(tree, Claim(rho=0.3, neighbours="add_remove")).to_json()
    verified = verify(found)
    assert not verified.complaints
    assert any("the lower bound on rho" in why for why in verified.unconfirmed)
    data = json.loads(found)
    data["tight"]["rho"]["lower"] = data["tight"]["rho"]["upper"] * 1.1
    data["digest"] = digest_of(data)
    assert not verify(json.dumps(data)).accepted
    known, unknown = Counter[Loss]([("laplace", 0.1)]), Counter[Loss]()
    data["tight"] = {"rho": {"lower": 0.2, "upper": 0.29}}
    for attained, complained in (([known], True), ([known, unknown], False), ([unknown], False)):
        outcome = points_compared(data, checked_rows(data), attained)
        assert bool(outcome.wrong) == complained
        assert bool(outcome.unconfirmed) or complained
