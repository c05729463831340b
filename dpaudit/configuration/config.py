"""Configurations: an algorithm with its problem, or a claim and a declaration written down without code."""

import json
import re
import tomllib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from dpaudit.checks import count, open_probability
from dpaudit.configuration.deployment_file import Deployment, DeploymentFault, decode_deployment
from dpaudit.configuration.source_lines import key_lines, longest_key, nearest_line
from dpaudit.configuration.tables import SectionError, read_section
from dpaudit.errors import ConfigError, DeclarationError, UnsupportedError
from dpaudit.model.algorithm import Algorithm
from dpaudit.model.claim import Claim
from dpaudit.model.codec import decode_claim, decode_declaration
from dpaudit.model.declaration import Declaration
from dpaudit.model.system import System
from dpaudit.runtime.plugins import find, suggestion

_LONGEST_KEY = 200

LEAST_RUNS = 4
"""What an audit needs: a run to learn from, one to choose on, and two that count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """How to attack: `view` picks cases by what the adversary sees (all where None); `runs` for each case.

    Raises: ValueError: fewer than `LEAST_RUNS` runs, or another field out of its range.
    """

    view: str | None = None
    runs: int = 20_000
    significance: float = 0.01
    jobs: int = 1
    seed: int | None = None

    def __post_init__(self) -> None:
        count("runs", self.runs, at_least=LEAST_RUNS)
        open_probability("significance", self.significance)
        count("jobs", self.jobs)
        if self.seed is not None:
            count("seed", self.seed, at_least=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A claim and a declaration that were written down; there is no code to run."""

    claim: Claim
    declaration: Declaration


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """An algorithm with its settings, and the problem it runs on (None where the file names none)."""

    name: str
    algorithm: Algorithm
    problem: Any
    claim: Claim
    declaration: Declaration


Subject: TypeAlias = Written | Configured


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One configuration file, read and checked; `text` is the file as it stands, for the report."""

    path: Path
    text: str
    system: System
    subject: Subject
    audit: AuditSettings
    deployment: Deployment = field(default_factory=Deployment)

    @contextmanager
    def locating(self) -> Generator[None, None, None]:
        """Give errors about the declaration the line of the section that it comes from."""
        try:
            yield
        except (DeclarationError, UnsupportedError) as error:
            section = "algorithm" if isinstance(self.subject, Configured) else "declaration"
            raise type(error)(str(self.error(str(error), section))) from None

    def error(self, message: str, *where: str | int) -> ConfigError:
        """Return an error that names the line of the key at `where`, or of the nearest key above it."""
        return _error(self.path, self.text, message, where)


def read_config(path: Path) -> Configuration:
    """Return the configuration in a TOML or JSON file.

    Raises: ConfigError: `file:line: what is wrong`, for the first fault found.
    """
    return config_of(path, read_text(path))


def config_of(path: Path, text: str) -> Configuration:
    """Return the configuration that `text` spells, as if it stood in `path`."""
    return _File(path, text, _parse(path, text)).configuration()


class _File:
    """A parsed file, which knows the line of each of its keys."""

    def __init__(self, path: Path, text: str, data: dict[str, Any]) -> None:
        self.path, self.text, self.data = path, text, data

    def configuration(self) -> Configuration:
        """Return what the file spells."""
        coded = "algorithm" in self.data
        shared = ("system", "deployment")
        sections = (*shared, "algorithm", "problem", "audit") if coded else (*shared, "claim", "declaration")
        self._require_known(sections, coded=coded)
        system: System = self._section("system", System, self._table("system"))
        subject = self._configured(system) if coded else self._written(system)
        audit: AuditSettings = self._section("audit", AuditSettings, self._table("audit"))
        return Configuration(
            path=self.path,
            text=self.text,
            system=system,
            subject=subject,
            audit=audit,
            deployment=self._deployment(),
        )

    def fail(self, message: str, *where: str | int) -> NoReturn:
        """Raise with the line of the key at `where`, or of the nearest key above it."""
        raise _error(self.path, self.text, message, where) from None

    def _require_known(self, sections: tuple[str, ...], *, coded: bool) -> None:
        """Refuse a section that nothing reads, and a file that says neither of the two things it may say."""
        for name in self.data:
            if coded and name in ("claim", "declaration"):
                self.fail(f"[{name}] stands beside [algorithm], which brings its own; keep one of the two.", name)
            if not coded and name in ("problem", "audit"):
                self.fail(f"[{name}] needs an [algorithm]: a declaration alone has no code to run.", name)
            if name not in sections:
                known = ("system", "algorithm", "problem", "audit", "claim", "declaration", "deployment")
                self.fail(f"unknown section [{name}]{suggestion(name, known)}", name)
        for name in () if coded else ("claim", "declaration"):
            if name not in self.data:
                self.fail(f"missing section [{name}]; give an [algorithm], or a [claim] with its [declaration].")

    def _table(self, name: str) -> dict[str, Any]:
        """Return the section `name`, empty where it is not there."""
        table = self.data.get(name, {})
        if not isinstance(table, Mapping):
            self.fail(f"Expected {name}={table!r:.80} to be a table, written [{name}].", name)
        return dict(table)

    def _section(self, name: str, target: Any, table: dict[str, Any]) -> Any:
        """Return `target` called with the keys of one section."""
        try:
            return read_section(target, table, self.path.parent)
        except SectionError as error:
            self.fail(f"{error}" if str(error).startswith("Expected") else f"[{name}] {error}", name, error.key)
        except ConfigError as error:
            self.fail(str(error), name)

    def _deployment(self) -> Deployment:
        """Return what the file declares about the deployment; an empty one where it says nothing."""
        table = self._table("deployment")
        try:
            return decode_deployment(table) if table else Deployment()
        except DeploymentFault as fault:
            self.fail(f"[deployment] {fault}", "deployment", *fault.where)

    def _plugin(self, kind: Any, section: str) -> tuple[str, Any, dict[str, Any]]:
        """Return the name in a section, what it stands for, and the section's other keys."""
        table = self._table(section)
        name = table.pop("name", None)
        if not isinstance(name, str):
            self.fail(f"[{section}] missing key 'name', which is text; `dpaudit list {kind}` shows them.", section)
        try:
            return name, find(kind, name), table
        except ConfigError as error:
            self.fail(str(error), section, "name")

    def _configured(self, system: System) -> Configured:
        """Return the algorithm and its problem."""
        name, kind, table = self._plugin("algorithms", "algorithm")
        algorithm: Algorithm = self._section("algorithm", kind, table)
        problem = None
        if "problem" in self.data:
            _, factory, parameters = self._plugin("problems", "problem")
            problem = self._section("problem", factory, parameters)
        try:
            claim, declaration = algorithm.claim(), algorithm.declaration()
        except (ValueError, ConfigError, DeclarationError, UnsupportedError) as error:
            self.fail(f"[algorithm] {error}", "algorithm")
        return Configured(
            name=name, algorithm=algorithm, problem=problem, claim=_named(claim, system), declaration=declaration
        )

    def _written(self, system: System) -> Written:
        """Return the claim and the declaration that the file writes down."""
        try:
            claim = decode_claim(self._table("claim"))
            declaration = decode_declaration(self._table("declaration"), claim.neighbours)
        except ConfigError as error:
            self.fail(str(error), *_place(str(error)))
        return Written(claim=_named(claim, system), declaration=declaration)


