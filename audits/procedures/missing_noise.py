"""Which factor of missing noise an audit would have caught: the audit itself, repeated where noise is missing."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dpaudit import AuditCase, Claim

FACTORS = (0.9, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)
"""The factors that are tried, from the least missing to the most."""

_REPEATS = 10


def missing_noise(case: AuditCase, claim: Claim, runs: int, significance: float, rng: np.random.Generator) -> str:
    """Return a sentence with the largest factor of the declared noise that ten of ten repetitions would have caught.

    Empty for a case that cannot be simulated with less noise. Ten of ten means a power of at least 0.9 with
    probability 0.65 (and of 0.74 with probability 0.95): an estimate, and printed as one. Draws from `rng` stay as they
    are: it spawns streams of its own.
    """
    if case.weakened is None:
        return ""
    for factor in FACTORS:
        if all(_caught(replace(case.weakened(factor), weakened=None), claim, runs, significance, rng)):
            return f"Noise below about {factor:g} times the declared would have been caught."
    return "No missing noise would have been caught: this audit says nothing about noise."


def _caught(case: AuditCase, claim: Claim, runs: int, significance: float, rng: np.random.Generator) -> Iterator[bool]:
    """Yield whether each repetition accuses the weakened case; whoever asks may stop at the first that does not."""
    from audits.procedures.fixed_size import audit_case

    for stream in rng.spawn(_REPEATS):
        result = audit_case(case, claim, runs=runs, rng=stream, significance=significance)
        yield result.verdict == "violation"
