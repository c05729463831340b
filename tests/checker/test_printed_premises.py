"""Published arguments that are not valid although their arithmetic is: too few slots, and parts of a sample."""

from dataclasses import replace
from typing import Any

import pytest

from dpaudit import Allocate, Claim, Printed, Release, Repeat, Sequential, Subsample, certify, verify
from dpaudit.model.claim import Neighbours
from dpaudit.model.codec import encode
from dpaudit.model.declaration import Declaration
from dpaudit.printed.argument import replay
from dpaudit.verifier.printed import printed_complaints
from mechanisms import Gaussian, Laplace

DELTA = 1e-5


def release(scale: float, neighbours: Neighbours = "replace_one") -> Release:
    """A release of epsilon 1 / scale."""
    return Release(label="a", mechanism=Laplace(scale=scale, l1_sensitivity=1.0, neighbours=neighbours))


def valid_for_both(tree: Declaration, claim: Claim) -> bool:
    """Whether the printed argument is valid; the checker comes to the same conclusion, and no other is accepted."""
    reading = replay(tree, claim)
    plain = {"epsilon": reading.epsilon, "delta": reading.delta, "valid": reading.valid}
    rows = [{"node": row.node, "rule": row.rule, "message": row.message} for row in reading.problems]
    told = {"neighbours": claim.neighbours, "epsilon": claim.epsilon, "delta": claim.delta}
    assert printed_complaints(plain | {"problems": rows}, encode(tree), told) == []
    assert printed_complaints(plain | {"problems": rows, "valid": not reading.valid}, encode(tree), told)
    return reading.valid


def read(tree: Declaration, claim: Claim) -> tuple[str, bool]:
    """The verdict, and whether the printed argument is valid, of a certificate that the checker accepts."""
    certificate = certify(tree, claim)
    assert verify(certificate.to_json()).complaints == ()
    assert certificate.printed is not None
    return certificate.verdict, certificate.printed.valid


RULES = ("basic", "advanced", "advanced_refined", "advanced_short", "optimal")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("slots", "valid"), [(1.0, False), (999.0, False), (1000.0, True), (1000.5, True)])
def test_slots_that_cover_fewer_parts_than_there_are_prove_nothing(rule: str, slots: float, valid: bool) -> None:
    """One premise for every rule with slots; of one slot a claim that is refuted was called valid."""
    short = 1.0 if valid or rule == "optimal" else slots / 1000
    epsilon = {"basic": 10.01, "advanced_short": 1.0}.get(rule, 2.0) * (short if rule == "basic" else 1.0)
    noise = release(400.0 if rule == "advanced_short" else 100.0)
    printed = Printed(rule=rule, epsilon=epsilon, delta=DELTA, slots=slots)
    claim = Claim(epsilon=epsilon, delta=DELTA, neighbours="replace_one")
    assert valid_for_both(Repeat(part=noise, times=1000, printed=printed), claim) == valid


@pytest.mark.parametrize(("delta", "valid"), [(0.0, False), (1e-3, True)])
def test_no_epsilon_is_proved_of_gaussian_noise_at_delta_zero(delta: float, valid: bool) -> None:
    """At epsilon 6.5 the curve is some e^-45000: no number that is told from 0, and yet none."""
    noise = Gaussian(stddev=65.0, l2_sensitivity=1.4, neighbours="replace_one")
    printed = Printed(rule="analytic_gaussian", epsilon=6.5, delta=delta)
    claim = Claim(epsilon=6.5, delta=delta, neighbours="replace_one")
    assert valid_for_both(Release(label="a", mechanism=noise, printed=printed), claim) == valid


def test_the_refuted_claim_has_no_valid_argument() -> None:
    """A thousand releases of .01 in one slot, at a claim of .5 that is false."""
    printed = Printed(rule="advanced", epsilon=0.5, delta=DELTA, slots=1.0)
    claim = Claim(epsilon=0.5, delta=DELTA, neighbours="replace_one")
    assert read(Repeat(part=release(100.0), times=1000, printed=printed), claim) == ("refuted", False)


POISSON: dict[str, Any] = {"rate": 1.0}
CUT: dict[str, Any] = {"rate": 0.9, "scheme": "truncated_poisson", "population": 12, "batch_bound": 2}
SAMPLED: dict[str, tuple[Declaration, Neighbours, float]] = {
    "poisson": (Subsample(part=release(2.0, "add_remove"), **POISSON), "replace_one", 1.0),
    "poisson, removed": (Subsample(part=release(2.0, "add_remove"), **POISSON), "add_remove", 0.5),
    "secret steps": (Allocate(part=release(2.0, "add_remove"), steps=1), "replace_one", 1.0),
    "secret steps, removed": (Allocate(part=release(2.0, "add_remove"), steps=1), "add_remove", 0.5),
    "all steps": (Allocate(part=release(2.0, "add_remove"), steps=3, per_epoch=3, epochs=2), "add_remove", 3.0),
    "a cut sample": (Subsample(part=release(2.0, "add_remove"), **CUT), "add_remove", 1.0),
    "copies": (
        Subsample(part=release(2.0), rate=3.0 / 4, scheme="with_replacement", population=4, batch_size=3),
        "replace_one",
        1.5,
    ),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_basic_composition_counts_the_moves_of_a_samples_part(name: str) -> None:
    """A replaced record leaves and enters, copies add up, and steps are met as often as they are; no less is valid."""
    tree, neighbours, epsilon = SAMPLED[name]
    for told, valid in ((epsilon, True), (epsilon * 0.999, False)):
        printed = Printed(rule="basic", epsilon=told)
        claim = Claim(epsilon=told, neighbours=neighbours)
        assert valid_for_both(Sequential(parts=(tree,), printed=printed), claim) == valid


def test_half_of_the_truth_is_not_valid() -> None:
    """Of a sample of rate 1 whose record is replaced; the claim itself is not proved."""
    tree = Sequential(parts=(SAMPLED["poisson"][0],), printed=Printed(rule="basic", epsilon=0.5))
    claim = Claim(epsilon=0.5, neighbours="replace_one")
    assert read(tree, claim) == ("not_proved", False)
    assert read(tree, replace(claim, neighbours="add_remove")) == ("certified", True)


def test_optimal_composition_of_a_part_that_may_lose_all_concludes_nothing() -> None:
    """Parts whose deltas add up to 1 have no logarithm of what is kept; the certificate is made, and is confirmed."""
    noise = Laplace(scale=10.0, l1_sensitivity=1.0, neighbours="add_remove")
    lost = Release(label="count", mechanism=noise, printed=Printed(rule="laplace", epsilon=0.1, delta=0.6))
    inside = Repeat(part=lost, times=2)
    tree = Sequential(parts=(inside, lost), printed=Printed(rule="optimal", epsilon=0.3, delta=1e-6))
    claim = Claim(epsilon=0.35, delta=1e-6, neighbours="add_remove")
    certificate = certify(tree, claim)
    assert certificate.printed is not None
    assert not certificate.printed.valid
    assert verify(certificate.to_json()).complaints == ()
