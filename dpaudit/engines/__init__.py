"""Engines: each turns a composition into brackets on delta(epsilon) and epsilon(delta)."""

from dpaudit.engines.basic import BASIC as BASIC
from dpaudit.engines.bounded_range import ADAPTIVE as ADAPTIVE
from dpaudit.engines.engine import Engine as Engine
from dpaudit.engines.enumeration import ENUMERATION as ENUMERATION
from dpaudit.engines.gaussian import GAUSSIAN as GAUSSIAN
from dpaudit.engines.precision import BY_EFFORT as BY_EFFORT
from dpaudit.engines.precision import DEFAULT as DEFAULT
from dpaudit.engines.precision import PROVED_UPPERS as PROVED_UPPERS
from dpaudit.engines.precision import QUICK as QUICK
from dpaudit.engines.precision import ROUGH as ROUGH
from dpaudit.engines.precision import SHARP as SHARP
from dpaudit.engines.precision import UPPERS as UPPERS
from dpaudit.engines.precision import Precision as Precision
from dpaudit.engines.renyi import RANGED as RANGED
from dpaudit.engines.renyi import RENYI as RENYI
from dpaudit.engines.single import SINGLE as SINGLE
from dpaudit.engines.tilted.engine import TILTED as TILTED

ENGINES: tuple[Engine, ...] = (SINGLE, GAUSSIAN, BASIC, ENUMERATION, RENYI, TILTED)
"""The engines the accountant asks, the exact ones first."""
