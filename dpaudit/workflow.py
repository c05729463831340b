"""The application layer: certify a configuration, attack it, write its report.

The command line, the gate and the pytest plugin call it. Progress and notes go to functions that the caller passes.
"""

import hashlib
import math
import secrets
import shlex
import sqlite3
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from dpaudit.accounting.curves.implied import implied_claim
from dpaudit.certification.certificate import Certificate
from dpaudit.certification.less_noise import case_with_less_noise
from dpaudit.certification.verdict import certify
from dpaudit.configuration.audit_plan import AuditPlan, digest_of_text
from dpaudit.configuration.configuration import Adapted, AuditSettings, Configuration, Configured, Subject
from dpaudit.configuration.files import object_in, parse, read_text
from dpaudit.configuration.scores_document import decode_scores
from dpaudit.errors import ConfigError, Fault
from dpaudit.ledger import Balance
from dpaudit.model.audit_result import AuditResult, Power
from dpaudit.model.case import AuditCase
from dpaudit.model.claim import Claim
from dpaudit.model.condition import Condition
from dpaudit.model.deployment import Deployment
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.model.trace import Finding, admit
from dpaudit.model.transcript import record_run, returned_by
from dpaudit.report.attacks import ScoreEvidence, difference_between
from dpaudit.report.document import Report
from dpaudit.report.writing import write
from dpaudit.runtime.content_address import content_address
from dpaudit.runtime.files_read import files_read, is_own
from dpaudit.runtime.plugins import load_package
from dpaudit.runtime.provenance import environment
from dpaudit.runtime.sources import digest_of_sources, own_files
from dpaudit.study.digests import config_digest
from dpaudit.study.study import HORIZON_KEYS
from dpaudit.study.usefulness import Usefulness, usefulness_of
from dpaudit.wording.audits import shown_phrase


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What a report shows beside certificate and audits if the caller asks; `options` is the command line for that."""

    deployment: Deployment | None = None
    balance: Balance | None = None
    ledger_head: str = ""
    previous: Mapping[str, Any] | None = None
    pdf: bool = False
    plan: AuditPlan | None = None
    options: tuple[str, ...] = ()


NumberedCase: TypeAlias = tuple[int, AuditCase]
"""A case and its number, from 0, among all the cases of its algorithm."""

Progress: TypeAlias = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""From the name of a task to a context that yields `advance(done, total)`."""

_CHECK_RUNS = 4
_CHECK_SEED = 0


def certificate_of(configuration: Configuration, seed: int | None) -> Certificate:
    """Return the certificate of a configuration.

    An algorithm with a problem also runs four times in lock-step: its declaration must admit the trace, and the
    conditions that the run examined are no longer assumed. The seed of that run is `seed`, or 0 without one, so that a
    configuration has one certificate. Its source digest covers the modules of a plug-in as well, and where these runs
    read files of the user's or have a seed of their own, the content of these files and the seed.
    """
    subject = configuration.subject
    with files_read() as read:
        certificate = _certified(configuration, seed)
    if not isinstance(subject, Configured):
        return certificate
    kind, files = type(subject.algorithm), {*subject.files, *filter(is_own, read)}
    if subject.problem is not None and (files or seed):
        return replace(certificate, source_digest=content_address(f"seed {seed or 0}", subjects=(kind,), files=files))
    return replace(certificate, source_digest=digest_of_sources(kind)) if own_files(kind) else certificate


def _certified(configuration: Configuration, seed: int | None) -> Certificate:
    """Return the certificate of a configuration, with the digest of our own source alone."""
    subject = configuration.subject
    conditions, findings = _stated_by(subject)
    if isinstance(subject, Configured) and subject.problem is not None:
        algorithm, problem = subject.algorithm, subject.problem
        with configuration.fitting():
            cases = returned_by(algorithm, "cases", [AuditCase], problem)
            recorded = record_run(algorithm, problem, n_runs=_CHECK_RUNS, seed=_CHECK_SEED if seed is None else seed)
        transcript = recorded.transcript
        replayed = load_package("audits").replay_program(algorithm, problem, subject.declaration, cases, recorded)
        findings = (*findings, *admit(subject.declaration, transcript.trace), *replayed.findings)
        conditions = (*conditions, *transcript.conditions, *replayed.conditions)
    effort = configuration.accounting.effort
    with configuration.locating():
        return certify(subject.declaration, subject.claim, conditions=conditions, findings=findings, effort=effort)


