"""Reading a study: one TOML file with [study], [problem] and several [[contender]] tables."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpaudit.configuration.files import locate, parse, read_text
from dpaudit.configuration.tables import read_section
from dpaudit.errors import ConfigError, Fault, KeyPath
from dpaudit.runtime.plugins import suggestion
from dpaudit.study.cells import cells_of
from dpaudit.study.making import make_algorithm, make_problem
from dpaudit.study.study import Contender, Study, StudySettings

_SECTIONS = ("study", "problem", "contender")


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
        study = _study(data, path.parent)
        _try(study, path.parent)
    except Fault as fault:
        raise locate(fault, path, text) from None
    return study


def _study(data: dict[str, Any], folder: Path) -> Study:
    """Return the study of plain data."""
    for name in data:
        if name not in _SECTIONS:
            if name in ("system", "claim", "declaration", "algorithm", "audit"):
                raise Fault((name,), f"unknown section [{name}]: this is a configuration; run `dpaudit certify` on it.")
            raise Fault((name,), f"unknown section [{name}]{suggestion(name, _SECTIONS)}")
    for name in _SECTIONS:
        if name not in data:
            written = "[[contender]]" if name == "contender" else f"[{name}]"
            raise Fault((), f"missing section {written}; a study has [study], [problem] and several [[contender]].")
    tables = data["contender"]
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise Fault(("contender",), "Expected contender to be a list of tables, each written [[contender]].")
    settings: StudySettings = _read(StudySettings, _table(data, "study"), folder, ("study",))
    contenders = tuple(_read(Contender, table, folder, ("contender", number)) for number, table in enumerate(tables))
    try:
        return Study(settings=settings, problem=_table(data, "problem"), contenders=contenders)
    except ValueError as error:
        raise Fault(("contender",), str(error)) from None


def _table(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a section that is a table."""
    table = data[name]
    if not isinstance(table, dict):
        raise Fault((name,), f"Expected {name}={table!r:.80} to be a table, written [{name}].")
    return dict(table)


def _read(target: Any, table: dict[str, Any], folder: Path, where: KeyPath) -> Any:
    """Return `target` with the keys of one table, which stands at `where`."""
    try:
        return read_section(target, table, folder)
    except Fault as fault:
        raise fault.inside(*where) from None


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
        raise Fault(where, _said(error)) from None


def _said(error: Exception) -> str:
    """Return what an error says, without file and line."""
    return error.message if isinstance(error, ConfigError) else str(error)
