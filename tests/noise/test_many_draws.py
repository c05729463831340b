"""Looks at many draws of noise: what they accuse, what they leave alone, and the laws that they compare with."""

import math
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import norm

from audits import watch_noise
from audits.checks import noise_law
from audits.checks.laws.bulk import extremes
from audits.checks.laws.conditionals import Placed
from audits.checks.laws.entrances import is_sampled, samples_of
from audits.checks.laws.mechanism_law import law_findings
from audits.checks.laws.wishart import chi_square_difference
from dpaudit.model.mechanism import Array
from mechanisms import Exponential, Gaussian, Laplace

UNIT = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")


def said(mechanism: Any) -> str:
    """What the check of the law says about single numbers; an empty text if nothing."""
    return "".join(finding.message for finding in law_findings([(mechanism, (), "answer")]))


@pytest.mark.parametrize(
    ("limit", "runs", "falls"), [(3.2, 20_000, True), (4.0, 400_000, True), (np.inf, 20_000, False)]
)
def test_watching_noise_sees_that_nothing_lies_far_out(limit: float, runs: int, *, falls: bool) -> None:
    """27 and 25 outputs are expected beyond the limits; without one the probability is below 1e-8."""

    def release(rng: np.random.Generator, size: int) -> Array:
        noise = rng.standard_normal(size)
        while (far := np.abs(noise) > limit).any():
            noise[far] = rng.standard_normal(int(far.sum()))
        return noise

    seen = watch_noise(release, UNIT, 0.0, runs=runs, rng=np.random.default_rng(3))
    assert seen.fallen == falls, seen.departure


def test_watching_a_choice_sees_how_often_each_candidate_comes() -> None:
    """Weights that are 5 % too large move the share of a candidate by five standard errors; scales do not fit it."""
    choice = Exponential(epsilon=2.0, linf_sensitivity=1.0, neighbours="replace_one")
    scores = np.array([0.0, 2.0, 0.0, 2.0])
    for factor, falls in ((1.15, True), (1.0, False)):

        def release(rng: np.random.Generator, size: int, factor: float = factor) -> Array:
            weights = factor * np.broadcast_to(scores, (size, 4))
            return np.argmax(weights + rng.gumbel(size=weights.shape), axis=1)

        seen = watch_noise(release, choice, scores, runs=20_000, rng=np.random.default_rng(4))
        assert seen.fallen == falls, seen


def test_the_chance_of_an_empty_tail_is_that_of_the_normal_law() -> None:
    """Beyond four standard deviations lie 6.3e-5 of the normal law; an empty tail of a million has chance e^-63."""
    inside = np.linspace(norm.cdf(-4), norm.cdf(4), 1_000_001)[:, None]
    found = Placed(uniform=np.asarray(inside), independent=True, mass=None, unread=())
    least = min(departure.probability for departure in extremes(found))
    assert math.log(least) < -20


class Single(Gaussian):
    """Normal noise in single precision, as devices draw it; of 2^23 sizes a strip, which some thousands of draws meet.

    It is returned in doubles.
    """

    __slots__ = ()

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the value and noise in single precision."""
        noise = rng.standard_normal(np.shape(value), dtype=np.float32)
        return (np.asarray(value) + self.stddev * noise).astype(np.float32).astype(np.float64)


class Repeated(Single):
    """Noise in single precision that comes twice."""

    __slots__ = ()

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the same noise in both halves of the rows."""
        result: Array = super().release(value, rng)
        half = len(result) // 2
        result[half : 2 * half] = result[:half]
        return result


@pytest.mark.parametrize("stddev", [1.0, 1_000.0])
def test_noise_in_single_precision_is_not_accused(stddev: float) -> None:
    """A hundred thousand such numbers have 160 equal ones by chance; twice the same noise has fifty thousand."""
    parameters: Any = {"stddev": stddev, "l2_sensitivity": 1.0, "neighbours": "replace_one"}
    assert said(Single(**parameters)) == ""
    assert "equal to others" in said(Repeated(**parameters))


