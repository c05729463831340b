"""The steps that several commands share: certify a configuration, then attack it."""

import hashlib
import secrets
import shlex
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpaudit.certification import certify
from dpaudit.cli.exits import Exit
from dpaudit.cli.output import note, progress
from dpaudit.configuration.configuration import AuditSettings, Configuration, Configured, Subject
from dpaudit.errors import ConfigError
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.case import AuditCase
from dpaudit.model.certificate import Certificate
from dpaudit.model.claim import Claim
from dpaudit.model.condition import Condition
from dpaudit.model.deployment import Deployment
from dpaudit.model.streams import Streams
from dpaudit.model.trace import Finding, admit
from dpaudit.runtime.provenance import source_digest

if TYPE_CHECKING:
    from dpaudit.ledger import Balance


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What a report shows beside certificate and audits, where it was asked for; `options` ask for it again."""

    deployment: Deployment | None = None
    balance: "Balance | None" = None
    ledger_head: str = ""
    previous: Mapping[str, Any] | None = None
    pdf: bool = False
    options: tuple[str, ...] = ()


PlacedCase: TypeAlias = tuple[int, AuditCase]
"""A case and its place among all the cases of its algorithm."""

_CHECK_RUNS = 4
_CHECK_SEED = 0


def certificate_of(configuration: Configuration, seed: int | None) -> Certificate:
    """Return the certificate of a configuration.

    An algorithm with a problem also runs a few times in lock-step: its trace must be admitted by its
    declaration, and the conditions it looked at are no longer assumed. Without a seed that run's is 0, so
    that one configuration has one certificate.
    """
    subject = configuration.subject
    known, against = _known_before(subject)
    if not isinstance(subject, Configured) or subject.problem is None:
        with configuration.locating():
            return certify(subject.declaration, subject.claim, conditions=known, findings=against)
    rng = np.random.default_rng(_CHECK_SEED if seed is None else seed)
    transcript = subject.algorithm.run(subject.problem, Streams.spawn(rng), _CHECK_RUNS)
    findings = (*against, *admit(subject.declaration, transcript.trace))
    conditions = (*known, *transcript.conditions)
    with configuration.locating():
        return certify(subject.declaration, subject.claim, conditions=conditions, findings=findings)


def _known_before(subject: Subject) -> tuple[tuple[Condition, ...], tuple[Finding, ...]]:
    """Return what an algorithm knows of itself before it runs, where it has `conditions` and `findings`."""
    algorithm = subject.algorithm if isinstance(subject, Configured) else None
    conditions, findings = getattr(algorithm, "conditions", tuple), getattr(algorithm, "findings", tuple)
    return conditions(), findings()


def cases_of(configuration: Configuration, view: str | None) -> tuple[PlacedCase, ...]:
    """Return the cases whose adversary sees `view` (all where None), each with its place among all.

    Raises: ConfigError: a written declaration, no problem, or a view that no case has.
    """
    subject = configuration.subject
    if not isinstance(subject, Configured):
        raise configuration.error(
            "a declaration alone has no code to run; an audit needs an [algorithm].", "declaration"
        )
    if subject.problem is None:
        raise configuration.error("an audit needs a [problem] to run on; `dpaudit list problems` shows them.")
    cases = subject.algorithm.cases(subject.problem)
    picked = tuple((place, case) for place, case in enumerate(cases) if view in (None, case.view))
    if not picked:
        views = ", ".join(dict.fromkeys(case.view for case in cases))
        raise configuration.error(f"Expected view={view!r} to be one of: {views}.", "audit", "view")
    return picked


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an audit runs and where its chunks are kept; changes no number. `scheduler` is a dask cluster's address."""

    scheduler: str | None = None
    store: Path | None = None
    what: str = ""


_HERE = Place()


def audits_of(
    cases: tuple[PlacedCase, ...],
    certificate: Certificate,
    settings: AuditSettings,
    seed: int,
    where: Place = _HERE,
) -> tuple[AuditResult, ...]:
    """Return what attacks show, one result for each case, against the claim and against the certificate.

    Every case has a random stream by its place among all cases, so that picking a view changes no result.
    """
    certified = certificate.tight.epsilon.upper
    return tuple(
        attack(case, certificate.claim, certified, settings, seed, np.random.default_rng([seed, place]), where)
        for place, case in cases
    )


