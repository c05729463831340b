"""A zeroed record of a Poisson sample, or at secret steps, counts as absent: a listed condition, never silent."""

import json
import math

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit import Allocate, Claim, Condition, Release, Repeat, Sequential, Stated, Subsample, certify, verify
from dpaudit.model.certificate import digest_of
from dpaudit.model.condition import conditions_of
from dpaudit.model.declaration import Declaration
from mechanisms import Gaussian

RATE = 0.1
ZEROED = Claim(epsilon=1.0, delta=0.002, neighbours="zero_out")


def release(label: str, stddev: float, sensitivity: float) -> Release:
    """A Gaussian release whose sensitivity is stated for a zeroed record."""
    noise = Gaussian(stddev=stddev, l2_sensitivity=sensitivity, neighbours="zero_out")
    return Release(label=label, mechanism=noise)


SIZED = Sequential(parts=(release("sum", 1.0, 1.0), release("size of the sample", 0.05, 1e-9)))
SAMPLED: dict[str, tuple[Declaration, str]] = {
    "a Poisson sample": (Subsample(part=SIZED, rate=RATE), "a Poisson sample"),
    "samples of samples": (Repeat(part=Subsample(part=SIZED, rate=RATE), times=3), "a Poisson sample"),
    "secret steps": (Allocate(part=SIZED, steps=10), "secret steps"),
    "a stated part": (Subsample(part=Stated(epsilon=0.1, source="a vendor"), rate=RATE), "a Poisson sample"),
}


def truth(epsilon: float) -> float:
    """The delta of a lone record against its zero: with probability RATE the size of the sample shows that it is in."""
    outputs = np.linspace(-12.0, 13.0, 20_001)
    step = float(outputs[1] - outputs[0])
    drawn = np.maximum(norm.pdf(outputs - 1.0) - math.exp(epsilon) * norm.pdf(outputs), 0.0)
    return RATE * float(drawn.sum()) * step


def test_the_sum_beside_the_size_of_the_sample_breaks_what_the_rule_says() -> None:
    """The truth is sixty times what is proved under the condition; so the condition must be seen."""
    certificate = certify(SAMPLED["a Poisson sample"][0], ZEROED)
    assert truth(1.0) == pytest.approx(0.0127, abs=5e-5)
    assert certificate.tight.delta.upper < 0.00021 < truth(1.0) / 60
    held = [row for row in certificate.conditions if row.kind == "zeroed_as_absent"]
    assert [(row.about, row.status) for row in held] == [(("a Poisson sample",), "assumed")]
    assert "a number of records included" in held[0].text


@pytest.mark.parametrize("name", SAMPLED)
def test_every_certificate_of_a_zeroed_record_lists_the_condition(name: str) -> None:
    """The checker wants it in its place, and nothing of a claim about other neighbours has it."""
    tree, about = SAMPLED[name]
    data = certify(tree, ZEROED).to_dict()
    assert verify(json.dumps(data)).accepted, verify(json.dumps(data))
    kept = [row for row in data["conditions"] if row["kind"] != "zeroed_as_absent"]
    assert [row["about"] for row in data["conditions"] if row not in kept] == [[about]]
    forged = {key: held for key, held in data.items() if key != "digest"} | {"conditions": kept}
    assert (
        "A zeroed record counts as an absent one"
        in verify(json.dumps(forged | {"digest": digest_of(forged)})).complaints[0]
    )
    assert not any(row.kind == "zeroed_as_absent" for row in conditions_of(tree, "add_remove"))


def test_a_fixed_size_needs_no_such_condition() -> None:
    """A zeroed record keeps its place in a sample of fixed size, and another one takes it there in the proof."""
    fixed = Subsample(part=release("sum", 1.0, 1.0), rate=RATE, scheme="without_replacement")
    assert not any(row.kind == "zeroed_as_absent" for row in certify(fixed, ZEROED).conditions)


@pytest.mark.parametrize("name", ["a Poisson sample", "secret steps"])
def test_nothing_is_attained_by_definition_by_a_record_that_may_not_count_as_absent(name: str) -> None:
    """A claim just below what the rule attains is open, with an assumed witness; a named pair refutes it."""
    part = release("sum", 1.0, 1.0)
    tree = Subsample(part=part, rate=RATE) if name == "a Poisson sample" else Allocate(part=part, steps=10)
    claim = Claim(epsilon=0.1, delta=1e-4, neighbours="zero_out")
    named = Condition(kind="attained", text="The record adds 1, zeroed it adds nothing.", status="checked")
    certificates = [certify(tree, claim, conditions=held) for held in ((), (named,))]
    assert [held.verdict for held in certificates] == ["not_proved", "refuted"]
    assert [held.witnesses[-1].attained for held in certificates] == ["assumed", "checked"]
    assert all(verify(held.to_json()).accepted for held in certificates)
