"""A loop with more noise than it declares keeps its epsilon: a remark and a word of its own, and no violation."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from audits.training.training_result import TrainingAudit
from benchmarks.known_bugs.loops import CLAIM, FIXED, TRAINING, declared
from dpaudit import Release, Repeat, Subsample, certify, verify
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian
from tests.papers.dp_sgd.test_training_layers import audited as audit_of

Noise = Callable[[tuple[int, int], int, np.random.Generator], Array]


def audited(noise: Noise) -> TrainingAudit:
    """A false alarm in any of the audits of this file has probability below 1e-6; the seeds are fixed."""
    return audit_of(replace(FIXED, noise=noise), significance=1e-8)


@pytest.mark.parametrize("factor", [1.5, 3.0, 50.0])
def test_more_noise_of_the_declared_law_is_a_remark(factor: float) -> None:
    """The condition that the noise is as large as declared holds, in words that name the factor."""
    audit = audited(lambda shape, batch, rng: factor * declared(shape, batch, rng))
    assert (audit.verdict, audit.findings) == ("more_noise", ())
    (remark,) = audit.conformance.remarks
    assert "more than declared. The declared epsilon holds" in remark
    assert audit.conformance.noise_caught > 0
    assert remark in audit.text()
    noise = next(c for c in audit.conformance.conditions() if c.about == ("noise",))
    assert (noise.status, noise.text) == ("checked", remark)


def test_less_noise_is_a_violation_and_the_declared_noise_has_no_remark() -> None:
    less = audited(lambda shape, batch, rng: 0.8 * declared(shape, batch, rng))
    assert (less.verdict, less.findings[0].rule) == ("violation", "DPA212")
    right = audited(declared)
    assert (right.verdict, right.conformance.remarks) == ("consistent", ())
    shown = [{held.kind for held in audit.conditions() if held.status == "checked"} for audit in (right, less)]
    assert shown[0] - shown[1] == {"fresh_noise", "sensitivity", "declared_times"}
    size = TRAINING.noise_multiplier * TRAINING.max_grad_norm
    noise = Gaussian(stddev=size, l2_sensitivity=TRAINING.max_grad_norm, neighbours=CLAIM.neighbours)
    step = Subsample(part=Release(label="sums", mechanism=noise), rate=TRAINING.sample_rate)
    declaration = Repeat(part=step, times=TRAINING.steps)
    assert verify(certify(declaration, CLAIM, conditions=right.conditions()).to_json()).accepted


def growing() -> Noise:
    """From the declared noise on, a fiftieth more in each step."""
    steps = iter(range(10**6))
    return lambda shape, batch, rng: (1 + next(steps) / 50) * declared(shape, batch, rng)


def test_noise_that_grows_from_the_declared_one_is_a_remark() -> None:
    """Sizes that differ are safe where each is large enough; only their law is looked at then."""
    audit = audited(growing())
    assert (audit.verdict, audit.findings) == ("more_noise", ())


def in_every_second_step() -> Noise:
    """Five times the noise in one step, and none in the next."""
    steps = iter(range(10**6))
    return lambda shape, batch, rng: 5.0 * (next(steps) % 2) * declared(shape, batch, rng)


def of_two_values(shape: tuple[int, int], batch: int, rng: np.random.Generator) -> Array:
    """Three times the declared standard deviation, and no normal law: a record shows through for certain."""
    return 3 * TRAINING.stddev * np.sign(declared(shape, batch, rng))


@pytest.mark.parametrize("noise", [in_every_second_step(), of_two_values])
def test_larger_noise_of_another_law_is_a_violation(noise: Noise) -> None:
    """More noise on average is no safe direction where single steps have less, or the law is not normal."""
    audit = audited(noise)
    assert audit.verdict == "violation"
    assert {finding.rule for finding in audit.conformance.findings} & {"DPA227", "DPA212"}
