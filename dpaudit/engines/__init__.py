"""Engines: each turns a composition into brackets on delta(epsilon) and epsilon(delta)."""

from dpaudit.engines.basic import BASIC
from dpaudit.engines.engine import Engine
from dpaudit.engines.gaussian import GAUSSIAN

ENGINES: tuple[Engine, ...] = (GAUSSIAN, BASIC)
"""The engines the accountant asks, the exact ones first."""

__all__ = ["BASIC", "ENGINES", "GAUSSIAN", "Engine"]