def _error(path: Path, text: str, message: str, where: tuple[str | int, ...]) -> ConfigError:
    """Return `file:line: message`."""
    return ConfigError(f"{path}:{nearest_line(key_lines(text), where)}: {message}")


def _named(claim: Claim, system: System) -> Claim:
    """Return the claim with the system's own words for one person's contribution, where it has some."""
    return replace(claim, unit=system.unit) if system.unit else claim


def read_text(path: Path) -> str:
    """Return the text of a configuration file."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}).") from None


def _parse(path: Path, text: str) -> dict[str, Any]:
    """Return the plain data of a file, by its suffix."""
    if path.suffix not in (".toml", ".json"):
        raise ConfigError(f"{path}: expected a .toml or a .json file.")
    try:
        if path.suffix == ".toml":
            if longest_key(text) > _LONGEST_KEY:  # such a key alone would keep a parser busy for hours
                raise ConfigError(f"{path}:1: a key of more than {_LONGEST_KEY} parts; write it flatter.")
            return tomllib.loads(text)
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}:{error.lineno}: invalid JSON: {error.msg} (column {error.colno}).") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_toml_message(path, text, str(error))) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}:1: {error}.") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path}:1: expected a JSON object with 'claim' and 'declaration'.")
    return data


def _toml_message(path: Path, text: str, message: str) -> str:
    """Return a TOML error with its line in front."""
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)", message)
    line = found.group(1) if found and found.group(1) else str(text.count("\n") + 1)
    column = f" (column {found.group(2)})" if found and found.group(2) else ""
    return f"{path}:{line}: invalid TOML: {message[: found.start()] if found else message}{column}."


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a table, or refuse a key that stands in it twice."""
    table = dict(pairs)
    if len(table) < len(pairs):
        twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"invalid JSON: the key {twice!r} stands twice in one object")
    return table


def _no_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which JSON does not have."""
    raise ValueError(f'invalid JSON: {name} is no JSON number; write "inf" for infinity')


def _place(message: str) -> tuple[str | int, ...]:
    """Return the path that a message of the codec starts with, and the key it names."""
    found = re.match(r"[\w.\[\]]+(?=: )", message)
    words = re.findall(r"[^.\[\]]+", found.group()) if found else []
    path = tuple(int(word) if word.isdigit() else word for word in words)
    key = re.search(r"unknown key '([^']+)'|: Expected (\w+)[= ]|unknown (node)=|Unknown mechanism (name)=", message)
    return (*path, *(word for word in (key.groups() if key else ()) if word))
