"""Digests of a configuration: one algorithm on one problem, by their values and not by how a file spells them."""

import hashlib
import inspect
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from dpaudit.runtime.plugins import find_plugin
from dpaudit.study.study import HORIZON_KEYS, LENGTH


def config_digest(algorithm: Any, problem: Mapping[str, Any]) -> str:
    """Return the digest of an algorithm on a problem, whatever its horizon and whatever the seed of a drawn problem.

    `algorithm` is the configured object, `problem` the table of a file. Defaults count as if they were written, the
    order of keys does not matter, and a number means its value: 1 is 1.0. A value "horizon" of the problem stays text,
    and `users` of a problem that are as many as the horizon are written so.
    """
    name = str(problem.get("name"))
    given = {key: value for key, value in problem.items() if key not in ("name", "seed")}
    parameters = inspect.signature(find_plugin("problems", name)).parameters.items()
    defaults = {key: entry.default for key, entry in parameters if entry.default is not inspect.Parameter.empty}
    defaults.pop("seed", None)
    if given.get("users") in [getattr(algorithm, key) for key in HORIZON_KEYS if hasattr(algorithm, key)]:
        given["users"] = LENGTH
    settings = {key: value for key, value in asdict(algorithm).items() if key not in HORIZON_KEYS}
    kind = f"{type(algorithm).__module__}.{type(algorithm).__qualname__}"
    digested = {"kind": kind, "settings": plain(settings), "problem": plain({"name": name} | defaults | given)}
    return hashlib.sha256(json.dumps(digested, sort_keys=True, separators=(",", ":"), default=str).encode()).hexdigest()


def plain(value: Any) -> Any:
    """Return plain data: a dataclass as a table, NaN as None, infinity as text, numbers to ten digits, 1.0 as 1."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        return int(value) if value == int(value) and abs(value) < 2**53 else float(f"{value:.10g}")
    return str(value) if isinstance(value, Path) else value
