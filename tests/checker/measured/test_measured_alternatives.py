"""Of parts of which a record meets one, each is bounded by itself in every measure."""

import json
from collections import Counter

import pytest

from dpaudit import Claim, Parallel, Release, certify, verify
from dpaudit.model.certificate import digest_of
from dpaudit.verifier.curve import Worst
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


def test_a_chord_that_spans_a_corner_of_the_curve_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: nine epsilons for all chords, between which mu is at most .08, where .0766 is proved."""
    declaration, claim, _ = CASES["two choices in mu"]
    found = certify(declaration, claim).to_json()
    monkeypatch.setattr(divergences, "_KNOTS", 9)
    assert verify(found).unconfirmed


def test_mu_of_a_curve_lies_between_its_bounds_at_all_epsilons() -> None:
    """Between two losses that are each seen at one epsilon best: no lower bound above an upper one, and both close."""
    both = [Counter({("laplace", 0.3): 2}), Counter({("laplace", 0.55): 1})]
    low, high = divergences._mu_of_curve(Worst(both))
    shown = [divergences._mu_at(at, Worst(both).delta(at)[0]) for at in (0.0, 0.1, 0.2, 0.4)]
    assert max(shown) <= low * (1 + 1e-6)
    assert low <= high <= low * (1 + 1e-4)
