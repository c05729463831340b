"""From paths to a document: certify and audit each configuration, and judge what came out."""

from datetime import date
from pathlib import Path

from dpaudit.configuration.config import read_config
from dpaudit.configuration.configuration import Configured
from dpaudit.errors import DPAuditError, InternalError
from dpaudit.gate.baseline import Baseline
from dpaudit.gate.document import CheckDocument
from dpaudit.gate.issues import Checked
from dpaudit.workflow import audits_of, cases_of, certificate_of, settings_of

_SEED = 0


def run_checks(
    paths: tuple[Path, ...],
    baseline: Baseline,
    today: date,
    *,
    attack: bool,
    runs: int | None,
    significance: float | None,
    jobs: int | None,
    seed: int | None,
) -> CheckDocument:
    """Return what checking all configurations gave; one that cannot be used does not stop the others.

    Where neither the call nor the file has a seed it is 0, so that the same code gives the same result.
    """
    stated: dict[str, float | int | None] = {"runs": runs, "significance": significance, "jobs": jobs, "seed": seed}
    checked = tuple(_checked(path, stated, attack=attack) for path in dict.fromkeys(paths))
    return CheckDocument(checked=checked, baseline=baseline, today=today)


def _checked(path: Path, stated: dict[str, float | int | None], *, attack: bool) -> Checked:
    """Return one configuration's certificate and, if asked for, its audits."""
    try:
        configuration = read_config(path)
        settings = settings_of(configuration, **stated)  # type: ignore[arg-type] # each key has its own type
        seed = _SEED if settings.seed is None else settings.seed
        certificate = certificate_of(configuration, seed)
        subject = configuration.subject
        runs_code = attack and isinstance(subject, Configured) and subject.problem is not None
        cases = cases_of(configuration, settings.view) if runs_code else ()
        audits = audits_of(cases, certificate, settings, seed)
    except InternalError:
        raise
    except DPAuditError as error:
        return Checked(path=path, error=error)
    return Checked(
        path=path,
        configuration=configuration,
        certificate=certificate,
        audits=audits,
        seed=seed if runs_code else None,
    )
