"""Reading a study: one TOML file with [study], [problem] and several [[contender]] tables."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpaudit.configuration.files import locate, parse, read_text
from dpaudit.configuration.tables import read_section
from dpaudit.errors import ConfigError, Fault
from dpaudit.study.cells import cells_of
from dpaudit.study.making import make_algorithm, make_problem
from dpaudit.study.study import Contender, Study, StudySettings


def read_study(path: Path) -> Study:
    """Return the study in a TOML file, every algorithm and problem of it made once.

    Raises: ConfigError: `file:line: what is wrong`, for the first fault found.
    """
    return study_of(path, read_text(path))


def study_of(path: Path, text: str) -> Study:
    """Return the study that `text` spells, as if it stood in `path`.

    Raises: ConfigError: as for `read_study`.
    """
    data = parse(path, text)
    try:
        if "study" not in data:
            needed = "a study has [study], [problem] and several [[contender]]"
            raise Fault((), f"no [study]: {needed}. If this is a configuration, run `dpaudit certify` on it.")
        study: Study = read_section(_study, data, path.parent)
        _try(study, path.parent)
    except Fault as fault:
        raise locate(fault, path, text) from None
    return study


def _study(study: StudySettings, problem: dict[str, Any], contender: tuple[Contender, ...]) -> Study:
    """Return the study of the sections of a file, which have the names of these parameters."""
    return Study(settings=study, problem=problem, contenders=contender)


def _try(study: Study, folder: Path) -> None:
    """Make every algorithm and problem once, so that what is wrong is said before anything runs."""
    labels = [contender.label for contender in study.contenders]
    firsts = {(cell.label, cell.horizon): cell for cell in reversed(cells_of(study))}
    for cell in firsts.values():
        with _located("problem"):
            make_problem(study, cell.horizon, study.settings.problems[0], folder)
        with _located("contender", labels.index(cell.label), "algorithm"):
            make_algorithm(study, cell, folder)


@contextmanager
def _located(*where: str | int) -> Generator[None, None, None]:
    """Give what is wrong with a table its place in the file."""
    try:
        yield
    except Fault as fault:
        raise fault.inside(*where) from None
    except (ConfigError, ValueError) as error:
        raise Fault(where, getattr(error, "message", str(error))) from None
