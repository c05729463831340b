"""Engines: each turns a composition into brackets on delta(epsilon) and epsilon(delta)."""

import math

from dpaudit.engines.basic import BASIC
from dpaudit.engines.chain import below, in_turn, narrow
from dpaudit.engines.engine import Engine
from dpaudit.engines.gaussian import GAUSSIAN
from dpaudit.engines.optimal import OPTIMAL
from dpaudit.engines.pld import PLD
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
from dpaudit.engines.tilted.once import ONCE, ONCE_QUICK, ONCE_UPPER
from dpaudit.engines.verified.engine import COARSE, PROVED, UPPER, VERIFIED
from dpaudit.model.bracket import Effort

CONFIRMED = in_turn(TILTED, VERIFIED, epsilon=narrow(1e-4), delta=narrow(1e-3))
"""The tilted engine, and exact integers where its bracket is wider than usual."""

ONCE_SOON = in_turn(ONCE_QUICK, ONCE, epsilon=narrow(5e-2), delta=narrow(0.5))
"""A quick look at secret steps that are met once, and a fine one where that is wide."""

ENGINES: tuple[Engine, ...] = (SINGLE, ONCE, GAUSSIAN, BASIC, OPTIMAL, RARE, RENYI, CONFIRMED)
"""The engines the accountant asks, the exact ones first."""

ROUGH: tuple[Engine, ...] = (
    SINGLE,
    ONCE_QUICK,
    GAUSSIAN,
    BASIC,
    OPTIMAL,
    RARE,
    in_turn(TILTED_ROUGH, COARSE, epsilon=narrow(5e-2), delta=narrow(0.5)),
)
"""Engines that tell which of several compositions may cost most."""

QUICK: tuple[Engine, ...] = (
    SINGLE,
    ONCE_SOON,
    GAUSSIAN,
    BASIC,
    OPTIMAL,
    RARE,
    in_turn(TILTED_COARSE, COARSE, epsilon=narrow(5e-3), delta=narrow(5e-2)),
)
"""Engines for searches that ask many times: as sound as the others, and wider where no closed form exists."""

SHARP: tuple[Engine, ...] = (
    SINGLE,
    ONCE,
    GAUSSIAN,
    BASIC,
    OPTIMAL,
    RARE,
    RENYI,
    in_turn(TILTED_SHARP, VERIFIED, epsilon=narrow(1e-5), delta=narrow(1e-4)),
)
"""Engines for the narrowest brackets, several times slower than those that are asked by default."""

BY_EFFORT: dict[Effort, tuple[Engine, ...]] = {"quick": QUICK, "default": ENGINES, "sharp": SHARP}
"""The engines of each effort; every one of them gives proved bounds."""

UPPERS: tuple[Engine, ...] = (
    SINGLE,
    ONCE_UPPER,
    GAUSSIAN,
    BASIC,
    OPTIMAL,
    RARE,
    in_turn(TILTED_COARSE_UPPER, UPPER, epsilon=below(math.inf), delta=below(1.0)),
)
"""The quick engines without the lower side where it is dear: their upper bounds are the same, the lower may be 0."""

PROVED_UPPERS: tuple[Engine, ...] = (
    SINGLE,
    ONCE_UPPER,
    GAUSSIAN,
    BASIC,
    OPTIMAL,
    RARE,
    RENYI,
    in_turn(TILTED_UPPER, PROVED, epsilon=below(math.inf), delta=below(1.0)),
)
"""Engines for one last proof that a claim is met: as narrow as all of them from above, the lower side left out."""

SECOND_OPINIONS: tuple[Engine, ...] = (PLD,)
"""Slower engines by other people, for comparison: `bracket_epsilon(form, delta, ENGINES + SECOND_OPINIONS)`."""

__all__ = [
    "BASIC",
    "BY_EFFORT",
    "CONFIRMED",
    "ENGINES",
    "GAUSSIAN",
    "ONCE",
    "ONCE_QUICK",
    "ONCE_SOON",
    "ONCE_UPPER",
    "OPTIMAL",
    "PLD",
    "PROVED_UPPERS",
    "QUICK",
    "RARE",
    "RENYI",
    "ROUGH",
    "SECOND_OPINIONS",
    "SHARP",
    "SINGLE",
    "TILTED",
    "UPPERS",
    "VERIFIED",
    "Effort",
    "Engine",
]
