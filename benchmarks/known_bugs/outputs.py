"""Bugs of the outputs: only an attack on the outputs detects them."""

import math
from typing import Any

import numpy as np

from benchmarks.known_bugs.known_bug import KnownBug, Variant, by_audit
from dpaudit import Claim
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Finding

_SCALE = 10.0


def _floating(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """Laplace noise by the inverse of a uniform double: its last bits depend on the answer (Mironov 2012)."""
    claim = Claim(epsilon=0.2, neighbours="replace_one")

    def run(answer: float, stream: np.random.Generator, n_runs: int) -> Array:
        noise = stream.choice([-1.0, 1.0], n_runs) * -_SCALE * np.log(1 - stream.random(n_runs))
        width = 2.0 ** math.ceil(math.log2(_SCALE))
        noisy: Array = answer + noise
        return noisy if variant == "broken" else np.round(noisy / width) * width

    def too_fine(outputs: Array) -> Array:
        # Near 0 a sum with 1 has lost what lies below 2^-53; a sum with 0 has not.
        scaled = np.ldexp(np.asarray(outputs), 53)
        return -((np.abs(outputs) < 0.5) & (scaled != np.round(scaled))).astype(float)

    return by_audit(run, (0.0, 1.0), claim, rng, runs=20_000, score=too_fine)


def _local(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """A local bandit's user sends a noisy reward and, in the clear, the action that their context chose."""
    claim = Claim(epsilon=1.0, neighbours="replace_one", model="local")

    def run(context: int, stream: np.random.Generator, n_runs: int) -> dict[str, Array]:
        best = np.full(n_runs, context)
        flipped = stream.random(n_runs) < 1 / (1 + math.exp(0.5))
        action = best if variant == "broken" else np.where(flipped, 1 - best, best)
        reward = np.where(action == context, 1.0, 0.0) if variant == "broken" else np.full(n_runs, 0.5)
        return {"action": action.astype(float), "reward": reward + stream.laplace(scale=2.0, size=n_runs)}

    return by_audit(run, (0, 1), claim, rng, runs=2000)


def _half(variant: Variant, rng: np.random.Generator) -> tuple[Finding, ...]:
    """A variance taken for a standard deviation, or a scale halved: 2 sums with noise for one."""
    claim = Claim(epsilon=1.0, neighbours="replace_one")

    def run(answer: Any, stream: np.random.Generator, n_runs: int) -> Array:
        scale = 0.5 if variant == "broken" else 1.0
        return answer + stream.laplace(scale=scale, size=n_runs)

    return by_audit(run, (0.0, 1.0), claim, rng, runs=2000)


_ROWS = (
    (
        "floating-point Laplace",
        "floating point",
        "the noise of nearly every library before snapping (Mironov 2012)",
        _floating,
    ),
    (
        "action identifies the context",
        "local model",
        "local bandits that noise the reward and send the chosen action as it is",
        _local,
    ),
    ("half the noise", "sensitivity", "a scale divided by the number of queries where it should be multiplied", _half),
)
BUGS = tuple(
    KnownBug(name=name, family=family, story=story, path="audit", look=look) for name, family, story, look in _ROWS
)