def _stated_by(subject: Subject) -> tuple[tuple[Condition, ...], tuple[Finding, ...]]:
    """Return the conditions and findings that an algorithm states without a run; none if it has no such methods."""
    conditions, findings = (getattr(subject.algorithm, name, tuple) for name in ("conditions", "findings"))
    return conditions(), findings()


def cases_of(configuration: Configuration, view: str | None) -> tuple[NumberedCase, ...]:
    """Return the numbered cases whose adversary sees `view`; all cases if `view` is None.

    Without a problem these are the cases that need none; which lines they execute is then not known.
    Raises: ConfigError: a written declaration, an algorithm that needs a problem, or a view that no case has.
    """
    subject = configuration.subject
    if isinstance(subject, Adapted):
        if not subject.cases:
            raise configuration.error("[library] the object runs nothing, or names no neighbours.", "library")
        return tuple(enumerate(subject.cases))
    if not isinstance(subject, Configured):
        raise configuration.error(
            "a declaration alone has no code to run. Give an [algorithm], or code of your own: as [library] with "
            'object = "module:function" that returns a `LibraryRelease`, in a pytest test by `dp.check_function` or '
            "`dp.check_release`, or from Python by `audits.audit(function, neighbours=..., claim=..., runs=..., "
            "rng=...)`.",
            "declaration",
        )
    algorithm, problem, attacked = subject.algorithm, subject.problem, _attacked(configuration, subject)
    claim = implied_claim(subject.claim) if isinstance(subject.claim, MeasuredClaim) else subject.claim
    cases = tuple(
        replace(case, weaker=partial(case_with_less_noise, algorithm, problem, number, claim))
        for number, case in enumerate(attacked)
    )
    if problem is not None:
        covering = load_package("audits.checks.case_coverage")
        program = covering.ProgramLines(algorithm=algorithm, problem=problem)
        cases = tuple(
            replace(case, coverage=partial(covering.coverage_of, attack, subject.declaration, program))
            for case, attack in zip(cases, attacked, strict=True)
        )
    return _in_view(cases, view, configuration)


def _attacked(configuration: Configuration, subject: Configured) -> tuple[AuditCase, ...]:
    """Return the cases of an algorithm on its problem, or those that it has without one.

    Raises: ConfigError: it needs a problem.
    """
    problem = subject.problem
    with configuration.fitting():
        needed, *_ = signature(subject.algorithm.cases).parameters.values()
        lacking = problem is None and needed.default is Parameter.empty
        cases: tuple[AuditCase, ...] = ()
        if not lacking:
            cases = returned_by(subject.algorithm, "cases", [AuditCase], problem)
    if problem is None and not cases:
        raise configuration.error("an audit needs a [problem] to run on; `dpaudit list problems` shows them.")
    return cases


def _in_view(cases: tuple[AuditCase, ...], view: str | None, configuration: Configuration) -> tuple[NumberedCase, ...]:
    """Return the numbered cases of a view, or of all views.

    Raises: ConfigError: a view that no case has.
    """
    selected = tuple((number, case) for number, case in enumerate(cases) if view in (None, case.view))
    if not selected:
        views = ", ".join(dict.fromkeys(case.view for case in cases))
        raise configuration.error(f"Expected view={view!r} to be one of: {views}.", "audit", "view")
    return selected


def audits_in(configuration: Configuration) -> int:
    """Return how many audits a configuration has in all its views; 0 where it runs no code."""
    return len(cases_of(configuration, None)) if runs_code(configuration) else 0


