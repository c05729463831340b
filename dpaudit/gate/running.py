"""Checks of several configurations: each is certified and audited, and the issues are compared with a baseline."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

from dpaudit import workflow
from dpaudit.certification.certificate import Certificate
from dpaudit.configuration.config import read_config
from dpaudit.errors import DPAuditError, InternalError
from dpaudit.gate.baseline import Baseline
from dpaudit.gate.document import CheckDocument
from dpaudit.gate.issues import Checked
from dpaudit.verifier import verify

_SEED = 0


def run_checks(
    paths: tuple[Path, ...],
    baseline: Baseline,
    today: date,
    stated: workflow.Stated | None = None,
    *,
    attack: bool,
    require_consistent: bool = False,
    usefulness: bool = False,
    progress: workflow.Progress = workflow.no_progress,
) -> CheckDocument:
    """Return the document of all configurations; one that cannot be used does not stop the others.

    If neither the call nor the file has a seed, the seed is 0, so that the same code gives the same result. The
    audits of all configurations have equal parts of the significance, so that together they accuse right code with
    probability at most the largest significance of a file. With `usefulness` the study that a configuration names is
    read as well.
    """
    execution, options = workflow.AuditExecution(progress=progress), stated or workflow.Stated()
    names = tuple(dict.fromkeys(paths))
    audited = sum(map(_audits, names)) if attack else 0
    examine = partial(
        _examined, stated=options, execution=execution, sharing=audited, attack=attack, usefulness=usefulness
    )
    checked = tuple(replace(_checked(path, examine), require_consistent=require_consistent) for path in names)
    return CheckDocument(checked=checked, baseline=baseline, today=today)


def _audits(path: Path) -> int:
    """Return how many audits a configuration has; none where it cannot be read."""
    try:
        return workflow.audits_in(read_config(path))
    except InternalError:
        raise
    except DPAuditError:
        return 0


def _checked(path: Path, examine: Callable[[Path], Checked]) -> Checked:
    """Return what an examination of one configuration comes to, or the error that stopped it."""
    try:
        return examine(path)
    except InternalError:
        raise
    except DPAuditError as error:
        return Checked(path=path, error=error)


def _examined(
    path: Path,
    *,
    stated: workflow.Stated,
    execution: workflow.AuditExecution,
    sharing: int,
    attack: bool,
    usefulness: bool,
) -> Checked:
    """Return one configuration's certificate and, if asked for, its audits, of a list of `sharing` audits."""
    configuration = read_config(path)
    settings = workflow.settings_of(configuration, stated)
    seed = _SEED if settings.seed is None else settings.seed
    certificate = workflow.certificate_of(configuration, seed)
    audited = attack and workflow.runs_code(configuration)
    cases = workflow.cases_of(configuration, settings.view) if audited else ()
    return Checked(
        path=path,
        configuration=configuration,
        certificate=certificate,
        complaints=disagreements(certificate),
        audits=workflow.audits_of(cases, certificate, settings, seed, execution, sharing),
        scores=workflow.scores_in(configuration, certificate),
        seed=seed if audited else None,
        usefulness=workflow.usefulness_in(configuration, certificate) if usefulness else None,
    )


def disagreements(certificate: Certificate) -> tuple[str, ...]:
    """Return the complaints of the independent checker; none where it cannot derive the certificate's losses.

    An upper end below what the checker proves is one too, although no pair is known to contradict it. A mechanism that
    the checker does not know, or a declaration beyond its limits, is refused before any number is compared. That says
    nothing against the certificate, and `dpaudit verify` tells it.
    """
    verification = verify(certificate.to_json())
    if verification.verdict != certificate.verdict:
        return ()
    return (*verification.complaints, *verification.sharper)
