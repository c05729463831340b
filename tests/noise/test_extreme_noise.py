"""Mechanisms with far too much noise, or far too little: ends lie within what the largest loss allows."""

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

from dpaudit import Certificate, Claim, Release, Stated, certify, verify
from dpaudit.accounting.curves import thresholds
from dpaudit.accounting.curves.concentrated import rho_of_laplace
from dpaudit.accounting.curves.thresholds import log_moments
from dpaudit.engines import single
from dpaudit.model.losses import Composition, DiscreteLoss
from dpaudit.model.mechanism import Mechanism
from mechanisms import AboveThreshold, Gaussian, Laplace
from mechanisms.above_threshold import event_loss
from tests.noise.test_contract import EXAMPLES

TINY = 2e-9


def with_far_other_noise() -> Iterator[Any]:
    """Yield the first example of each mechanism at other noise, where it takes such noise."""
    for example, factor in product(EXAMPLES, (3e-4, 1e5, 1e10)):
        if str(example.id).endswith("-0"):
            with suppress(ValueError):
                yield pytest.param(example.values[0].scaled(factor), id=f"{example.id}-{factor:g}")


def lower_end(certificate: Certificate) -> float:
    """Return the lower end of the only number of a claim."""
    return float(certificate.tight.rows[0].lower)


@pytest.mark.parametrize("mechanism", list(with_far_other_noise()))
def test_ends_lie_within_what_the_largest_loss_allows(mechanism: Mechanism) -> None:
    """A loss of at most e either way has rho <= e^2 / 2 and mu <= sqrt(pi / 2) e; the checker rejects no end."""
    release, neighbours = Release(label="answer", mechanism=mechanism), mechanism.neighbours
    largest = certify(release, Claim(epsilon=1e-30, neighbours=neighbours)).tight.epsilon.upper
    rho, mu = Claim(rho=1e-3, neighbours=neighbours), Claim(mu=1e-3, neighbours=neighbours)
    for claim, most in ((rho, largest**2 / 2), (mu, 1.2534 * largest)):
        certificate = certify(release, claim)
        assert lower_end(certificate) <= most * (1 + 1e-12)
        assert verify(certificate.to_json()).complaints == ()


def test_rho_of_hardly_any_noise_is_refuted_below_the_truth_alone() -> None:
    """Laplace noise of shift 3,333 has rho 3,332; its largest loss stood for its divergence, 1e-7 too much of it."""
    release = Release(label="sum", mechanism=Laplace(scale=1.0, l1_sensitivity=3333.0, neighbours="add_remove"))
    verdicts = [
        certify(release, Claim(rho=rho, neighbours="add_remove")).verdict for rho in (3331.999, 3332.00001, 3333.0)
    ]
    assert verdicts == ["refuted", "not_proved", "certified"]
    assert 0 <= rho_of_laplace(Fraction(3333)) - 3332 <= Fraction(1, 10**40)


def divergence_of_threshold(shift: float) -> mpmath.mpf:
    """Return the Kullback-Leibler divergence of the threshold at one answer, to sixty digits."""
    with mpmath.workdps(60):
        return (mpmath.mpf(shift) - mpmath.log(2 - mpmath.exp(-mpmath.mpf(shift)))) / 2


def test_moments_of_thresholds_hold_the_truth_of_tiny_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two terms cancel to a billionth of each; the twin counts no rounding of their difference."""
    powers = np.geomspace(1e-3, 1e3, 400)
    truth = np.array([float(divergence_of_threshold(TINY) * power * (1 + power)) for power in powers])
    low, high = log_moments(TINY, powers)
    assert (low <= truth * (1 + 1e-5)).all()
    assert (truth * (1 - 1e-5) <= high).all()
    monkeypatch.setattr(thresholds, "_LOST", 0.0)
    low, high = log_moments(TINY, powers)
    assert ((low > truth * (1 + 1e-7)) | (high < truth * (1 - 1e-7))).any()


def test_both_orders_of_an_event_have_one_distance() -> None:
    """What one order gains above 0 the other loses below; differences of logarithms let the engines disagree."""
    noise = AboveThreshold(threshold_scale=1e5, query_scale=1e5, linf_sensitivity=1.0, neighbours="replace_one")
    loss = noise.attained_loss()
    (fall, absent), (gain, seen) = sorted(loss.atoms)
    written_apart = DiscreteLoss(atoms=((np.log(seen) - np.log(seen * np.exp(-gain)), seen), (fall, absent)))
    distances = [
        [single.delta_ends(Composition.of(way), 0.0) for way in (law, law.reversed())] for law in (loss, written_apart)
    ]
    apart = [abs(first[0] - second[0]) / first[0] for first, second in distances]
    assert apart[0] < 1e-14 < apart[1]
    release = Release(label="answers", mechanism=noise)
    assert certify(release, Claim(epsilon=1e-9, neighbours="replace_one")).verdict == "refuted"


def test_an_event_is_as_likely_as_it_is_said() -> None:
    """Its loss and that of its absence make the laws of both sides sum to 1, to the last digits of the difference."""
    (fall, absent), (gain, seen) = sorted(event_loss(0.25, 1e-12).atoms)
    assert seen * np.expm1(-gain) == pytest.approx(-absent * np.expm1(-fall), rel=1e-14)


def test_a_divergence_beyond_all_floats_is_infinite() -> None:
    """A stated rho of 1e300 at order 1e9 is not proved; it ended in an overflow."""
    certificate = certify(Stated(rho=1e300, source="a vendor"), Claim(renyi=[(1e9, 1.0)], neighbours="replace_one"))
    assert certificate.verdict == "not_proved"


@pytest.mark.parametrize(("epsilon", "said"), [(1e-11, True), (1e-12, False), (1e-15, False)])
def test_needed_noise_is_said_up_to_a_trillion_times_and_confirmed(epsilon: float, said: bool) -> None:
    """A search that squares its steps ended beyond what the checker looks at, which then rejected the certificate."""
    release = Release(label="sum", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one"))
    certificate = certify(release, Claim(epsilon=epsilon, delta=1e-20, neighbours="replace_one"))
    assert (certificate.slack is not None) == said
    assert verify(certificate.to_json()).accepted
