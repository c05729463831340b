"""The largest factor of missing noise that an audit would have detected, by repeating the audit with less noise."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpaudit import AuditCase

Flags = Callable[[AuditCase, np.random.Generator], bool]
"""flags(case, rng) -> whether the audit finds a violation in `case`."""

FACTORS = (0.9, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)
"""The factors that are tried, from the least missing noise to the most."""

_REPEATS = 10


def missing_noise(case: AuditCase, flags: Flags, rng: np.random.Generator) -> str:
    """Return a sentence with the largest factor of the declared noise that ten of ten repetitions detect.

    Empty for a case that cannot be simulated with less noise. Ten of ten means a power of at least 0.9 with
    probability 0.65 (and of 0.74 with probability 0.95): an estimate, and printed as one. Does not advance `rng`;
    spawns child generators.
    """
    if case.weakened is None:
        return ""
    for factor in FACTORS:
        weakened = replace(case.weakened(factor), weakened=None)
        if all(flags(weakened, stream) for stream in rng.spawn(_REPEATS)):
            return f"Noise below about {factor:g} times the declared would have been caught."
    return "No missing noise would have been caught: this audit says nothing about noise."
