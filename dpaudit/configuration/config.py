"""Reading a configuration: an algorithm with its problem, or a claim and a declaration written down without code."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from dpaudit.configuration.configuration import (
    AccountingSettings,
    Adapted,
    AuditSettings,
    Configuration,
    Configured,
    EvidenceSettings,
    LibrarySettings,
    ReportSettings,
    Subject,
    Written,
)
from dpaudit.configuration.deployment_file import decode_deployment
from dpaudit.configuration.files import locate, parse, read_text
from dpaudit.configuration.tables import read_section
from dpaudit.errors import ConfigError, DeclarationError, Fault, UnsupportedError
from dpaudit.model.algorithm import Algorithm
from dpaudit.model.claim import Claim
from dpaudit.model.codec import decode_claim, decode_declaration
from dpaudit.model.declaration import Declaration
from dpaudit.model.deployment import Deployment, System
from dpaudit.model.transcript import returned_by
from dpaudit.runtime.files_read import files_read, is_own
from dpaudit.runtime.plugins import find_plugin, load_package, suggestion

T = TypeVar("T")


def read_config(path: Path) -> Configuration:
    """Return the configuration in a TOML or JSON file.

    Raises: ConfigError: `file:line: what is wrong`, for the first fault found.
    """
    return config_of(path, read_text(path))


def config_of(path: Path, text: str) -> Configuration:
    """Return the configuration that `text` spells, as if it stood in `path`."""
    return _File(path, text, parse(path, text)).configuration()


_SHARED = ("system", "deployment", "report", "evidence", "accounting")
_CODED = ("algorithm", "problem", "audit")
_LIBRARY = ("library", "audit")
_WRITTEN = ("claim", "declaration")
"""The sections of every file, of one that names an algorithm, or a library, or that writes a declaration down."""


class _File:
    """A parsed file, which knows the line of each of its keys."""

    def __init__(self, path: Path, text: str, data: dict[str, Any]) -> None:
        self.path, self.text, self.data = path, text, data

    def configuration(self) -> Configuration:
        """Return what the file spells."""
        system, subject = self._subject()
        return Configuration(
            path=self.path,
            text=self.text,
            system=system,
            subject=subject,
            audit=self._section("audit", AuditSettings, self._table("audit")),
            deployment=self._deployment(),
            report=self._section("report", ReportSettings, self._table("report")),
            accounting=self._section("accounting", AccountingSettings, self._table("accounting")),
            evidence=self._evidence(),
        )

    def _evidence(self) -> EvidenceSettings:
        """Return the files of evidence; a study speaks of an algorithm only."""
        table = self._table("evidence")
        if "study" in table and "algorithm" not in self.data:
            self.fail("[evidence] study needs an [algorithm]: a study runs its code.", "evidence", "study")
        return self._section("evidence", EvidenceSettings, table)

    def _subject(self) -> tuple[System, Subject]:
        """Return the system and what the file is about: an algorithm, a library's release, or what it writes down."""
        coded, foreign = "algorithm" in self.data, "library" in self.data and "algorithm" not in self.data
        own = _CODED if coded else _LIBRARY if foreign else _WRITTEN
        sections = (*_SHARED, *own)
        self._require_known(sections, coded=coded or foreign)
        system = self._section("system", System, self._table("system"))
        if foreign:
            return system, self._adapted(system)
        return system, self._configured(system) if coded else self._written(system)

    def fail(self, message: str, *where: str | int) -> NoReturn:
        """Raise with the line of the key at `where`, or of the nearest key above it."""
        raise locate(Fault(where, message), self.path, self.text) from None

    def _require_known(self, sections: tuple[str, ...], *, coded: bool) -> None:
        """Refuse a section that nothing reads, and a file that says neither of the two things it may say."""
        for name in self.data:
            if coded and name in ("claim", "declaration"):
                owner = "algorithm" if "algorithm" in self.data else "library"
                self.fail(f"[{name}] stands beside [{owner}], which brings its own; keep one of the two.", name)
            if not coded and name in ("problem", "audit"):
                self.fail(f"[{name}] needs an [algorithm]: a declaration alone has no code to run.", name)
            if name not in sections:
                self.fail(f"unknown section [{name}]{_meant(name)}", name)
        for name in () if coded else ("claim", "declaration"):
            if name not in self.data:
                self.fail(f"missing section [{name}]; give an [algorithm], or a [claim] with its [declaration].")

    def _table(self, name: str) -> dict[str, Any]:
        """Return the section `name`, empty where it is not there."""
        table = self.data.get(name, {})
        if not isinstance(table, Mapping):
            self.fail(f"Expected {name}={table!r:.80} to be a table, written [{name}].", name)
        return dict(table)

    def _section(self, name: str, target: Callable[..., T], table: dict[str, Any]) -> T:
        """Return `target` called with the keys of one section."""
        try:
            return read_section(target, table, self.path.parent, name)
        except Fault as fault:
            raise locate(fault, self.path, self.text) from None
        except ConfigError as error:
            self.fail(error.message, name)

    def _deployment(self) -> Deployment:
        """Return what the file declares about the deployment; an empty one where it says nothing."""
        table = self._table("deployment")
        try:
            return decode_deployment(table) if table else Deployment()
        except Fault as fault:
            self.fail(f"[deployment] {fault.message}", "deployment", *fault.where)

    def _plugin(self, kind: Any, section: str) -> tuple[str, Any, dict[str, Any]]:
        """Return the name in a section, what it stands for, and the section's other keys."""
        table = self._table(section)
        name = table.pop("name", None)
        if not isinstance(name, str):
            self.fail(f"[{section}] missing key 'name', which is text; `dpaudit list {kind}` shows them.", section)
        try:
            return name, find_plugin(kind, name), table
        except ConfigError as error:
            self.fail(error.message, section, "name")

    def _configured(self, system: System) -> Configured:
        """Return the algorithm and its problem."""
        name, kind, table = self._plugin("algorithms", "algorithm")
        algorithm: Algorithm = self._section("algorithm", kind, table)
        problem, files = None, tuple[Path, ...]()
        if "problem" in self.data:
            _, factory, parameters = self._plugin("problems", "problem")
            with files_read() as read:
                problem = self._section("problem", factory, parameters)
            files = tuple(sorted(filter(is_own, read)))
        try:
            claim: Claim = returned_by(algorithm, "claim", Claim)
            declaration: Declaration = returned_by(algorithm, "declaration", Declaration)
        except (ValueError, ConfigError, DeclarationError, UnsupportedError) as error:
            self.fail(f"[algorithm] {error}", "algorithm")
        return Configured(
            name=name,
            algorithm=algorithm,
            problem=problem,
            claim=_named(claim, system),
            declaration=declaration,
            files=files,
        )

    def _adapted(self, system: System) -> Adapted:
        """Return the release of another library that a function of the user's builds."""
        library = self._section("library", LibrarySettings, self._table("library"))
        try:
            configured = load_package("dpaudit.adapters.factory").configured
            release = configured(library.name, library.object, str(self.path.resolve().parent))
        except (ConfigError, UnsupportedError) as error:
            self.fail(f"[library] {error}", "library", "object")
        claim = _named(release.claim, system)
        return Adapted(claim=claim, declaration=release.declaration, cases=release.cases())

    def _written(self, system: System) -> Written:
        """Return the claim and the declaration that the file writes down."""
        try:
            claim = decode_claim(self._table("claim"))
            declaration = decode_declaration(self._table("declaration"), claim.neighbours)
        except Fault as fault:
            raise locate(fault, self.path, self.text) from None
        except RecursionError:
            deep = Fault(("declaration",), "The declaration is nested too deeply to be read; write it flatter.")
            raise locate(deep, self.path, self.text) from None
        stated = self._table("claim").get("unit", system.unit)
        if system.unit and stated != system.unit:
            both = f"[system] unit={system.unit!r} and [claim] unit={stated!r}"
            self.fail(f"{both} differ; state it once.", "system", "unit")
        return Written(claim=_named(claim, system), declaration=declaration)


def _meant(name: str) -> str:
    """Return the end of a complaint about an unknown section: what is probably meant, or what there is."""
    if name in ("study", "contender"):
        return ": this is a study; run `dpaudit study` on it."
    if name in ("mechanism", "part", "parts", "node"):
        return f", a table of the declaration; write [declaration.{name}]."
    return suggestion(name, tuple(dict.fromkeys((*_SHARED, *_CODED, *_LIBRARY, *_WRITTEN))))


def _named(claim: Claim, system: System) -> Claim:
    """Return the claim with the system's own words for one person's contribution, where it has some."""
    return replace(claim, unit=system.unit) if system.unit else claim
