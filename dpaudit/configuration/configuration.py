"""A configuration file after reading: a subject, how to attack it, and what is declared about it."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from dpaudit.arguments import settled
from dpaudit.checks import Count, Natural, OpenProbability, Within
from dpaudit.configuration.files import locate, parse
from dpaudit.errors import ConfigError, DeclarationError, DPAuditError, Fault, UnsupportedError
from dpaudit.model.algorithm import Algorithm
from dpaudit.model.bracket import Effort
from dpaudit.model.case import AuditCase
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration
from dpaudit.model.deployment import Deployment, System
from dpaudit.runtime.plugins import plug_in_fault

LEAST_RUNS = 4
"""What an audit needs: a run to learn from, one to choose on, and two that count."""


@settled
class AuditSettings:
    """How to attack.

    Parameters: `view`, what the adversary sees, which picks cases (all where absent); `runs` of each case;
    `significance`, the probability of a false alarm; `jobs`, the number of processes; `seed` of all randomness, drawn
    and shown where absent.
    Raises: ValueError: fewer than `LEAST_RUNS` runs, or another field out of its range.
    """

    view: str | None = None
    runs: Annotated[int, Within(at_least=LEAST_RUNS)] = 20_000
    significance: OpenProbability = 0.01
    jobs: Count = 1
    seed: Natural | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountingSettings:
    """How long to compute.

    Parameters: `effort`, which trades time for the width of a proved bracket: *quick* is wider and sooner there,
    *sharp* narrower and several times slower.
    """

    effort: Effort = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """How a report is worded.

    Parameters: `word`, what a proved claim is called; in some laws *certified* is a legal term.
    """

    word: Literal["certified", "proved"] = "certified"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSettings:
    """Evidence that stands in other files.

    Parameters: `study`, the study.json of `dpaudit study` on this configuration; `scores`, files that
    `dpaudit scores --format json` wrote about this claim.
    """

    study: Path | None = None
    scores: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LibrarySettings:
    """A release of another library.

    Parameters: `name`, the library; `object`, a function that builds the release, as `package.module:function`.
    """

    name: str
    object: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A claim and a declaration that were written down; there is no code to run."""

    algorithm: ClassVar[None] = None
    problem: ClassVar[None] = None
    claim: Claim
    declaration: Declaration


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """An algorithm with its settings, and the problem it runs on (None where the file names none).

    `files` are those of the user's that the problem was read from.
    """

    name: str
    algorithm: Algorithm
    problem: Any
    claim: Claim
    declaration: Declaration
    files: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapted:
    """A release of another library: its own claim, its declaration, and the cases on which it can be attacked."""

    algorithm: ClassVar[None] = None
    problem: ClassVar[None] = None
    claim: Claim
    declaration: Declaration
    cases: tuple[AuditCase, ...]


Subject: TypeAlias = Written | Configured | Adapted


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One configuration file, read and checked; `text` is the file as it stands, for the report."""

    path: Path
    text: str
    system: System
    subject: Subject
    audit: AuditSettings
    deployment: Deployment = field(default_factory=Deployment)
    report: ReportSettings = field(default_factory=ReportSettings)
    accounting: AccountingSettings = field(default_factory=AccountingSettings)
    evidence: EvidenceSettings = field(default_factory=EvidenceSettings)

    @contextmanager
    def locating(self) -> Generator[None, None, None]:
        """Give errors about the declaration the line of the section that it comes from."""
        try:
            yield
        except (DeclarationError, UnsupportedError) as error:
            section = "algorithm" if isinstance(self.subject, Configured) else "declaration"
            raise error.at(str(self.path), self.error("", section).line) from None

    @contextmanager
    def fitting(self) -> Generator[None, None, None]:
        """Give what an algorithm says against its problem the line of the problem, and a plug-in's error its own line.

        Raises: ConfigError: either. Any other error of an algorithm of ours passes through.
        """
        try:
            yield
        except DPAuditError:
            raise
        except Exception as error:
            if fault := plug_in_fault(error):
                raise self.error(f"[algorithm] {fault}", "algorithm") from error
            algorithm = self.subject.algorithm
            if isinstance(error, AttributeError) and algorithm is not None and error.obj is algorithm:
                missing = (
                    f"[algorithm] {type(error.obj).__name__} has no {error.name!r}, which a run on a [problem] needs."
                )
                raise self.error(missing, "algorithm") from error
            if not isinstance(error, ValueError | TypeError | AttributeError | LookupError):
                raise
            told = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
            if isinstance(error, AttributeError) and error.name:
                told = f"the algorithm reads {error.name!r}, which a {type(error.obj).__name__} does not have."
                told += " What each problem is: dpaudit list problems."
            raise self.error(f"[problem] does not fit [algorithm]: {told}", "problem") from error

    def table(self, name: str) -> Any:
        """Return what the file writes under a key of its root; an empty table for a key that it lacks."""
        return parse(self.path, self.text).get(name, {})

    def error(self, message: str, *where: str | int) -> ConfigError:
        """Return an error that names the line of the key at `where`, or of the nearest key above it."""
        return locate(Fault(where, message), self.path, self.text)