def no_progress(task: str) -> AbstractContextManager[Callable[[int, int], None]]:
    """Return a context that shows nothing."""
    del task
    return nullcontext(lambda done, total: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditExecution:
    """How audits run; it changes no number.

    `progress` shows how far an audit is; `scheduler` is the address of a dask cluster; `store` is the file that keeps
    finished chunks of runs, for audits of the configuration whose text is `configuration_text` and of the algorithm
    whose modules have the digest `sources`.
    """

    progress: Progress = no_progress
    scheduler: str | None = None
    store: Path | None = None
    configuration_text: str = ""
    sources: str = ""


_DEFAULT_EXECUTION = AuditExecution()


def audits_of(
    cases: tuple[NumberedCase, ...],
    certificate: Certificate,
    settings: AuditSettings,
    seed: int,
    execution: AuditExecution = _DEFAULT_EXECUTION,
    sharing: int = 1,
) -> tuple[AuditResult, ...]:
    """Return one result for each case: a lower bound on epsilon, compared with the claim and with the certificate.

    The random stream of a case follows from its number among all cases, so that the choice of a view changes no result.
    The significance of the settings is that of a list of `sharing` audits, see `audits_in`: each has an equal part of
    it, and says so.
    Guarantee: right code is flagged by any of so many with probability at most that significance (Bonferroni's rule);
    a violation is one of `confirmed_attack`.
    """
    certified = certified_epsilon(certificate)
    share = replace(settings, significance=settings.significance / max(1, sharing))
    results = tuple(
        confirmed_attack((number, case), certificate.claim, certified, share, seed, execution) for number, case in cases
    )
    if sharing <= 1:
        return results
    shared = (
        f"This audit has significance {share.significance:.2g}, a part of {settings.significance:g}: all audits of the "
        "list together flag right code with probability at most that."
    )
    return tuple(replace(result, remarks=(*result.remarks, shared)) for result in results)


def certified_epsilon(certificate: Certificate) -> float:
    """Return the epsilon that a certificate proves, infinite for a claim in its own measure."""
    return math.inf if isinstance(certificate.tight, Ends) else certificate.tight.epsilon.upper


def plan_of(
    configuration: Configuration,
    cases: tuple[NumberedCase, ...],
    settings: AuditSettings,
    seed: int,
    salt: str | None = None,
) -> AuditPlan:
    """Return the plan of the audits of a configuration; with the `salt` of another plan it can be compared with it."""
    return AuditPlan.of(
        cases,
        configuration.subject.claim,
        runs=settings.runs,
        significance=settings.significance,
        seed=seed,
        sharing=audits_in(configuration),
        configuration=digest_of_text(configuration.text),
        salt=salt,
    )


def confirmed_attack(
    numbered: NumberedCase,
    claim: Claim,
    certified: float,
    settings: AuditSettings,
    seed: int,
    execution: AuditExecution = _DEFAULT_EXECUTION,
) -> AuditResult:
    """Return the audit of one case; a violation is one only if a second audit, on fresh runs, finds it too.

    The second audit has as many runs, the same significance alpha and a random stream of its own. If the first audit
    finds a violation, the second one is the result; otherwise the first one is.
    A case that is `replayable` is replayed on fixed streams as well, which adds 1e-9 to alpha.
    Guarantee: right code is flagged, and `epsilon_lower` exceeds its epsilon, with probability at most alpha over both
    stages. *Accused*: the second audit must reject by itself. Its runs are independent of the first audit, which only
    decides whether it takes place; so this has probability at most alpha, and at most alpha squared as the first audit
    rejects right code with probability at most alpha. *Bound*: let t be the smaller of claim and certificate, above
    which a bound is a violation, and e the epsilon of the code. If e <= t, a bound of either stage above e needs the
    first bound above e: the first is reported, or it was above t. If e > t, a bound above e is of the second stage.
    Either has probability at most alpha.
    `measured` and `curve` are those of the first audit in either case: no choice between two raises their error.
    Power: a violation that one audit finds with probability p is found with probability p squared; `power` states
    this, so that a control which one audit flags with probability .9 is flagged with probability .81.
    """
    number, case = numbered
    first = attack(case, claim, certified, settings, seed, np.random.default_rng([seed, number]), execution)
    if first.verdict != "violation":
        return _with_replay(replace(first, power=_of_two_stages(first.power)), case, claim, seed, number)
    rng, stage = confirming_rng(seed, number), "confirmation"
    second = attack(case, claim, certified, settings, seed, rng, execution, stage)
    shown = f"{first.runs:,} runs showed {shown_phrase(first)}"
    said = (
        f"A first audit of {shown}; the runs of this result are fresh and confirm it. Bounds on mu and "
        f"rho are those of the first runs. Significance "
        f"{second.significance:.2g} holds over both stages."
        if second.verdict == "violation"
        else f"A first audit of {shown}; the runs of this result are fresh and do not confirm a violation."
    )
    result = replace(
        second,
        power=_of_two_stages(second.power),
        remarks=(*second.remarks, said),
        measured=first.measured,
        curve=first.curve,
    )
    return _with_replay(result, case, claim, seed, number)


def _with_replay(result: AuditResult, case: AuditCase, claim: Claim, seed: int, number: int) -> AuditResult:
    """Return the audit of a case whose noise replays can follow with what they show, as `audits.audit` does."""
    if not case.replayable or result.runs < 1:
        return result
    rng = np.random.default_rng([seed, number, 2])
    return load_package("audits.procedures.replayed").with_replay(result, case, claim, rng)


def confirming_rng(seed: int, number: int) -> np.random.Generator:
    """Return the generator of the second audit of case `number`, independent of the first audit's."""
    return np.random.default_rng([seed, number, 1])


def _of_two_stages(power: Power) -> Power:
    """Return the power of two independent audits that must both accuse, from that of one of them."""
    if power.kind in ("upper_limit", "none"):
        return power
    return replace(power, probability=power.probability**2)


def attack(
    case: AuditCase,
    claim: Claim,
    certified: float,
    settings: AuditSettings,
    seed: int,
    rng: np.random.Generator,
    execution: AuditExecution = _DEFAULT_EXECUTION,
    stage: str = "",
) -> AuditResult:
    """Return one audit of one case; chunks of runs are kept apart for each `stage`.

    Raises: ConfigError: the store cannot keep a chunk of runs, as on a full disk.
    """
    with execution.progress(case.name) as advance, _keeping():
        result: AuditResult = load_package("audits").audit(
            case,
            claim=claim,
            runs=settings.runs,
            rng=rng,
            significance=settings.significance,
            how=load_package("audits").Settings(
                certified=certified,
                jobs=settings.jobs,
                progress=advance,
                store=_chunk_store(execution, f"{case.name}\n{settings.runs}\n{seed}\n{stage}"),
                scheduler=execution.scheduler,
            ),
        )
    return replace(result, seed=seed, coverage=None if case.coverage is None else case.coverage())


def _chunk_store(execution: AuditExecution, case: str) -> Any:
    """Return the store for the chunks of one case, or None; its key depends on code, configuration and case."""
    if execution.store is None:
        return None
    key = content_address(execution.configuration_text, execution.sources, case)
    return load_package("audits.experiment.chunk_store").ChunkStore(path=execution.store, key=key)


@contextmanager
def _keeping() -> Generator[None, None, None]:
    """Turn a store that cannot be read or written into an error: who names a store wants to go on from it."""
    unusable: type[Warning] = load_package("audits.experiment.chunk_store").UnusableStoreWarning
    with warnings.catch_warnings():
        warnings.simplefilter("error", unusable)
        try:
            yield
        except unusable as warning:
            said = str(warning).removesuffix("; its runs are made again.")
            raise ConfigError(f"{said}; the audit ended. Free the disk or name another file.") from None


def stored_seed(execution: AuditExecution, note: Callable[[str], None]) -> int:
    """Return the seed of the audits of this configuration and code: the store's, or fresh entropy that it then keeps.

    So an audit that was killed goes on without `--seed`. `note` gets the line that says how to repeat the run.
    Raises: ConfigError: the store cannot keep the seed.
    """
    drawn = secrets.randbits(63)
    store = _chunk_store(execution, "seed")
    with _keeping():
        seed = drawn if store is None else int(store.seed(drawn))
    note(f"seed {seed} (repeat with --seed {seed})" if seed == drawn else f"seed {seed}, from the store")
    return seed


def usable_store(file: Path | None) -> Path | None:
    """Return `file` if chunks of runs can be kept in it.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What the options of a command state over the table [audit] of a file; None leaves the file's value."""

    runs: int | None = None
    significance: float | None = None
    jobs: int | None = None
    seed: int | None = None


def settings_of(configuration: Configuration, stated: Stated) -> AuditSettings:
    """Return the settings of the audit: what is stated, and for the rest what the file says.

    Raises: ConfigError: one of them is out of range.
    """
    values = {field.name: getattr(stated, field.name) for field in fields(stated)}
    try:
        return replace(configuration.audit, **{name: value for name, value in values.items() if value is not None})
    except ValueError as error:
        raise ConfigError(f"{error}") from None


def drawn_seed(seed: int | None, note: Callable[[str], None]) -> int:
    """Return `seed`, or fresh entropy; `note` gets the line that says how to repeat the run."""
    if seed is not None:
        return seed
    drawn = secrets.randbits(63)
    note(f"seed {drawn} (repeat with --seed {drawn})")
    return drawn


def runs_code(configuration: Configuration) -> bool:
    """Return whether an audit can run or is asked for: there is an algorithm on a problem, or a table [audit].

    Where [audit] asks for what cannot run, `cases_of` says so.
    """
    subject = configuration.subject
    if "audit" in parse(configuration.path, configuration.text):
        return True
    return bool(subject.cases) if isinstance(subject, Adapted) else subject.problem is not None


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

    The command in the report repeats it: it has the settings that differ from the file, and the seed.
    """
    more = extras or Extras()
    report = _report_of(configuration, certificate, audits, _command(configuration, settings, seed, more.options), more)
    return tuple(write(report, folder, pdf=more.pdf))


def _report_of(
    configuration: Configuration, certificate: Certificate, audits: tuple[AuditResult, ...], command: str, more: Extras
) -> Report:
    """Return the report on a configuration; `command` repeats it."""
    return Report(
        certificate=certificate,
        audits=audits,
        system=configuration.system,
        config_text=configuration.text,
        command=command,
        created=datetime.now(UTC).date().isoformat(),
        notes=notes_of(configuration),
        deployment=more.deployment or configuration.deployment,
        code=code_of(configuration),
        environment=environment(),
        balance=more.balance,
        ledger_head=more.ledger_head,
        previous=more.previous,
        own_unit=_own_unit(configuration),
        number_of_units=_known_count(configuration, "number_of_units"),
        units_per_person=_known_count(configuration, "units_per_person"),
        word=configuration.report.word,
        usefulness=usefulness_in(configuration, certificate),
        scores=scores_in(configuration, certificate),
        origin=_origin(configuration),
        plan=more.plan,
    )


def usefulness_in(configuration: Configuration, certificate: Certificate) -> Usefulness:
    """Return what the study that the configuration names says of it; nothing where it names none.

    A study speaks for the same configuration digest, delta, relation and unit, and for no refuted claim.

    Raises: ConfigError: the file cannot be read, or is no JSON object.
    """
    file, algorithm = configuration.evidence.study, configuration.subject.algorithm
    if file is None or algorithm is None:
        return Usefulness()
    data = object_in(read_text(file))
    if data is None:
        raise configuration.error(f"{file}: not JSON; give the study.json of `dpaudit study`.", "evidence", "study")
    horizon = next((getattr(algorithm, key) for key in HORIZON_KEYS if hasattr(algorithm, key)), 0)
    try:
        return usefulness_of(
            data,
            config=config_digest(algorithm, configuration.table("problem")),
            claim=certificate.claim,
            unit=algorithm.claim().unit,
            horizon=int(horizon),
            refuted=certificate.verdict == "refuted",
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise configuration.error(f"{file}: not a whole study ({error!r:.80}).", "evidence", "study") from None


def scores_in(configuration: Configuration, certificate: Certificate) -> tuple[ScoreEvidence, ...]:
    """Return the audits of scores that the configuration names, all about the certificate's claim.

    Raises: ConfigError: a file cannot be read, is no whole audit of scores, or is about another claim or relation.
    """
    evidence: list[ScoreEvidence] = []
    for file in configuration.evidence.scores:
        try:
            result = decode_scores(object_in(read_text(file)))
        except Fault as fault:
            raise configuration.error(f"{file}: {fault.message}", "evidence", "scores") from None
        if difference := difference_between(result.claim, certificate.claim):
            raise configuration.error(
                f"{file}: is about another claim than the certificate: {difference}; audit the scores against this "
                "claim.",
                "evidence",
                "scores",
            )
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        evidence.append(ScoreEvidence(file=file.name, digest=digest, result=result))
    return tuple(evidence)


def _origin(configuration: Configuration) -> str:
    """Return where the configured problem comes from; an empty text of a declaration or a plug-in's problem."""
    if configuration.subject.problem is None:
        return ""
    table = configuration.table("problem")
    origin = load_package("algorithms.problems").origin(str(table.get("name")), has_path="path" in table)
    return "" if origin is None else f"{table['name']}: {origin.words}"


def _own_unit(configuration: Configuration) -> str:
    """Return what the algorithm itself calls a unit; an empty text for a declaration."""
    algorithm = configuration.subject.algorithm
    return "" if algorithm is None else algorithm.claim().unit


def _known_count(configuration: Configuration, name: str) -> int | None:
    """Return a number of units that the algorithm or the problem states under `name`, or None."""
    subject = configuration.subject
    stated_values = (getattr(source, name, None) for source in (subject.algorithm, subject.problem))
    return next((value for value in stated_values if isinstance(value, int)), None)


def code_of(configuration: Configuration) -> str:
    """Return the file and class of the configured algorithm; an empty text for a declaration."""
    algorithm = configuration.subject.algorithm
    kind = type(algorithm)
    return "" if algorithm is None else f"{kind.__module__.replace('.', '/')}.py, class {kind.__qualname__}"


def notes_of(configuration: Configuration) -> tuple[str, ...]:
    """Return the remarks of the algorithm for the reader of a report; none for a declaration."""
    algorithm, problem = configuration.subject.algorithm, configuration.subject.problem
    if algorithm is None or problem is None:
        return ()
    return returned_by(algorithm, "notes", [str], problem)


def comparisons_of(configuration: Configuration) -> tuple[str, ...]:
    """Return sentences of the algorithm that set a known number beside what is proved; they are no claims."""
    return getattr(configuration.subject.algorithm, "comparisons", tuple)()


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
