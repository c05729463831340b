"""Defects that only many draws show: coarse uniforms, noise that is cut off far out, and levels of long trees."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import mechanisms._exact
from audits import watch_noise
from audits.checks import noise_law
from audits.checks.laws.bulk import extremes, masses
from audits.checks.laws.mechanism_law import law_findings
from dpaudit.model.mechanism import Array
from mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace, TreeAggregation
from mechanisms._counters import TreePath

UNIT = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one")


def said(mechanism: Any) -> str:
    """What the check of the law says about single numbers; an empty text if nothing."""
    return "".join(finding.message for finding in law_findings([(mechanism, (), "answer")]))


def test_an_exact_sampler_with_coarse_uniforms_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 6 bits a share is 7 standard errors off in 1.5 million draws; with 62 bits the sampler stays quiet."""
    noise = DiscreteGaussian(stddev=1.0, l2_sensitivity=1, neighbours="replace_one")
    monkeypatch.setattr(mechanisms._exact, "_BITS", 6)
    assert "at one answer" in said(noise)


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


class _Lossy(TreePath):
    """Noise that is carried over the sixth level is cut to 0.7."""

    __slots__ = ()

    def ahead(self, length: int) -> Array:
        """Return the noise of the next prefix sums."""
        noise = TreePath.ahead(self, length).copy()
        numbers = np.arange(self.clock + 1, self.clock + length + 1)
        carried = (numbers & 32 > 0) & (numbers >> 6 > 0)
        for place in np.flatnonzero(carried):
            parent = int(numbers[place]) >> 6 << 6
            noise[place] -= 0.3 * self._path[parent]
        return noise


def test_a_level_of_long_trees_that_is_carried_in_part_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes of levels 4 to 10 are looked at, beside the nodes that are carried to them; short streams show none."""
    leaf = Laplace(scale=3.0, l1_sensitivity=1.0, neighbours="replace_one")
    tree: Any = TreeAggregation(horizon=3_000, leaf=leaf)
    assert said(tree) == ""
    monkeypatch.setattr(
        TreeAggregation, "path", lambda self, rng: _Lossy(leaf=self.leaf, horizon=self.horizon, rng=rng)
    )
    assert "long trees drawn in blocks" in said(tree)


def test_extremes_and_masses_depart_as_often_as_they_should() -> None:
    """Of 200 honest samples no test is below 1e-7; one is below a quarter, as exact tests are careful."""
    noise = DiscreteLaplace(scale=3.0, l1_sensitivity=1, neighbours="replace_one")

    def seen(seed: int) -> Iterator[float]:
        rng = np.random.default_rng(seed)
        value = np.zeros(5_000, dtype=np.int64)
        yield from (departure.probability for departure in masses(noise, noise.release(value, rng), value))
        yield from (departure.probability for departure in extremes(rng.random((5_000, 1))))

    found = [probability for seed in range(200) for probability in seen(seed)]
    assert min(found) > 1e-7
    assert min(found) < 0.25
    assert all(0 <= probability <= 1 for probability in found)


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
