"""`dpaudit audit`: membership-inference attacks on the code and lower bounds on epsilon."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from dpaudit.cli.common.options import AuditOptions, Config, Planned, Require, Scheduler, option
from dpaudit.cli.common.results import Result, resulting

if TYPE_CHECKING:
    from dpaudit.cli.common.plans import PlannedAudits
    from dpaudit.workflow import AuditExecution

Store: TypeAlias = Annotated[
    Path | None, option("--store", "FILE", "Keep chunks here; a killed audit goes on from it.")
]
Witnesses: TypeAlias = Annotated[Path | None, option("--witness", "DIR", "Write a witness of every violation here.")]
Plan: TypeAlias = Annotated[Path | None, option("--plan", "FILE", "Write the plan of the audit here; run nothing yet.")]


@resulting
def audit(
    config: Config,
    given: AuditOptions,
    scheduler: Scheduler = None,
    store: Store = None,
    witness: Witnesses = None,
    plan: Plan = None,
    planned: Planned = None,
    require: Require = "not_refuted",
) -> Result:
    """Attack the code: run it on neighbouring data and bound epsilon from below.

    Every case of the configured view is audited against the claim and against the certificate. JSON is a
    list with one object for each case. A witness is a small file that `dpaudit verify` checks on fresh runs.
    A plan fixes claim, pairs, attacks, bounds, significance, runs and seed before the run; an audit that departs from
    its plan is inconclusive at best.
    """
    from dpaudit.cli.common.output import note, progress
    from dpaudit.cli.common.plans import PlannedAudits, read_plan, write_plan
    from dpaudit.configuration.config import read_config
    from dpaudit.runtime.sources import digest_of_sources
    from dpaudit.workflow import AuditExecution, Stated, stored_seed, usable_store

    followed = read_plan(planned, plan)
    configuration = read_config(config)
    audits = PlannedAudits.of(configuration, followed, Stated(**vars(given)))
    if plan is not None:
        return write_plan(plan, audits)
    execution = AuditExecution(
        progress=progress,
        scheduler=scheduler,
        store=usable_store(store),
        configuration_text=configuration.text,
        sources=digest_of_sources(getattr(configuration.subject, "algorithm", None)),
    )
    seed = audits.seed(given.seed)
    return _audited(audits, stored_seed(execution, note) if seed is None else seed, execution, witness, require)


def _audited(
    audits: "PlannedAudits", seed: int, execution: "AuditExecution", witness: Path | None, require: Require
) -> Result:
    """Return what the audits found; a witness of each violation is written to `witness` in the end."""
    from dpaudit.cli.common.output import note
    from dpaudit.cli.common.plans import plan_exit
    from dpaudit.cli.common.verdicts import audit_exit, worst
    from dpaudit.cli.witness import write_witnesses
    from dpaudit.documents.document import joined
    from dpaudit.render.audit import audit_document
    from dpaudit.workflow import certificate_of

    configuration = audits.configuration
    results = audits.results(certificate_of(configuration, seed), seed, execution)

    def witnessed() -> None:
        files = () if witness is None else write_witnesses(configuration, audits.cases, results, seed, witness)
        for file in files:
            note(f"witness {file}")

    ends = (audit_exit(result, require_consistent=require == "consistent") for result in results)
    return Result(
        document=lambda: joined(map(audit_document, results)),
        data=lambda: [result.to_dict() for result in results],
        code=worst(plan_exit(results), *ends),
        then=witnessed,
    )
