"""What stands at the ends of a declaration: no noise, no bound, no sample, one direction only."""

import json
import math
import re
from typing import Any

import numpy as np
import pytest

import mechanisms
from dpaudit import Claim, Release, Stated, Subsample, bracket_delta, bracket_epsilon, certify, fold, verify
from dpaudit.certification.certificate import Certificate
from dpaudit.engines.pairs.allocation import _window
from dpaudit.errors import Fault
from dpaudit.model.claim import Neighbours
from dpaudit.model.codec import decode_declaration
from dpaudit.model.declaration import Allocate, Declaration, Group, Parallel, Repeat, Scheme, Sequential, Shuffle
from dpaudit.verifier.mechanisms import sides_of
from dpaudit.verifier.refusals import Rejection

OPEN = mechanisms.Finite(first=(1, 0), second=(0, 1), neighbours="add_remove")
TOLD = Stated(epsilon=1.0, source="a vendor")


def test_a_release_without_noise_has_no_epsilon() -> None:
    """Infinity on both sides below delta 1, delta 1 at every epsilon, and every claim refuted."""
    form = fold(Release(label="table", mechanism=OPEN), "add_remove")
    found = bracket_epsilon(form, 0.5)
    assert found.lower == found.upper == math.inf
    assert bracket_delta(form, 50.0).lower == pytest.approx(1.0)
    claim = Claim(epsilon=50.0, delta=0.5, neighbours="add_remove")
    assert certify(Release(label="table", mechanism=OPEN), claim).verdict == "refuted"


def test_no_noise_names_the_mechanism_that_says_it() -> None:
    """Each scale of noise refuses 0 with its own name."""
    related: Neighbours = "add_remove"
    with pytest.raises(ValueError, match=r"stddev=0.*'finite'"):
        mechanisms.Gaussian(stddev=0, l2_sensitivity=1, neighbours=related)
    with pytest.raises(ValueError, match=r"stddev=0.*'finite'"):
        mechanisms.DiscreteGaussian(stddev=0, l2_sensitivity=1, neighbours=related)
    with pytest.raises(ValueError, match=r"scale=0.*'finite'"):
        mechanisms.Laplace(scale=0, l1_sensitivity=1, neighbours=related)
    with pytest.raises(ValueError, match=r"scale=0.*'finite'"):
        mechanisms.DiscreteLaplace(scale=0, l1_sensitivity=1, neighbours=related)


SIZES = {
    mechanisms.Gaussian: {"stddev": 1.0, "l2_sensitivity": 1.0},
    mechanisms.Laplace: {"scale": 1.0, "l1_sensitivity": 1.0},
    mechanisms.BallLaplace: {"dimension": 3, "scale": 1.0, "l2_sensitivity": 1.0},
    mechanisms.SymmetricGaussian: {"stddev": 1.0, "l2_sensitivity": 1.0},
    mechanisms.JointGaussian: {"matrix_stddev": 1.0, "vector_stddev": 1.0, "feature_bound": 1.0, "target_bound": 1.0},
    mechanisms.Exponential: {"epsilon": 1.0, "linf_sensitivity": 1.0},
    mechanisms.ReportNoisyMax: {"scale": 1.0, "linf_sensitivity": 1.0},
    mechanisms.OneSidedWishart: {"dimension": 2, "scale": 1.0, "trace_sensitivity": 1.0},
    mechanisms.SymmetrisedWishart: {"dimension": 2, "scale": 1.0, "nuclear_sensitivity": 1.0},
}
"""Mechanisms with sizes that are no whole numbers."""


@pytest.mark.parametrize("family", SIZES, ids=lambda family: family.name)
def test_sizes_that_floating_point_blurs_are_refused_where_they_are_written(family: Any) -> None:
    """One line that names the value and the rule, in the project and in the checker, from 1e-140 to 1e140."""
    fields = SIZES[family]
    names = [name for name in fields if name not in ("dimension", "epsilon")]
    for name in names:
        for value in (5e-324, 2.7205e-162, 9.9e-141, 1.1e140, 1e308):
            with pytest.raises(ValueError, match=rf"Expected {name}={re.escape(repr(value))} in \[1e-140, 1e140\]"):
                family(**fields | {name: value}, neighbours="add_remove")
            with pytest.raises(Rejection, match=f"{name}={re.escape(repr(value))} is outside 1e-140 to 1e140"):
                sides_of({"name": family.name} | fields | {name: value}, "add_remove")
    for value in (1e-140, 1e140):
        held = fields | dict.fromkeys(names, value)
        if family is not mechanisms.JointGaussian:  # squares of bounds are compared with noise
            family(**held, neighbours="add_remove")
        assert sides_of({"name": family.name} | fields, "add_remove")[0]


