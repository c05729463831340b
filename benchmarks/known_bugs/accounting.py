"""Bugs of the accounting: too little noise for the claim, by a misused theorem or releases that were not counted."""

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from audits.bounds.bisection import bisected
from benchmarks.known_bugs.known_bug import KnownBug, Variant, by_certificate, by_trace, mechanism, mechanism_type
from dpaudit import Claim, Declaration, Recorder, Release, Repeat, Sequential, Subsample
from dpaudit.interchange.opacus_history import from_history
from dpaudit.model.trace import Finding

_DELTA = 1e-5
_NOISE, _RATE, _STEPS = 4.0, 0.1, 40


def _gaussian(stddev: float, neighbours: str = "replace_one", sensitivity: float = 1.0) -> Any:
    return mechanism("gaussian", stddev=stddev, l2_sensitivity=sensitivity, neighbours=neighbours)


def _released(stddev: float, epsilon: float) -> tuple[Finding, ...]:
    claim = Claim(epsilon=epsilon, delta=_DELTA, neighbours="replace_one")
    return by_certificate(Release(label="sum", mechanism=_gaussian(stddev)), claim)


def _classical(variant: Variant, _: np.random.Generator) -> tuple[Finding, ...]:
    """The classical Gaussian formula beyond the epsilon of 1 that it is proved for; the exact one in its place."""
    epsilon = 10.0
    claim = Claim(epsilon=epsilon, delta=_DELTA, neighbours="replace_one")
    if variant == "fixed":
        return _released(mechanism_type("gaussian").calibrated(claim, l2_sensitivity=1.0).stddev, epsilon)
    return _released(math.sqrt(2 * math.log(1.25 / _DELTA)) / epsilon, epsilon)


def _missing_root(variant: Variant, _: np.random.Generator) -> tuple[Finding, ...]:
    """A factor sqrt 2 lost from the classical formula."""
    factor = 2 if variant == "fixed" else 1
    return _released(math.sqrt(factor * math.log(1.25 / _DELTA)) / 0.9, 0.9)


def _limit_theorem(variant: Variant, _: np.random.Generator) -> tuple[Finding, ...]:
    """The epsilon of a central limit theorem for sampled Gaussian steps, taken for a bound (Bu et al. 2020)."""
    mu = _RATE * math.sqrt(_STEPS * math.expm1(1 / _NOISE**2))

    def delta_at(epsilon: float) -> float:
        return float(ndtr(-epsilon / mu + mu / 2) - math.exp(epsilon) * ndtr(-epsilon / mu - mu / 2))

    limit = bisected(lambda epsilon: delta_at(epsilon) > _DELTA, 0.0, 50.0, 60)[1]
    epsilon = limit if variant == "broken" else 0.62
    step = Subsample(part=Release(label="gradients", mechanism=_gaussian(_NOISE, "add_remove")), rate=_RATE)
    return by_certificate(
        Repeat(part=step, times=_STEPS), Claim(epsilon=epsilon, delta=_DELTA, neighbours="add_remove")
    )


def _segments(variant: Variant, _: np.random.Generator) -> tuple[Finding, ...]:
    """len(accountant), which counts segments of a history, taken for the number of steps."""
    history = [(4.0, 0.1, 20), (3.0, 0.1, 20)]
    counted = [(noise, rate, 1) for noise, rate, _ in history]
    claim_of = from_history(counted if variant == "broken" else history)
    labels = {f"gradient sums {index + 1}": times for index, (_, _, times) in enumerate(history)}

    def run(recorder: Recorder) -> None:
        for (noise, _, _), (label, times) in zip(history, labels.items(), strict=True):
            recorder.release(label, _gaussian(noise, "add_remove"), np.zeros(3), times)

    return by_trace(claim_of, run, np.random.Generator(np.random.PCG64(0)))


def _twice(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """One budget spent by two queries: a cache that misses asks the data again under the same label."""
    laplace = mechanism("laplace", scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
    declaration = Release(label="count", mechanism=laplace)

    def run(recorder: Recorder) -> None:
        for _ in range(2 if variant == "broken" else 1):
            recorder.release("count", laplace, np.array([3.0, 4.0]))

    return by_trace(declaration, run, rng)


def _tuning(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """The best of ten runs published with the budget of one (Papernot and Steinke 2022 on what it costs)."""
    noise = _gaussian(5.0)
    trained: Declaration = Release(label="model", mechanism=noise)
    chosen = Release(
        label="score", mechanism=mechanism("laplace", scale=9.0, l1_sensitivity=1.0, neighbours="replace_one")
    )
    whole = Repeat(part=Sequential(parts=(trained, chosen)), times=10)

    def run(recorder: Recorder) -> None:
        for _ in range(10):
            recorder.release("model", noise, np.zeros(4))
            recorder.release("score", chosen.mechanism, np.zeros(2))

    return by_trace(whole if variant == "fixed" else Sequential(parts=(trained, chosen)), run, rng)


def _refresh(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """Noise drawn once and used again in every episode, so that differences of releases are exact."""
    noise = _gaussian(5.0)
    declaration = Sequential(parts=tuple(Release(label=f"episode {i}", mechanism=noise) for i in range(4)))

    def run(recorder: Recorder) -> None:
        state = recorder.rng.bit_generator.state
        for episode in range(4):
            if variant == "broken":
                recorder.rng.bit_generator.state = state
            recorder.release(f"episode {episode}", noise, np.full(6, float(episode)))

    return by_trace(declaration, run, rng)


_FORMULAS = (
    (
        "classical Gaussian formula at epsilon 10",
        "used beyond epsilon 1 by several libraries; false from 8.42 on at delta 1e-5 (Balle and Wang 2018)",
        _classical,
    ),
    ("lost factor sqrt 2", "sqrt(ln(1.25/delta))/epsilon in public code of a locally private bandit", _missing_root),
    (
        "central limit accountant",
        "Opacus' 'gdp' accountant, which its own warning calls experimental, lies below the truth",
        _limit_theorem,
    ),
)
_RUNS = (
    ("budget spent twice", "budget", "a query answered again from the data where a cached answer was meant", _twice),
    (
        "tuning not accounted for",
        "budget",
        "ten runs on the same data, the best one published with the epsilon of one",
        _tuning,
    ),
    ("noise used again", "randomness", "a generator seeded afresh in every episode of a training loop", _refresh),
)
BUGS = (
    *(
        KnownBug(name=name, family="accounting", story=story, path="certify", look=look, seeded=False)
        for name, story, look in _FORMULAS
    ),
    KnownBug(
        name="segments taken for steps",
        family="accounting",
        story="len() of Opacus' RDP and PRV accountants counts segments, its docstring says steps",
        path="trace",
        look=_segments,
        seeded=False,
    ),
    *(KnownBug(name=name, family=family, story=story, path="trace", look=look) for name, family, story, look in _RUNS),
)
