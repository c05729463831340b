"""`dpaudit check`: certificates and audits of several configurations, as the gate of a pipeline."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import GateSeed, Jobs, Require, Runs, Significance
from dpaudit.errors import ConfigError

if TYPE_CHECKING:
    from dpaudit.gate.document import CheckDocument


Configs: TypeAlias = Annotated[list[Path], typer.Argument(metavar="CONFIG", help="TOML or JSON files to check.")]
Files: TypeAlias = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Write check.json, check.sarif, junit.xml and summary.md here."),
]
BaselineFile: TypeAlias = Annotated[
    Path | None, typer.Option("--baseline", metavar="FILE", help="Accepted issues, as --accept writes them.")
]
Accept: TypeAlias = Annotated[
    bool, typer.Option("--accept", help="Accept the open issues: add them to the file of --baseline.")
]
Reason: TypeAlias = Annotated[str, typer.Option("--reason", metavar="TEXT", help="With --accept: why.")]
Expires: TypeAlias = Annotated[
    str, typer.Option("--expires", metavar="DATE", help="With --accept: the last day, within a year: YYYY-MM-DD.")
]
OneRule: TypeAlias = Annotated[
    str | None, typer.Option("--rule", metavar="ID", help="With --accept: issues of this rule only.")
]
ProofOnly: TypeAlias = Annotated[
    bool, typer.Option("--proof-only", help="Certify, and run no audit: for a hook before each commit.")
]
OfUsefulness: TypeAlias = Annotated[
    bool, typer.Option("--usefulness", help="Also say what the study named in [evidence] says against a setting.")
]


@ending
def check(
    configs: Configs,
    *,
    output: Files = None,
    baseline: BaselineFile = None,
    accept: Accept = False,
    reason: Reason = "",
    expires: Expires = "",
    rule: OneRule = None,
    proof_only: ProofOnly = False,
    usefulness: OfUsefulness = False,
    require: Require = "not_refuted",
    runs: Runs = None,
    significance: Significance = None,
    jobs: Jobs = None,
    seed: GateSeed = None,
) -> Exit:
    """Certify and audit several configurations and say whether a pipeline may go on.

    Prints one line an issue. With -o it writes the files that pipelines read; on GitHub it also adds to the step
    summary. Without a seed, the seed is 0: the same code gives the same result. With --accept the open issues are
    added to the baseline, which is meant to be reviewed like code, and the result is what it then says.
    """
    from dpaudit.cli.common.output import doing, output_folder, progress, show, show_lines, write
    from dpaudit.gate.acceptance import accept as accept_issues
    from dpaudit.gate.baseline import Baseline, read_baseline
    from dpaudit.gate.running import run_checks
    from dpaudit.gate.summary import check_document, issue_lines
    from dpaudit.workflow import Stated

    today = datetime.now(UTC).date()
    last = _last_day(reason, expires, today, baseline) if accept else None
    if not accept and (reason or expires or rule):
        raise ConfigError("Expected --accept beside --reason, --expires and --rule: they say what is accepted.")
    accepted = Baseline() if baseline is None or (accept and not baseline.exists()) else read_baseline(baseline)
    folder = None if output is None else output_folder(output)
    with doing(f"Checking {len(configs)} configuration{'s' if len(configs) > 1 else ''}"):
        document = run_checks(
            tuple(configs),
            accepted,
            today,
            Stated(runs=runs, significance=significance, jobs=jobs, seed=seed),
            attack=not proof_only,
            require_consistent=require == "consistent",
            usefulness=usefulness,
            progress=progress,
        )
    if last is not None and baseline is not None:
        document = accept_issues(document, reason, last, rule)
        write(baseline, document.baseline.to_json())
    show(check_document(document))
    show_lines(issue_lines(document))
    _write_for_pipelines(document, folder)
    return Exit(document.exit_code)


def _write_for_pipelines(document: "CheckDocument", folder: Path | None) -> None:
    """Write the files that pipelines read to a folder, if there is one, and the summary of the step on GitHub."""
    from dpaudit.cli.common.output import note, write_files
    from dpaudit.gate.junit import junit
    from dpaudit.gate.sarif import sarif
    from dpaudit.gate.summary import append_step_summary, summary

    if folder is not None:
        files = {"check.json": document.to_json(), "check.sarif": sarif(document), "junit.xml": junit(document)}
        write_files(folder, files | {"summary.md": summary(document)})
    if append_step_summary(summary(document)):
        note("Added to the step summary.")


def _last_day(reason: str, expires: str, today: date, baseline: Path | None) -> date:
    """Return the last day of an acceptance; what is wrong with it is said before anything runs.

    Raises: ConfigError: no baseline to write to, no date, one that is too far, or no reason.
    """
    from dpaudit.gate.baseline import require_term

    if baseline is None:
        raise ConfigError("Expected --baseline FILE with --accept: the file to which the open issues are added.")
    try:
        last = date.fromisoformat(expires)
    except ValueError:
        raise ConfigError(f"Expected --expires={expires!r} as YYYY-MM-DD.") from None
    try:
        require_term(reason, today, last)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    return last
