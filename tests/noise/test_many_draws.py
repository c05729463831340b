"""Defects that only many draws show: coarse uniforms, noise that is cut off far out, and levels of long trees."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from audits import watch_noise
from audits.checks import noise_law
from audits.checks.laws.bulk import extremes
from audits.checks.laws.mechanism_law import law_findings
from dpaudit.model.mechanism import Array
from mechanisms import Exponential, Gaussian

UNIT = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")


def said(mechanism: Any) -> str:
    """What the check of the law says about single numbers; an empty text if nothing."""
    return "".join(finding.message for finding in law_findings([(mechanism, (), "answer")]))


class Cut(Gaussian):
    """Normal noise without what lies beyond four standard deviations."""

    __slots__ = ()

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Draw anew what lies beyond."""
        noise = rng.standard_normal(np.shape(value))
        while (far := np.abs(noise) > 4).any():
            noise[far] = rng.standard_normal(int(far.sum()))
        result: Array = value + self.stddev * noise
        return result


def test_noise_that_is_cut_off_at_four_standard_deviations_is_found() -> None:
    """A million draws expect 63 beyond; the rejected law has none."""
    assert "far out" in said(Cut(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one"))
    assert said(UNIT) == ""


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
            chosen: Array = np.argmax(weights + rng.gumbel(size=weights.shape), axis=1)
            return chosen

        seen = watch_noise(release, choice, scores, runs=20_000, rng=np.random.default_rng(4))
        assert seen.fallen == falls, seen


class Sharp(Exponential):
    """The exponential mechanism, 5 % too sharp where there are more than two candidates."""

    __slots__ = ()

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Draw with weights that are too large."""
        return Exponential.release(self, np.asarray(value) * (1.05 if np.shape(value)[-1] > 2 else 1.0), rng)


def test_a_choice_that_is_too_sharp_among_many_is_found() -> None:
    """Each candidate's share is tested exactly, not only the distribution function over candidates."""
    parameters: dict[str, Any] = {"epsilon": 2.0, "linf_sensitivity": 1.0, "neighbours": "replace_one"}
    assert "at one answer" in said(Sharp(**parameters))
    assert said(Exponential(**parameters)) == ""


def test_the_chance_of_an_empty_tail_is_that_of_the_normal_law() -> None:
    """Beyond four standard deviations lie 6.3e-5 of the normal law; an empty tail of a million has chance e^-63."""
    inside = np.linspace(norm.cdf(-4), norm.cdf(4), 1_000_001)[:, None]
    least = min(departure.probability for departure in extremes(np.asarray(inside)))
    assert math.log(least) < -20


class Single(Gaussian):
    """Normal noise in single precision, as devices draw it; of 2^23 sizes a strip, which some thousands of draws meet.

    It is returned in doubles.
    """

    __slots__ = ()

    def release(self, value: Array, rng: np.random.Generator) -> Array:
        """Return the value and noise in single precision."""
        noise = rng.standard_normal(np.shape(value), dtype=np.float32)
        result: Array = (np.asarray(value) + self.stddev * noise).astype(np.float32).astype(np.float64)
        return result


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
        output: Array = (exact + rng.standard_normal((size, 8), dtype=np.float32)).astype(np.float32).astype(kind)
        return output

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
