"""Engines: each turns a composition into brackets on delta(epsilon) and epsilon(delta)."""

from dpaudit.engines.basic import BASIC
from dpaudit.engines.engine import Engine
from dpaudit.engines.enumeration import ENUMERATION
from dpaudit.engines.gaussian import GAUSSIAN
from dpaudit.engines.rare_samples import RARE
from dpaudit.engines.renyi import RENYI
from dpaudit.engines.single import SINGLE
from dpaudit.engines.tilted.engine import (
    TILTED,
    TILTED_COARSE,
    TILTED_COARSE_UPPER,
    TILTED_ROUGH,
    TILTED_SHARP,
    TILTED_UPPER,
)
from dpaudit.engines.tilted.once import ONCE, ONCE_QUICK, ONCE_SOON, ONCE_UPPER
from dpaudit.model.bracket import Effort

ENGINES: tuple[Engine, ...] = (SINGLE, ONCE, GAUSSIAN, BASIC, ENUMERATION, RARE, RENYI, TILTED)
"""The engines the accountant asks, the exact ones first."""

ROUGH: tuple[Engine, ...] = (SINGLE, ONCE_QUICK, GAUSSIAN, BASIC, ENUMERATION, RARE, TILTED_ROUGH)
"""Engines that tell which of several compositions may cost most."""

QUICK: tuple[Engine, ...] = (SINGLE, ONCE_SOON, GAUSSIAN, BASIC, ENUMERATION, RARE, TILTED_COARSE)
"""Engines for searches that ask many times: as sound as the others, and wider where no closed form exists."""

SHARP: tuple[Engine, ...] = (SINGLE, ONCE, GAUSSIAN, BASIC, ENUMERATION, RARE, RENYI, TILTED_SHARP)
"""Engines for the narrowest brackets, several times slower than those that are asked by default."""

BY_EFFORT: dict[Effort, tuple[Engine, ...]] = {"quick": QUICK, "default": ENGINES, "sharp": SHARP}
"""The engines of each effort; every one of them gives proved bounds."""

UPPERS: tuple[Engine, ...] = (SINGLE, ONCE_UPPER, GAUSSIAN, BASIC, ENUMERATION, RARE, TILTED_COARSE_UPPER)
"""The quick engines without the lower side where it is dear: their upper bounds are the same, the lower may be 0."""

PROVED_UPPERS: tuple[Engine, ...] = (SINGLE, ONCE_UPPER, GAUSSIAN, BASIC, ENUMERATION, RARE, RENYI, TILTED_UPPER)
"""Engines for one last proof that a claim is met: as narrow as all of them from above, the lower side left out."""

__all__ = [
    "BASIC",
    "BY_EFFORT",
    "ENGINES",
    "ENUMERATION",
    "GAUSSIAN",
    "ONCE",
    "ONCE_QUICK",
    "ONCE_SOON",
    "ONCE_UPPER",
    "PROVED_UPPERS",
    "QUICK",
    "RARE",
    "RENYI",
    "ROUGH",
    "SHARP",
    "SINGLE",
    "TILTED",
    "UPPERS",
    "Effort",
    "Engine",
]
