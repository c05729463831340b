"""Canaries with rows of their own: the accuracy that the declared run allows, false alarms, and the epsilon reached."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import bdtrc, ndtr
from scipy.stats import binom, norm

from audits.bounds.bisection import least_count
from audits.training.apart import APART, apart_accuracy, apart_epsilon, check_apart
from dpaudit import Claim, training_epsilon
from dpaudit.model.mechanism import Array
from dpaudit.training import Training, Watch, gradient_canaries
from dpaudit.training.evidence import LoopCheck

FULL = Training(noise_multiplier=4.0, max_grad_norm=0.5, sample_rate=1.0, steps=16, records=50)
SAMPLED = Training(noise_multiplier=1.0, max_grad_norm=0.5, sample_rate=0.2, steps=12, records=50)
CLAIM = Claim(epsilon=4.4, delta=1e-5, neighbours="add_remove")


def watched(
    training: Training, canaries: int, seed: int, *, factor: float = 1.0, moved: float = 0.0, shared: float = 0.0
) -> tuple[Watch, Array]:
    """Watch a run with `factor` times the noise; others move each row by `moved`, and rows share noise of `shared`."""
    rng = np.random.default_rng(seed)
    slots, coins = gradient_canaries(training.records, canaries, 1, rng)
    watch = Watch(records=training.records + int(coins.sum()), slots=replace(slots, members=ranked(slots.members)))
    for _ in range(training.steps):
        batch = np.flatnonzero(rng.random(watch.records) < training.sample_rate)
        inside = np.isin(watch.slots.members, batch) & coins
        summed = np.concatenate([[0.0], training.max_grad_norm * inside + moved])[:, None]
        noise = factor * training.stddev * (rng.standard_normal(summed.shape) + shared * rng.standard_normal())
        watch.step(summed + noise, summed, batch)
    return watch, coins


def ranked(members: Array) -> Array:
    """Return the members as the indices that follow the records."""
    return np.where(members >= 0, FULL.records + np.cumsum(members >= 0) - 1, -1)


def checked(training: Training, canaries: int, seed: int, significance: float = 0.01, **more: float) -> LoopCheck:
    watch, coins = watched(training, canaries, seed, **more)
    return check_apart(watch, coins, training, CLAIM, significance)


def test_the_accuracy_is_the_total_variation_of_the_sum() -> None:
    """Phi(mu / 2) for full batches; (1 + total variation) / 2 by quadrature for samples."""
    assert apart_accuracy(FULL)[0] == pytest.approx(float(ndtr(0.5)), abs=1e-9)
    shares = binom.pmf(np.arange(13), 12, 0.2)
    spread = np.sqrt(12.0)

    def gap(x: float) -> float:
        return abs(float((shares * norm.pdf(x, np.arange(13), spread)).sum()) - float(norm.pdf(x, 0, spread)))

    variation = quad(gap, -30, 45, limit=400, epsabs=1e-12)[0] / 2
    assert apart_accuracy(SAMPLED)[0] == pytest.approx((1 + variation) / 2, abs=1e-8)


def test_false_alarms_stay_below_the_level_on_the_exact_law() -> None:
    """10,000 runs of 60 canaries at level .05: at most 6.1 % alarms (chance of more at 5 %: below 1e-6).

    The influence of a canary follows what other rows released before, and some runs have more noise than declared.
    """
    accuracy, threshold = apart_accuracy(SAMPLED)
    needed = least_count(lambda count: bool(bdtrc(count - 1, 60, accuracy) <= 0.05), -1, 61)
    assert bdtrc(needed - 1, 60, accuracy) <= 0.05
    rng = np.random.default_rng(11)
    alarms = {}
    for name, factor in (("steady", 1.0), ("adaptive", 1.0), ("noisier", 1.7), ("a third of the noise", 1 / 3)):
        included = rng.random((10_000, 60)) < 0.5
        scores = np.zeros((10_000, 60))
        for _ in range(SAMPLED.steps):
            taken = included & (rng.random(included.shape) < SAMPLED.sample_rate)
            strength = np.where(np.roll(scores, 1, axis=1) > 0, 1.0, 0.3) if name == "adaptive" else 1.0
            scores += strength * taken + factor * SAMPLED.noise_multiplier * rng.standard_normal(included.shape)
        right = ((scores > threshold) == included).sum(axis=1)
        alarms[name] = float((right >= needed).mean())
    assert max(alarms["steady"], alarms["adaptive"], alarms["noisier"]) < 0.061
    assert alarms["a third of the noise"] > 0.5


def test_the_bound_reaches_nearly_the_declared_epsilon() -> None:
    """10,000 canaries, epsilon 4.377: at least 3.6 and below it, at level .01, with its assumption named."""
    found = checked(FULL, 10_000, 3)
    assert 3.6 < found.epsilon_lower < 4.377
    assert APART in found.sentence
    assert found.verdict == "consistent"
    assert found.noise_caught > 0.85
    assert (
        f"epsilon {np.floor(100 * found.epsilon_lower) / 100:g} at delta 1e-05 at least, if the run clips"
        in found.sentence
    )


def test_the_bound_is_the_epsilon_of_the_noise_that_is_just_refuted() -> None:
    """A count at the accuracy of nine tenths of the noise gives that noise's epsilon or less; more counts give more."""
    for training in (FULL, SAMPLED):
        weaker = replace(training, noise_multiplier=0.9 * training.noise_multiplier)
        right = round(10_000 * apart_accuracy(weaker)[0])
        bounds = [apart_epsilon(right + more, 10_000, training, 1e-5, 0.01) for more in (0, 50, 100)]
        assert bounds[0] < training_epsilon(weaker, 1e-5)[1]
        assert sorted(bounds) == bounds
    assert apart_epsilon(5_000, 10_000, FULL, 1e-5, 0.01) == 0.0
    assert apart_epsilon(9_000, 10_000, FULL, 0.0, 0.01) == 0.0


def test_half_the_noise_is_a_violation_of_the_declaration() -> None:
    """The twin adds half the noise: caught at level 1e-6."""
    found = checked(FULL, 2_000, 5, significance=1e-6, factor=0.5)
    assert found.verdict == "violation"
    assert "more than the declared noise" in found.sentence


@pytest.mark.parametrize(
    ("more", "reason"), [({"moved": 0.1}, "Other records move these rows"), ({"shared": 1.0}, "a part in common")]
)
def test_canaries_that_are_not_apart_decide_nothing(more: dict[str, float], reason: str) -> None:
    """Rows that others move, or that share noise, are seen; the check says so, whatever the guesses."""
    found = checked(FULL, 400, 7, factor=0.3, **more)
    assert (found.verdict, found.epsilon_lower) == ("inconclusive", 0.0)
    assert reason in found.sentence


def test_without_sums_the_rows_are_not_known_to_be_apart() -> None:
    """A loop that reports released gradients only: inconclusive, and the sentence says what to report."""
    watch, coins = watched(FULL, 100, 1)
    blind = Watch(records=watch.records, slots=watch.slots, taken=[replace(step, summed=None) for step in watch.taken])
    found = check_apart(blind, coins, FULL, CLAIM, 0.01)
    assert found.verdict == "inconclusive"
    assert "report `summed`" in found.sentence
