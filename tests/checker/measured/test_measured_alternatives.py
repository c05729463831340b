"""Of parts of which a record meets one, each is bounded by itself in every measure."""

import json

import pytest

from dpaudit import Claim, Parallel, Release, certify, verify
from dpaudit.model.certificate import digest_of
from dpaudit.verifier.measured import divergences
from mechanisms import Exponential, NoisyPlurality, PermuteAndFlip

FLIP = PermuteAndFlip(scale=11.7, linf_sensitivity=1.0, neighbours="add_remove")
DRAWN = Exponential(epsilon=0.3, linf_sensitivity=1.0, neighbours="add_remove")
VOTES = NoisyPlurality(stddev=0.47, neighbours="add_remove")


def parts(*mechanisms: Exponential | NoisyPlurality | PermuteAndFlip) -> Parallel:
    return Parallel(parts=tuple(Release(label=each.name, mechanism=each) for each in mechanisms), key="the region")


CASES = {
    "two choices in mu": (parts(DRAWN, FLIP), Claim(mu=0.5, neighbours="add_remove"), ("mu",)),
    "votes and a choice in a divergence": (
        parts(FLIP, VOTES),
        Claim(renyi=[(2.0, 10.0)], neighbours="add_remove"),
        ("renyi", 0),
    ),
}


def lowered(text: str, place: tuple[str | int, ...]) -> str:
    """Return a certificate whose upper end is a relative 1e-5 smaller."""
    data = json.loads(text)
    end = data["tight"]
    for key in place:
        end = end[key]
    end["upper"] *= 1 - 1e-5
    data["digest"] = digest_of(data)
    return json.dumps(data)


@pytest.mark.parametrize("case", CASES)
def test_each_alternative_is_bounded_over_its_own_losses(case: str) -> None:
    declaration, claim, place = CASES[case]
    found = certify(declaration, claim).to_json()
    assert verify(found).accepted
    assert not verify(lowered(found, place)).accepted


def test_a_curve_that_goes_on_beyond_its_largest_loss_bounds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: heights of the choice of .171 up to the largest loss of the other one, .3."""
    closed = divergences._closed
    monkeypatch.setattr(divergences, "_closed", lambda loss, at: closed(loss, at * (0.3 / loss[1])))
    declaration, claim, _ = CASES["two choices in mu"]
    assert verify(certify(declaration, claim).to_json()).unconfirmed