@pytest.mark.parametrize(("answer", "kind"), [(0.0, np.float32), (0.0, np.float64), (1_000.0, np.float32)])
def test_watched_noise_in_single_precision_is_not_accused(answer: float, kind: Any) -> None:
    """Of 32,768 such numbers a dozen are equal to others by chance."""
    exact = np.full(8, answer)

    def release(rng: np.random.Generator, size: int) -> Array:
        return (exact + rng.standard_normal((size, 8), dtype=np.float32)).astype(np.float32).astype(kind)

    for seed in range(5):
        seen = watch_noise(release, UNIT, exact, runs=5_000, rng=np.random.default_rng(seed), significance=1e-6)
        assert not seen.fallen, seen.departure


@pytest.mark.parametrize("significance", [0.05, 1e-6, 1e-8, 1e-12])
def test_a_further_call_of_the_watch_spends_a_hundredth(monkeypatch: pytest.MonkeyPatch, significance: float) -> None:
    """The look and the extremes share a hundredth of the significance, which each further call adds, however small."""
    levels: list[float] = []

    def kept(*arguments: Any) -> str:
        levels.append(arguments[-1])
        return ""

    monkeypatch.setattr(noise_law, "_departure", kept)
    monkeypatch.setattr(noise_law, "_far_out", kept)
    watch_noise(
        lambda rng, size: rng.standard_normal(size),
        UNIT,
        0.0,
        runs=64,
        rng=np.random.default_rng(2),
        significance=significance,
    )
    assert len(levels) == 2
    assert min(levels) > 0
    assert math.fsum(levels) <= significance / 100 * (1 + 1e-12)


def test_a_density_of_another_scale_is_found() -> None:
    """The attack by likelihoods reads the density; half the scale would blunt it."""
    noise = Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove")

    def log_density(self: Any, output: Array, value: Array) -> Array:
        return Laplace.log_density(self.scaled(1.05), output, value)

    kind = type("Laplace", (Laplace,), {"log_density": log_density, "__slots__": ()})
    assert "follow its stated law" in said(kind(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove"))
    assert said(noise) == ""


def test_the_difference_of_two_chi_square_numbers_has_this_distribution() -> None:
    """For 2 degrees of freedom it is the Laplace law of scale 2; for 3 it is that of 10^6 samples within 3e-3."""
    points = np.linspace(-15, 15, 61)
    laplace = np.where(points < 0, 0.5 * np.exp(-np.abs(points) / 2), 1 - 0.5 * np.exp(-np.abs(points) / 2))
    np.testing.assert_allclose(chi_square_difference(points, 2), laplace, atol=2e-6)
    rng = np.random.default_rng(6)
    drawn = np.sort(rng.chisquare(3, 10**6) - rng.chisquare(3, 10**6))
    shares = np.searchsorted(drawn, points) / len(drawn)
    np.testing.assert_allclose(chi_square_difference(points, 3), shares, atol=3e-3)


def test_a_mechanism_that_only_shares_a_name_is_passed_over() -> None:
    """A plug-in named as a shipped mechanism, with other parameters, is neither accused nor a crash."""

    class Other:
        name = "gaussian"
        sigma = 3.0

    assert not is_sampled(cast("Any", Other()))
    assert is_sampled(UNIT)


def test_samples_of_large_answers_stay_small() -> None:
    """Answers of 10^6 numbers take four million numbers at most, in each entrance."""
    for sample in samples_of(UNIT, (1_000_000,), np.random.default_rng(0)):
        assert sample.output.size <= 4_000_000


class Tight(Gaussian):
    """Normal noise of nine tenths of the size: at every scale in wide answers, or in all answers of one scale."""

    __slots__ = ()

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the value with too little noise where the twin is wrong."""
        wrong = self.stddev == 5.0 or (np.ndim(value) > 1 and self.stddev == 2.0)
        result: Array = Gaussian.release(self.scaled(0.9) if wrong else self, value, rng)
        return result


@pytest.mark.parametrize(("stddevs", "label"), [((2.0, 3.0), "0"), ((3.0, 5.0), "1"), ((3.0, 4.0), "")])
def test_the_first_of_a_kind_is_sampled_in_wide_answers_and_every_one_in_its_own(
    stddevs: tuple[float, float], label: str
) -> None:
    """Noise that is wrong in wide answers is found at the first scale, and noise that is wrong at one scale there."""
    asked = [
        (cast("Any", Tight(stddev=stddev, l2_sensitivity=1.0, neighbours="replace_one")), (), str(number))
        for number, stddev in enumerate(stddevs)
    ]
    assert [finding.where for finding in law_findings(asked)] == ([label] if label else [])
