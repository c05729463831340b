"""Tests of the noise that a training loop adds, beyond its size over all steps: single steps, centre, tails, shape."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import gammainc, gammaincc, ndtr

from dpaudit.looks import Look, Search, uniform_looks, worst
from dpaudit.model.mechanism import Array
from dpaudit.training.check import Check
from dpaudit.training.watching import Training, Watch

_FEWEST, _MOST = 100, 1 << 20


def noise_law_check(training: Training, watch: Watch, significance: float) -> Iterator[Check]:
    """Yield whether the noise of each step has the declared size, and the noise of all steps the normal law.

    Rules: `DPA212` noise of another law than declared, or less of it in some steps than in others.
    Guarantee: independent normal noise of the declared size is flagged with probability at most `significance`.

    >>> rng = np.random.default_rng(0)
    >>> watch = Watch(records=10)
    >>> for step in range(20):
    ...     _ = watch.step(rng.normal(0, 0.0 if step == 7 else 1.0, (20, 2)), np.zeros((20, 2)), np.arange(3))
    >>> declared = Training(noise_multiplier=1, max_grad_norm=1, sample_rate=0.3, steps=20, records=10)
    >>> [check.message for check in noise_law_check(declared, watch, 1e-6)]
    ['The noise of step 8 is 0 times the declared size.']
    """
    noises = watch.noises()
    if not sum(noise.size for noise in noises):
        return
    seen = tuple(_sights(training.stddev, noises))
    least = min(seen, key=lambda sight: sight.probability)
    wrong = least.probability < significance / len(seen)
    yield Check(
        name="law of the noise",
        observed=least.probability,
        declared=significance / len(seen),
        rule="DPA212" if wrong else "",
        message=least.words if wrong else "",
        agrees=f"Noise followed the declared normal law, as far as this was seen: {', '.join(s.name for s in seen)}.",
    )


def _sights(stddev: float, noises: list[Array]) -> Iterator[Look]:
    """Yield what is seen in single steps, and in the first million numbers."""
    yield size_of_steps(stddev, noises)
    numbers = np.concatenate(noises)[:_MOST] / stddev
    if numbers.size >= _FEWEST:
        least = worst(uniform_looks(np.clip(ndtr(numbers), 2.0**-54, 1 - 2.0**-53), numbers))
        says = f"{numbers.size} numbers of the noise do not follow the declared law: {least.words}."
        yield Look(name="distribution", words=says, probability=least.probability)


def size_of_steps(stddev: float, noises: list[Array]) -> Look:
    """Return the step, or the stretch of steps, whose noise is furthest from its declared size."""
    squares, sizes = np.array([(noise**2).sum() for noise in noises]), np.array([float(n.size) for n in noises])
    search = Search()
    for parts in sorted({1, *(2**k for k in range(1, 7) if 2**k < len(sizes)), len(sizes)}):
        starts = np.arange(parts) * len(sizes) // parts
        half, scaled = np.add.reduceat(sizes, starts) / 2, np.add.reduceat(squares, starts) / stddev**2 / 2
        safe = np.maximum(half, 0.5)
        tails = np.where(half > 0, np.minimum(gammainc(safe, scaled), gammaincc(safe, scaled)), 1.0)
        if position := search.stranger(tails):
            at = position[0]
            factor = math.sqrt(scaled[at] / half[at])
            last = int(np.append(starts, len(sizes))[at + 1])
            where = f"step {last}" if starts[at] + 1 == last else f"steps {int(starts[at]) + 1} to {last}"
            search.words = f"The noise of {where} is {factor:.4g} times the declared size."
    return search.look("each step")
