"""Engines: each turns a composition into brackets on delta(epsilon) and epsilon(delta)."""

from dpaudit.engines.basic import BASIC
from dpaudit.engines.engine import Engine
from dpaudit.engines.gaussian import GAUSSIAN
from dpaudit.engines.verified import VERIFIED

ENGINES: tuple[Engine, ...] = (GAUSSIAN, BASIC, VERIFIED)
"""The engines the accountant asks, the exact ones first."""

__all__ = ["BASIC", "ENGINES", "GAUSSIAN", "VERIFIED", "Engine"]