def test_joint_noise_that_underflows_is_refused() -> None:
    """Bounds next to no floats beside noise of 5e-324 were certified at half of their mu."""
    small = {"matrix_stddev": 5e-324, "vector_stddev": 1.0, "feature_bound": 2.7205e-162, "target_bound": 1.0}
    with pytest.raises(ValueError, match=r"Expected matrix_stddev=5e-324 in \[1e-140, 1e140\]"):
        mechanisms.JointGaussian(**small, neighbours="replace_one")
    far = {"matrix_stddev": 1e100, "vector_stddev": 1.0, "feature_bound": 1e-30, "target_bound": 1.0}
    with pytest.raises(ValueError, match=r"Expected matrix_stddev=1e\+100 to be at most the bounds' product \* 1e150"):
        mechanisms.JointGaussian(**far, neighbours="replace_one")
    with pytest.raises(Rejection, match="the noise of a matrix or a vector is out of range"):
        sides_of({"name": "joint_gaussian"} | far, "replace_one")


def checked(node: Declaration, claim: Claim) -> Certificate:
    """The certificate of a declaration, once its strict JSON is accepted by the checker."""
    found = certify(node, claim)
    text = found.to_json()
    assert "Infinity" not in text
    assert verify(text).accepted, verify(text)
    return found


VAGUE = Stated(epsilon=math.inf, source="a vendor")
ONE = Release(label="sum", mechanism=mechanisms.Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove"))
SHOWN: dict[str, Declaration] = {
    "alone": VAGUE,
    "with a delta": Stated(epsilon=math.inf, delta=0.1, source="a vendor"),
    "often": Repeat(part=VAGUE, times=3),
    "beside noise": Sequential(parts=(VAGUE, ONE)),
    "or noise": Parallel(parts=(VAGUE, ONE), key="a region"),
    "or noise, often": Repeat(part=Parallel(parts=(VAGUE, ONE), key="a region"), times=2),
    "of a person": Group(part=VAGUE, size=3),
    "at a secret step": Allocate(part=VAGUE, steps=4),
}


@pytest.mark.parametrize("case", SHOWN)
def test_a_stated_epsilon_of_infinity_proves_nothing(case: str) -> None:
    """Delta is 1 from above, and nothing is refuted that the noise beside it does not refute."""
    claim = Claim(epsilon=1.0, delta=0.999, neighbours="add_remove")
    found = checked(SHOWN[case], claim)
    assert found.verdict == "not_proved"
    assert found.tight.delta.upper == 1
    assert found.tight.epsilon.upper == math.inf
    assert decode_declaration(json.loads(found.to_json())["declaration"], "add_remove") == SHOWN[case]


def test_a_forged_finite_end_of_an_infinite_epsilon_is_found() -> None:
    """The broken twin: a certificate that bounds what nothing bounds."""
    text = checked(VAGUE, Claim(epsilon=1.0, delta=0.5, neighbours="add_remove")).to_json()
    forged = json.loads(text)
    forged["tight"]["epsilon"]["upper"] = 50.0
    assert not verify(json.dumps(forged)).accepted


@pytest.mark.parametrize("scheme", ["poisson", "without_replacement"])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_what_hides_nothing_is_hidden_by_its_sample(neighbours: Neighbours, scheme: Scheme) -> None:
    """A sample of rate .1 that is published shows a record with probability .1."""
    sizes: dict[str, Any] = {"population": 20, "batch_size": 2} if scheme == "without_replacement" else {}
    sample = Subsample(part=VAGUE, rate=0.1, scheme=scheme, **sizes)
    found = checked(sample, Claim(epsilon=0.0, delta=0.1001, neighbours=neighbours))
    assert found.verdict == "certified"
    assert found.tight.delta.upper == pytest.approx(0.1, rel=1e-12)
    assert found.tight.delta.upper >= 0.1
    assert checked(sample, Claim(epsilon=9.0, delta=0.0999, neighbours=neighbours)).verdict == "not_proved"


def test_a_shuffled_report_of_infinity_is_refused_in_one_line() -> None:
    """It promises nothing to amplify; NaN and negative numbers keep their own messages."""
    with pytest.raises(ValueError, match=r"pure epsilon; 'a vendor' states epsilon=inf"):
        Shuffle(part=VAGUE, users=10)
    with pytest.raises(ValueError, match="nan"):
        Stated(epsilon=math.nan, source="a vendor")
    with pytest.raises(ValueError, match="nan"):
        Stated(rho=math.nan, source="a vendor")
    with pytest.raises(ValueError, match="epsilon=-1"):
        Stated(epsilon=-1, source="a vendor")


SAMPLES: dict[str, tuple[Subsample, Neighbours]] = {
    "poisson": (Subsample(part=TOLD, rate=0), "add_remove"),
    "poisson, replaced": (Subsample(part=TOLD, rate=0), "replace_one"),
    "everything shown": (Subsample(part=VAGUE, rate=0.0), "replace_one"),
    "a set": (Subsample(part=TOLD, rate=0, scheme="without_replacement"), "replace_one"),
    "a set, zeroed": (Subsample(part=TOLD, rate=0, scheme="without_replacement"), "zero_out"),
    "cut": (Subsample(part=TOLD, rate=0, scheme="truncated_poisson", population=20, batch_bound=3), "add_remove"),
}


@pytest.mark.parametrize("case", SAMPLES)
def test_a_sample_of_nobody_keeps_any_claim(case: str) -> None:
    """Rate 0 releases nothing about anybody: epsilon 0 and delta 0; with any other rate that claim fails."""
    sample, neighbours = SAMPLES[case]
    found = checked(Repeat(part=sample, times=10), Claim(epsilon=0.0, neighbours=neighbours))
    assert found.verdict == "certified"
    assert found.tight.epsilon.upper == found.tight.delta.upper == 0
    assert found.witnesses == ()
    forged = found.to_json().replace('"rate": 0.0', '"rate": 0.1')
    assert not verify(forged).accepted


@pytest.mark.parametrize("scheme", ["poisson", "without_replacement"])
def test_a_sample_of_everybody_is_its_part(scheme: Scheme) -> None:
    """Rate 1 changes neither side."""
    claim = Claim(epsilon=1.0, delta=1e-5, neighbours="zero_out" if scheme == "poisson" else "replace_one")
    noise = mechanisms.Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours=claim.neighbours)
    part = Release(label="sum", mechanism=noise)
    assert checked(Subsample(part=part, rate=1, scheme=scheme), claim).tight == checked(part, claim).tight