def attack(
    case: AuditCase,
    claim: Claim,
    certified: float,
    settings: AuditSettings,
    seed: int,
    rng: np.random.Generator,
    where: Place = _HERE,
) -> AuditResult:
    """Return the audit of one case, with a progress bar where somebody is watching."""
    with progress(case.name) as advance:
        store = _store(where, f"{case.name}\n{settings.runs}\n{seed}")
        result: AuditResult = import_module("audits").audit_case(
            case,
            claim=claim,
            runs=settings.runs,
            rng=rng,
            significance=settings.significance,
            certified=certified,
            jobs=settings.jobs,
            progress=advance,
            store=store,
            scheduler=where.scheduler,
        )
    return replace(result, seed=seed)


def _store(where: Place, case: str) -> Any:
    """Return where the chunks of one case are kept, or None; other code or another configuration finds nothing."""
    if where.store is None:
        return None
    key = hashlib.sha256("\n".join((where.what, source_digest(), case)).encode()).hexdigest()
    return import_module("audits").ChunkStore(path=where.store, key=key)


def storing(file: Path | None) -> Path | None:
    """Return `file` once chunks can be kept in it.

    Raises: ConfigError: no folder there, or the file is no store.
    """
    if file is None:
        return None
    try:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        raise ConfigError(f"{file}: cannot keep chunks of runs there ({error}); name another file.") from None
    return file


def settings_of(
    configuration: Configuration,
    *,
    runs: int | None = None,
    significance: float | None = None,
    jobs: int | None = None,
    seed: int | None = None,
) -> AuditSettings:
    """Return the audit's settings, the command line's over the file's.

    Raises: ConfigError: one of them is out of range.
    """
    file = configuration.audit
    try:
        return replace(
            file,
            runs=file.runs if runs is None else runs,
            significance=file.significance if significance is None else significance,
            jobs=file.jobs if jobs is None else jobs,
            seed=file.seed if seed is None else seed,
        )
    except ValueError as error:
        raise ConfigError(f"{error}") from None


def drawn_seed(seed: int | None) -> int:
    """Return `seed`, or fresh entropy that is written to stderr so that the run can be repeated."""
    if seed is not None:
        return seed
    drawn = secrets.randbits(63)
    note(f"seed {drawn} (repeat with --seed {drawn})")
    return drawn


def certificate_exit(certificate: Certificate) -> Exit:
    """Return what a certificate means to a script."""
    return Exit.PASS if certificate.verdict == "certified" else Exit.FINDING


def audit_exit(result: AuditResult) -> Exit:
    """Return what an audit means to a script."""
    ends = {"violation": Exit.FINDING, "inconclusive": Exit.INCONCLUSIVE, "consistent": Exit.PASS}
    return ends[result.verdict]


def write_report(
    configuration: Configuration,
    certificate: Certificate,
    audits: tuple[AuditResult, ...],
    settings: AuditSettings,
    seed: int | None,
    folder: Path,
    extras: Extras | None = None,
) -> tuple[Path, ...]:
    """Return the files of the report that were written to `folder`.

    The report's command repeats it: the settings that differ from the file's, and the seed.
    """
    from dpaudit.report import Report, write
    from dpaudit.runtime.provenance import environment

    more = extras or Extras()
    held = Report(
        certificate=certificate,
        audits=audits,
        system=configuration.system,
        config_text=configuration.text,
        command=_command(configuration, settings, seed, more.options),
        created=datetime.now(UTC).date().isoformat(),
        notes=notes_of(configuration),
        deployment=more.deployment or configuration.deployment,
        code=code_of(configuration),
        environment=environment(),
        balance=more.balance,
        ledger_head=more.ledger_head,
        previous=more.previous,
    )
    return tuple(write(held, folder, pdf=more.pdf))


def code_of(configuration: Configuration) -> str:
    """Return where the source of the configured algorithm is, relative to its package; nothing for a declaration."""
    subject = configuration.subject
    if not isinstance(subject, Configured):
        return ""
    kind = type(subject.algorithm)
    return f"{kind.__module__.replace('.', '/')}.py, class {kind.__qualname__}"


def notes_of(configuration: Configuration) -> tuple[str, ...]:
    """Return what the algorithm has to tell the reader beside proof and attack; nothing for a declaration."""
    subject = configuration.subject
    if not isinstance(subject, Configured) or subject.problem is None:
        return ()
    return subject.algorithm.notes(subject.problem)


def _command(configuration: Configuration, settings: AuditSettings, seed: int | None, extras: tuple[str, ...]) -> str:
    """Return the command that repeats a report."""
    stated = configuration.audit
    options = [
        f"--{name} {getattr(settings, name)}"
        for name in ("runs", "significance")
        if getattr(settings, name) != getattr(stated, name)
    ]
    seeded = [f"--seed {seed}"] if seed is not None and seed != stated.seed else []
    return " ".join(["dpaudit report", shlex.quote(str(configuration.path)), *options, *seeded, *extras, "-o report"])
