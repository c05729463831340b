"""Certificates of every effort are confirmed: a quick one is wider than the checker's bracket, a sharp one narrower."""

import json
from functools import cache
from typing import get_args

import pytest

from dpaudit import Allocate, Certificate, Claim, Declaration, Release, Repeat, Sequential, Subsample, certify
from dpaudit.documents.markdown import markdown
from dpaudit.documents.terminal import terminal, to_text
from dpaudit.gate.comparison import compare
from dpaudit.model.bracket import Effort
from dpaudit.model.claim import Neighbours
from dpaudit.render.certificate import certificate_document
from dpaudit.verifier import verify
from mechanisms import DiscreteGaussian, Gaussian, Laplace
from tests.checker.forging import resealed

ADDED = Release(label="sum", mechanism=Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove"))
KINDS = tuple(
    Release(label="sum", mechanism=Laplace(scale=10.0 + i / 3, l1_sensitivity=1.0, neighbours="replace_one"))
    for i in range(9)
)
WHOLE = Release(label="count", mechanism=DiscreteGaussian(stddev=10.0, l2_sensitivity=3, neighbours="replace_one"))
CASES: dict[str, tuple[Declaration, Neighbours, float]] = {
    "poisson": (Repeat(part=Subsample(part=ADDED, rate=0.1), times=20), "add_remove", 1.27013),
    "allocated": (Allocate(part=ADDED, steps=20, epochs=4), "add_remove", 1.01734),
    "many kinds": (Sequential(parts=(*KINDS, *KINDS)), "replace_one", 1.4448),
    "discrete": (Repeat(part=WHOLE, times=100), "replace_one", 18.1635),
}
"""Declarations with an epsilon next to the one at delta 1e-6, on both sides of which a claim lies."""


@cache
def certified(name: str, effort: Effort, factor: float) -> Certificate:
    tree, neighbours, epsilon = CASES[name]
    return certify(tree, Claim(epsilon=epsilon * factor, delta=1e-6, neighbours=neighbours), effort=effort)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("effort", ["quick", "sharp"])
@pytest.mark.parametrize("factor", [1.1, 0.8])
def test_the_checker_confirms_every_effort(name: str, effort: Effort, factor: float) -> None:
    found = verify(certified(name, effort, factor).to_json())
    assert (found.complaints, found.unconfirmed) == ((), ())
    assert found.verdict == ("certified" if factor > 1 else "refuted")


def test_a_loose_end_of_a_quick_certificate_is_told_with_both_numbers() -> None:
    """The stated end and the bracket of the checker; a default certificate with this end is unconfirmed."""
    data = json.loads(certified("discrete", "quick", 1.1).to_json())
    upper = data["tight"]["delta"]["upper"] = 3 * data["tight"]["delta"]["upper"]
    told = [
        note for note in verify(resealed(data)).notes if note.startswith("True, but loose: the upper bound on delta")
    ]
    assert len(told) == 1
    assert f"{upper:.9g}" in told[0]
    assert "bracket [" in told[0]
    assert verify(resealed(data | {"effort": "default"})).unconfirmed


@pytest.mark.parametrize("effort", get_args(Effort))
def test_no_effort_excuses_an_end_on_the_wrong_side(effort: Effort) -> None:
    """An upper end below what is attained, and a lower one above what is proved, contradict the declaration."""
    for side, factor in (("upper", 0.97), ("lower", 1.03)):
        data = json.loads(certified("discrete", effort, 1.1).to_json())
        ends = data["tight"]["delta"]
        ends["lower"] = ends["upper"] = ends[side] * factor
        complaints = verify(resealed(data)).complaints
        assert any("wrong side" in complaint for complaint in complaints), (side, complaints)


def test_a_closed_form_is_sharp_at_every_effort() -> None:
    """One Gaussian release is known exactly, so that a loose end of it is not confirmed."""
    noise = Release(label="sum", mechanism=Gaussian(stddev=5.0, l2_sensitivity=1.0, neighbours="replace_one"))
    claim = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
    data = json.loads(certify(noise, claim, effort="quick").to_json())
    assert verify(resealed(data)).accepted
    data["tight"]["delta"]["upper"] *= 1.01
    verified = verify(resealed(data))
    assert verified.unconfirmed
    assert not verified.accepted


@pytest.mark.parametrize("effort", ["slow", "", None, 1])
def test_an_unknown_effort_is_refused(effort: object) -> None:
    data = json.loads(certified("allocated", "default", 1.1).to_json())
    assert verify(resealed(data | {"effort": effort})).verdict == "refused"
    del data["effort"]
    assert verify(resealed(data)).verdict == "refused"


def test_the_next_question_is_asked_with_the_effort_of_the_certificate() -> None:
    """A quick certificate answers with its own bracket; another effort is asked for by name."""
    quick = certified("discrete", "quick", 1.1)
    assert quick.delta_at(quick.claim.epsilon) == quick.tight.delta
    assert quick.epsilon_at(quick.claim.delta) == quick.tight.epsilon
    sharp = quick.delta_at(quick.claim.epsilon, "sharp")
    assert quick.tight.delta.lower < sharp.lower <= sharp.upper
    assert 10 * (sharp.upper - sharp.lower) < quick.tight.delta.upper - quick.tight.delta.lower
    assert Certificate.from_json(quick.to_json()) == quick


def test_another_effort_is_a_change_that_nobody_ranks() -> None:
    """It stands beside the wider bound that it explains; a report that says none is compared without it."""
    both = certified("allocated", "quick", 1.1), certified("allocated", "default", 1.1)
    quick, default = ({"certificate": one.to_dict(), "audits": []} for one in both)
    rows = {change.what: change for change in compare(default, quick)}
    assert (rows["effort"].before, rows["effort"].after, rows["effort"].direction) == ("default", "quick", "other")
    assert rows["certified delta"].direction == "worse"
    older = {"certificate": {k: v for k, v in both[1].to_dict().items() if k != "effort"}, "audits": []}
    assert "effort" not in {change.what for change in compare(older, quick)}


def test_an_effort_that_is_not_the_default_is_printed() -> None:
    quick, default = certified("discrete", "quick", 1.1), certified("discrete", "default", 1.1)
    shown = [
        (to_text(terminal(certificate_document(one)), width=120), markdown(certificate_document(one)))
        for one in (quick, default)
    ]
    assert all("effort quick" in text for text in shown[0])
    assert not any("effort" in text for text in shown[1])
