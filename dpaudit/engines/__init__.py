"""Engines: each turns a composition into brackets on delta(epsilon) and epsilon(delta)."""

from dpaudit.engines.bounded_range import RANGE as RANGE
from dpaudit.engines.closed import CLOSED as CLOSED
from dpaudit.engines.closed import is_closed as is_closed
from dpaudit.engines.engine import Engine as Engine
from dpaudit.engines.precision import BY_EFFORT as BY_EFFORT
from dpaudit.engines.precision import DEFAULT as DEFAULT
from dpaudit.engines.precision import PROVED_UPPERS as PROVED_UPPERS
from dpaudit.engines.precision import QUICK as QUICK
from dpaudit.engines.precision import ROUGH as ROUGH
from dpaudit.engines.precision import SHARP as SHARP
from dpaudit.engines.precision import UPPERS as UPPERS
from dpaudit.engines.precision import Precision as Precision
from dpaudit.engines.renyi import RENYI as RENYI
from dpaudit.engines.tilted.engine import TILTED as TILTED

ENGINES: tuple[Engine, ...] = (CLOSED, RENYI, TILTED)
"""The engines the accountant asks, the exact ones first."""
