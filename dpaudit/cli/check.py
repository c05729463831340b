"""`dpaudit check`: certificates and audits of several configurations, as the gate of a pipeline."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import GateOptions, Require, flag, option
from dpaudit.errors import ConfigError

if TYPE_CHECKING:
    from dpaudit.documents.document import Document
    from dpaudit.gate.baseline import Baseline


Configs: TypeAlias = Annotated[list[Path], typer.Argument(metavar="CONFIG", help="TOML or JSON files to check.")]
Files: TypeAlias = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Write check.json, check.sarif, junit.xml and summary.md here."),
]
ProofOnly: TypeAlias = Annotated[
    bool, flag("--proof-only", "Certify, and run no audit: for a hook before each commit.")
]
OfUsefulness: TypeAlias = Annotated[
    bool, flag("--usefulness", "Also say what the study named in [evidence] says against a setting.")
]


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """The file of accepted issues, and what a command line accepts beside it."""

    baseline: Annotated[Path | None, option("--baseline", "FILE", "Accepted issues, as --accept writes them.")] = None
    accept: Annotated[bool, flag("--accept", "Accept the open issues: add them to the file of --baseline.")] = False
    reason: Annotated[str, option("--reason", "TEXT", "With --accept: why.")] = ""
    expires: Annotated[str, option("--expires", "DATE", "With --accept: the last day, within a year: YYYY-MM-DD.")] = ""
    rule: Annotated[str | None, option("--rule", "ID", "With --accept: issues of this rule only.")] = None

    def last_day(self, today: date) -> date | None:
        """Return the last day of what is accepted, None where nothing is; what is wrong is said before anything runs.

        Raises: ConfigError: no baseline to write to, no date, one that is too far, no reason, or a reason for nothing.
        """
        from dpaudit.gate.baseline import require_term

        if not self.accept:
            if self.reason or self.expires or self.rule:
                raise ConfigError("Expected --accept beside --reason, --expires and --rule: they say what is accepted.")
            return None
        if self.baseline is None:
            raise ConfigError("Expected --baseline FILE with --accept: the file to which the open issues are added.")
        try:
            last = date.fromisoformat(self.expires)
        except ValueError:
            raise ConfigError(f"Expected --expires={self.expires!r} as YYYY-MM-DD.") from None
        try:
            require_term(self.reason, today, last)
        except ValueError as error:
            raise ConfigError(str(error)) from None
        return last

    def accepted(self) -> "Baseline":
        """Return the issues that are accepted already."""
        from dpaudit.gate.baseline import Baseline, read_baseline

        if self.baseline is None or (self.accept and not self.baseline.exists()):
            return Baseline()
        return read_baseline(self.baseline)


@ending
def check(
    configs: Configs,
    *,
    output: Files = None,
    acceptance: Acceptance,
    proof_only: ProofOnly = False,
    usefulness: OfUsefulness = False,
    require: Require = "not_refuted",
    given: GateOptions,
) -> Exit:
    """Certify and audit several configurations and say whether a pipeline may go on.

    Prints one line an issue. With -o it writes the files that pipelines read; on GitHub it also adds to the step
    summary. Without a seed, the seed is 0: the same code gives the same result. With --accept the open issues are
    added to the baseline, which is meant to be reviewed like code, and the result is what it then says.
    """
    from dpaudit.cli.common.output import doing, output_folder, progress, show, write
    from dpaudit.gate.acceptance import accept
    from dpaudit.gate.running import run_checks
    from dpaudit.gate.summary import check_document
    from dpaudit.workflow import Stated

    today = datetime.now(UTC).date()
    last, accepted = acceptance.last_day(today), acceptance.accepted()
    folder = None if output is None else output_folder(output)
    how = {"attack": not proof_only, "require_consistent": require == "consistent", "usefulness": usefulness}
    with doing(f"Checking {len(configs)} configuration{'s' if len(configs) > 1 else ''}"):
        document = run_checks(tuple(configs), accepted, today, Stated(**vars(given)), progress=progress, **how)
    if last is not None and acceptance.baseline is not None:
        document = accept(document, acceptance.reason, last, acceptance.rule)
        write(acceptance.baseline, document.baseline.to_json())
    shown = check_document(document)
    show(shown)
    _write_for_pipelines(document.to_json(), shown, folder)
    return Exit(document.exit_code)


def _write_for_pipelines(data: str, shown: "Document", folder: Path | None) -> None:
    """Write the files that pipelines read to a folder, if there is one, and the summary of the step on GitHub."""
    from dpaudit.cli.common.output import note, write_files
    from dpaudit.documents.junit import junit
    from dpaudit.documents.markdown import markdown
    from dpaudit.documents.sarif import sarif
    from dpaudit.gate.summary import append_step_summary

    summary = markdown(shown)
    if folder is not None:
        files = {"check.json": data, "check.sarif": sarif(shown), "junit.xml": junit(shown)}
        write_files(folder, files | {"summary.md": summary})
    if append_step_summary(summary):
        note("Added to the step summary.")
