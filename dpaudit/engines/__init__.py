"""Engines: each turns a composition into brackets on delta(epsilon) and epsilon(delta)."""

from dpaudit.engines.basic import BASIC
from dpaudit.engines.engine import Engine
from dpaudit.engines.gaussian import GAUSSIAN
from dpaudit.engines.optimal import OPTIMAL
from dpaudit.engines.pld import PLD
from dpaudit.engines.renyi import RENYI
from dpaudit.engines.single import SINGLE
from dpaudit.engines.verified.engine import COARSE, UPPER, VERIFIED

ENGINES: tuple[Engine, ...] = (SINGLE, GAUSSIAN, BASIC, OPTIMAL, RENYI, VERIFIED)
"""The engines the accountant asks, the exact ones first."""

QUICK: tuple[Engine, ...] = (SINGLE, GAUSSIAN, BASIC, OPTIMAL, COARSE)
"""Engines for searches that ask many times: as sound as the others, and wider where no closed form exists."""

UPPERS: tuple[Engine, ...] = (SINGLE, GAUSSIAN, BASIC, OPTIMAL, UPPER)
"""The quick engines without the lower side where it is dear: their upper bounds are the same, the lower may be 0."""

SECOND_OPINIONS: tuple[Engine, ...] = (PLD,)
"""Slower engines by other people, for comparison: `bracket_epsilon(form, delta, ENGINES + SECOND_OPINIONS)`."""

__all__ = [
    "BASIC",
    "ENGINES",
    "GAUSSIAN",
    "OPTIMAL",
    "PLD",
    "QUICK",
    "RENYI",
    "SECOND_OPINIONS",
    "SINGLE",
    "UPPERS",
    "VERIFIED",
    "Engine",
]
