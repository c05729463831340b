"""The algorithm and the problem of a cell, made from the tables of the study's file."""

import inspect
from pathlib import Path
from typing import Any

from dpaudit.configuration.tables import parameters_of, read_section
from dpaudit.errors import ConfigError
from dpaudit.runtime.plugins import find_plugin, load_package, suggestion
from dpaudit.study.cells import Cell
from dpaudit.study.study import HORIZON_KEYS, LENGTH, Study


def find_contender(name: str) -> Any:
    """Return the class of an algorithm, or of a method to compare with that is no algorithm of its own.

    Raises: ConfigError: no such name; the message offers the nearest one.
    """
    others = load_package("algorithms.references")
    if name in others.NAMES:
        return others.load(name)
    try:
        return find_plugin("algorithms", name)
    except ConfigError:
        names = (*load_package("algorithms").NAMES, *others.NAMES)
        raise ConfigError(f"Unknown algorithm name={name!r}{suggestion(name, names)}") from None


def make_algorithm(study: Study, cell: Cell, folder: Path) -> Any:
    """Return the algorithm of a cell with its horizon, its epsilon and its chosen settings.

    Raises: ConfigError: a name or a key that does not fit.
    """
    contender = study.contender(cell.label)
    table = {key: value for key, value in contender.algorithm.items() if key != "name"}
    kind = find_contender(contender.name)
    table[horizon_key(kind)] = cell.horizon
    if cell.epsilon is not None:
        table["epsilon"] = cell.epsilon
    table |= {key: contender.tune[key][number] for key, number in cell.tuning}
    return read_section(kind, table, folder)


def horizon_key(kind: Any) -> str:
    """Return the setting that says how long an algorithm runs.

    Raises: ConfigError: it has none of those known.
    """
    parameters = parameters_of(kind)
    for key in HORIZON_KEYS:
        if key in parameters:
            return key
    raise ConfigError(f"Expected {getattr(kind, '__name__', kind)} to have one of: {', '.join(HORIZON_KEYS)}.")


def make_problem(study: Study, horizon: int, seed: int, folder: Path, gap_factor: float = 1.0) -> Any:
    """Return the problem of one seed; the text "horizon" as a value of its table stands for the horizon.

    A factory without `seed` makes one fixed problem. With a gap factor other than 1 the problem's `with_gap_factor` is
    called.
    Raises: ConfigError: a name, a key or a value that does not fit; several seeds for a fixed problem.
    """
    table = dict(study.problem)
    name = table.pop("name", None)
    if not isinstance(name, str):
        raise ConfigError("[problem] missing key 'name', which is text; `dpaudit list problems` shows them.")
    factory = find_plugin("problems", name)
    table = {key: horizon if value == LENGTH else value for key, value in table.items()}
    if "seed" in inspect.signature(factory).parameters:
        table["seed"] = seed
    elif len(study.settings.problems) > 1:
        raise ConfigError(f"Expected study.problems with one seed: the problem {name!r} is fixed.")
    problem = read_section(factory, table, folder)
    return problem if gap_factor == 1.0 else problem.with_gap_factor(gap_factor)
