"""Plans of audits on the command line: written before the run, read back for it."""

from dataclasses import dataclass, replace
from pathlib import Path

from dpaudit import workflow
from dpaudit.certification.certificate import Certificate
from dpaudit.cli.common.exits import Exit
from dpaudit.cli.common.output import note, write
from dpaudit.cli.common.results import Result
from dpaudit.configuration.audit_plan import AuditPlan
from dpaudit.configuration.configuration import AuditSettings, Configuration
from dpaudit.configuration.files import read_text
from dpaudit.errors import CertificateError, ConfigError
from dpaudit.model.audit_result import AuditResult

_SECRET = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """A plan that was read, with the file it stands in."""

    file: Path
    plan: AuditPlan

    def stated(self, options: workflow.Stated) -> workflow.Stated:
        """Return what the plan states, except what an option of the command changes."""
        return replace(
            options,
            runs=self.plan.runs if options.runs is None else options.runs,
            significance=self.plan.significance if options.significance is None else options.significance,
        )

    def seed(self, given: int | None, configured: int | None) -> int:
        """Return the seed that an option gives, else the one kept beside the plan, else the configuration's.

        Raises: ConfigError: none of them is there.
        """
        if given is not None:
            return given
        try:
            return int(read_text(_seed_file(self.file)).strip())
        except (ConfigError, ValueError):
            if configured is not None:
                return configured
            raise ConfigError(
                f"{self.file}: commits to a seed that {_seed_file(self.file).name} does not hold; give it by --seed."
            ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAudits:
    """The audits that a command runs: cases and settings of a configuration, and the plan that they follow, if any."""

    configuration: Configuration
    settings: AuditSettings
    cases: tuple[workflow.NumberedCase, ...]
    planned: PlannedRun | None

    @classmethod
    def of(
        cls, configuration: Configuration, planned: PlannedRun | None, options: workflow.Stated, *, needed: bool = True
    ) -> "PlannedAudits":
        """Return the audits of a configuration under the options of a command; none where they are not `needed`.

        Raises: ConfigError: a setting out of range, or a configuration that runs no code, as `cases_of`.
        """
        settings = workflow.settings_of(configuration, options if planned is None else planned.stated(options))
        cases = workflow.cases_of(configuration, settings.view) if needed else ()
        return cls(configuration=configuration, settings=settings, cases=cases, planned=planned)

    def seed(self, given: int | None) -> int | None:
        """Return the seed that is stated: by an option, beside the plan, or in the configuration; None for none."""
        if self.planned is None:
            return self.settings.seed
        return self.planned.seed(given, self.settings.seed)

    def results(
        self, certificate: Certificate, seed: int, execution: workflow.AuditExecution
    ) -> tuple[AuditResult, ...]:
        """Return the results, with the digest of the plan and what departed from it."""
        sharing = workflow.audits_in(self.configuration)
        results = workflow.audits_of(self.cases, certificate, self.settings, seed, execution, sharing)
        if self.planned is None:
            return results
        plan = self.planned.plan
        return plan.followed(results, workflow.plan_of(self.configuration, self.cases, self.settings, seed, plan.salt))


def read_plan(file: Path | None, written: Path | None = None) -> PlannedRun | None:
    """Return the plan in a file, None where no file is named; `written` is where a plan is to be written.

    Raises: ConfigError: both are named, or the file cannot be read, is no plan, or was changed after its digest.
    """
    if file is None:
        return None
    if written is not None:
        raise ConfigError("Expected one of --plan and --planned: a plan is written before the run, and then followed.")
    try:
        return PlannedRun(file=file, plan=AuditPlan.from_json(read_text(file)))
    except CertificateError as error:
        raise ConfigError(f"{file}: {error}") from None


def write_plan(file: Path, audits: PlannedAudits) -> Result:
    """Write the plan of some audits, and their seed into a file that its owner alone reads; show the digest."""
    seed, secret = workflow.drawn_seed(audits.settings.seed, note), _seed_file(file)
    plan = workflow.plan_of(audits.configuration, audits.cases, audits.settings, seed)
    write(file, plan.to_json())
    write(secret, f"{seed}\n")
    secret.chmod(_SECRET)
    advice = f"The seed is in {secret}: keep it secret until the audit. Publish the digest now; then --planned {file}."
    return Result(text=lambda: f"plan {file}, digest {plan.digest}", then=lambda: note(advice))


def plan_exit(results: tuple[AuditResult, ...]) -> Exit:
    """Return the exit code that the plan alone gives: an audit that departed from it is inconclusive."""
    departed = any(result.plan is not None and result.plan.departures for result in results)
    return Exit.INCONCLUSIVE if departed else Exit.PASS


def _seed_file(file: Path) -> Path:
    """Return the file that holds the seed of a plan."""
    return file.with_name(f"{file.name}.seed")