def test_rates_outside_the_unit_interval_are_refused() -> None:
    """Below 0 and above 1; a size of the scheme must agree with the rate."""
    for rate in (-0.1, 1.1, math.inf, math.nan):
        with pytest.raises(ValueError, match="Expected rate"):
            Subsample(part=TOLD, rate=rate)
    with pytest.raises(ValueError, match="batch_size / population"):
        Subsample(part=TOLD, rate=0, scheme="with_replacement", population=5, batch_size=1)


@pytest.mark.parametrize("order", ["add", "remove"])
def test_one_direction_names_the_relation_of_both(order: Neighbours) -> None:
    """A claim holds for both orders."""
    with pytest.raises(ValueError, match=r"'add_remove'.*both orders"):
        Claim(epsilon=1.0, neighbours=order)


@pytest.mark.parametrize("steps", [[None], [[]], -0.0, 3, "rounding"])
def test_steps_that_are_no_list_of_texts_are_refused(steps: object) -> None:
    """JSON null in a list and a number for a list ended in internal errors."""
    data = {"node": "post_process", "steps": steps, "part": {"node": "stated", "epsilon": 0.1, "source": "x"}}
    with pytest.raises(Fault, match="steps: expected a list"):
        decode_declaration(data, "replace_one")


def test_a_text_that_says_inf_is_a_text() -> None:
    """A source was read as the number infinity."""
    found = decode_declaration({"node": "stated", "epsilon": "inf", "source": "inf"}, "replace_one")
    assert found == Stated(epsilon=math.inf, source="inf")


def test_joint_noise_too_small_for_floating_point_is_refused_where_it_is_written() -> None:
    """The curve of its infinite mu was an internal error."""
    with pytest.raises(ValueError, match=r"Expected matrix_stddev=5e-324 in "):
        mechanisms.JointGaussian(
            matrix_stddev=5e-324, vector_stddev=3.0, feature_bound=1.0, target_bound=2.0, neighbours="replace_one"
        )


def test_the_far_mass_of_whole_number_noise_is_the_checkers() -> None:
    """An upper end of 3e-107, true as it was, was rejected."""
    noise = mechanisms.DiscreteGaussian(stddev=12.7, l2_sensitivity=3, neighbours="add_remove")
    checked(Release(label="x", mechanism=noise), Claim(epsilon=10.0, neighbours="add_remove"))


def test_the_window_of_a_secret_step_of_huge_losses_is_a_number() -> None:
    """Squares of likelihood ratios overflowed, and nothing times them was no number: `certify` ended in an error."""
    size, width = _window(np.array([1e-300, 1.0, 1e304]), np.array([0.5, 0.5, 0.0]), 1e304, 100, 1e-3)
    assert size > 0
    assert math.isfinite(width)
