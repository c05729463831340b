"""Sums of few outcomes by the transform, against all outcomes one by one in sixty digits."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

from dpaudit import Claim, Release, Repeat, Stated, Subsample, bracket_delta, certify, fold
from dpaudit.engines import TILTED
from dpaudit.engines.pairs.finite_pair import FinitePair
from dpaudit.engines.pairs.grid import Grid, dominating
from dpaudit.engines.tilted import engine as module
from dpaudit.errors import InternalError
from dpaudit.model.losses import ApproximateLoss, Composition, DiscreteLoss
from mechanisms import Finite


def true_delta(composition: Composition, epsilon: float) -> Any:
    """Return delta by sixty digits, outcome by outcome in order of the releases."""
    with mp.workdps(60):
        finite, total = mpf(1), mpf(0)
        lists = []
        for loss, times in composition.parts:
            if isinstance(loss, ApproximateLoss):
                e, whole = mpf(loss.epsilon), 1 - mpf(loss.delta)
                finite *= whole**times
                atoms = [(e, whole / (1 + mp.exp(-e))), (-e, whole / (1 + mp.exp(e)))]
            else:
                assert isinstance(loss, DiscreteLoss)
                atoms = [(mpf(value), mpf(mass)) for value, mass in loss.atoms]
            lists += [atoms] * times
        for outcome in itertools.product(*lists):
            value = mp.fsum(loss for loss, _ in outcome)
            if value > epsilon:
                total += mp.fprod(mass for _, mass in outcome) * -mp.expm1(mpf(epsilon) - value)
        return 1 - finite + total


def drawn(rng: np.random.Generator) -> Composition:
    """Return up to three kinds of losses of two or three atoms, seven releases at most."""
    found = Composition(parts=())
    for _ in range(int(rng.integers(1, 4))):
        size, times = float(rng.uniform(0.01, 2)), int(rng.integers(1, 3))
        if rng.random() < 0.5:
            loss: Any = ApproximateLoss(epsilon=size, delta=float(rng.choice([0.0, 1e-3])))
        else:
            p = rng.dirichlet([3.0] * int(rng.integers(2, 4)))
            q = p * np.exp(size * rng.uniform(-1, 1, len(p)))
            q /= q.sum()
            loss = DiscreteLoss(atoms=tuple(sorted((math.log(x / y), float(x)) for x, y in zip(p, q, strict=True))))
        found = found + Composition.of(loss) * times
    return found


def wrong(rng: np.random.Generator) -> int:
    """Return how many ends of one composition lie on the wrong side of the truth, or far from it."""
    composition = drawn(rng)
    if composition.events < 2:
        return 0
    count = 0
    for epsilon in (0.0, float(rng.uniform(0, 3))):
        truth, found = true_delta(composition, epsilon), TILTED.delta(composition, epsilon)
        count += not found.lower <= truth <= found.upper
        count += found.upper - found.lower > 2e-4 * max(found.upper, 1e-9)
    delta = float(10 ** rng.uniform(-6, -1))
    answer = TILTED.epsilon(composition, delta)
    if 0 < answer.upper < math.inf:
        count += true_delta(composition, answer.upper) > delta
        count += answer.upper - answer.lower > 1e-4 * answer.upper + 1e-12
    if 0 < answer.lower < math.inf:
        count += true_delta(composition, answer.lower * (1 - 1e-13)) < delta
    return count


def test_every_end_of_random_atoms_is_on_its_side_of_the_sum_of_all_outcomes() -> None:
    rng = np.random.default_rng(4)
    assert sum(wrong(rng) for _ in range(20)) == 0


def test_a_mass_that_is_left_out_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken twin: the largest loss is dropped from each law above."""
    whole = dominating

    def less(pair: FinitePair, width: float) -> Grid:
        grid = whole(pair, width)
        return replace(grid, masses=np.append(grid.masses[:-1], 0.0))

    monkeypatch.setattr(module, "dominating", less)
    with pytest.raises(InternalError, match="is empty"):  # the lower bound lies above the upper one
        wrong(np.random.default_rng(4))


def test_a_million_responses_have_the_binomial_sum() -> None:
    """By 40 digits over the outcomes near the middle: 0.0000099999 at the epsilon that is found, from both sides."""
    epsilon, times = 0.001, 10**6
    bracket = TILTED.epsilon(Composition.of(ApproximateLoss(epsilon=epsilon)) * times, 1e-5)
    assert bracket.upper - bracket.lower <= 2e-5
    with mp.workdps(40):
        for at, sign in ((bracket.upper, -1), (bracket.lower, 1)):
            first = math.ceil((at / epsilon + times) / 2)
            share, total = mp.mpf(1) / (1 + mp.exp(-mpf(epsilon))), mpf(0)
            mass = mp.exp(mp.loggamma(times + 1) - mp.loggamma(first + 1) - mp.loggamma(times - first + 1))
            mass *= share**first * (1 - share) ** (times - first)
            for count in range(first, first + 4000):
                total += mass * -mp.expm1(mpf(at) - (2 * count - times) * mpf(epsilon))
                mass *= mpf(times - count) / (count + 1) * mp.exp(mpf(epsilon))
            assert sign * (total - mpf(1e-5)) >= 0


def test_large_responses_neither_overflow_nor_vanish() -> None:
    for epsilon, times in ((20.0, 3), (1.0, 5000), (700.0, 2), (1e-9, 1000)):
        composition = Composition.of(ApproximateLoss(epsilon=epsilon)) * times
        found = TILTED.epsilon(composition, 1e-9)
        assert 0 <= found.lower <= found.upper <= float(Fraction(epsilon) * times) * (1 + 1e-15)


def test_no_epsilon_is_negative_where_every_loss_is() -> None:
    """P never shows what Q may: all losses of the pair read backwards lie below 0, and the smallest epsilon is 0."""
    noise = Finite(first=(1.0, 0.0), second=(0.5, 0.5), neighbours="add_remove")
    twice = Repeat(part=Release(label="answer", mechanism=noise), times=2)
    found = certify(twice, Claim(epsilon=0.3, delta=0.7500000749249, neighbours="add_remove"))
    assert (found.verdict, found.tight.epsilon.lower, found.tight.epsilon.upper) == ("certified", 0.0, 0.0)


def test_a_sample_of_a_large_stated_loss_is_bounded_in_little_memory() -> None:
    """Labels from below reach to -690 where the atoms from above lie within 7: their cells are as many as allowed."""
    part = Stated(epsilon=690.0, source="a vendor", neighbours="add_remove")
    found = bracket_delta(fold(Subsample(part=part, rate=0.01), "add_remove"), 239.888)
    assert found.upper == pytest.approx(0.01, rel=1e-9)
