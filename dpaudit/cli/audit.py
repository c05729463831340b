"""`dpaudit audit`: membership-inference attacks on the code and lower bounds on epsilon."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from dpaudit.cli.common.options import (
    Config,
    ConfiguredSeed,
    Jobs,
    Planned,
    Require,
    Runs,
    Scheduler,
    Significance,
)
from dpaudit.cli.common.results import Result, resulting

Store: TypeAlias = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="Keep chunks here; a killed audit goes on from it.")
]
Witnesses: TypeAlias = Annotated[
    Path | None, typer.Option("--witness", metavar="DIR", help="Write a witness of every violation here.")
]
Plan: TypeAlias = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="Write the plan of the audit here; run nothing yet.")
]


@resulting
def audit(
    config: Config,
    runs: Runs = None,
    significance: Significance = None,
    jobs: Jobs = None,
    seed: ConfiguredSeed = None,
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
    from dpaudit.cli.common.plans import PlannedAudits, plan_exit, read_plan, write_plan
    from dpaudit.cli.common.verdicts import audit_exit, worst
    from dpaudit.cli.witness import write_witnesses
    from dpaudit.configuration.config import read_config
    from dpaudit.documents.document import joined
    from dpaudit.render.audit import audit_document
    from dpaudit.runtime.sources import digest_of_sources
    from dpaudit.workflow import AuditExecution, Stated, certificate_of, stored_seed, usable_store

    followed = read_plan(planned, plan)
    configuration = read_config(config)
    options = Stated(runs=runs, significance=significance, jobs=jobs, seed=seed)
    audits = PlannedAudits.of(configuration, followed, options)
    if plan is not None:
        return write_plan(plan, audits)
    execution = AuditExecution(
        progress=progress,
        scheduler=scheduler,
        store=usable_store(store),
        configuration_text=configuration.text,
        sources=digest_of_sources(getattr(configuration.subject, "algorithm", None)),
    )
    given = audits.seed(seed)
    used_seed = stored_seed(execution, note) if given is None else given
    results = audits.results(certificate_of(configuration, used_seed), used_seed, execution)

    def witnessed() -> None:
        files = () if witness is None else write_witnesses(configuration, audits.cases, results, used_seed, witness)
        for file in files:
            note(f"witness {file}")

    ends = (audit_exit(result, require_consistent=require == "consistent") for result in results)
    return Result(
        document=lambda: joined(map(audit_document, results)),
        data=lambda: [result.to_dict() for result in results],
        code=worst(plan_exit(results), *ends),
        then=witnessed,
    )
