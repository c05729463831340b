"""Plans of audits on the command line: written before the run, read back for it."""

from dataclasses import dataclass, replace
from pathlib import Path

from dpaudit.cli.common.exits import Exit
from dpaudit.cli.common.output import note, write
from dpaudit.cli.common.results import Result
from dpaudit.configuration.audit_plan import AuditPlan
from dpaudit.configuration.configuration import AuditSettings, Configuration
from dpaudit.configuration.files import read_text
from dpaudit.errors import CertificateError, ConfigError
from dpaudit.model.audit_result import AuditResult
from dpaudit.workflow import NumberedCase, Stated, drawn_seed, plan_of

_SECRET = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """A plan that was read, with the file it stands in."""

    file: Path
    plan: AuditPlan

    def stated(self, options: Stated) -> Stated:
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

    def followed(
        self,
        configuration: Configuration,
        cases: tuple[NumberedCase, ...],
        settings: AuditSettings,
        seed: int,
        results: tuple[AuditResult, ...],
    ) -> tuple[AuditResult, ...]:
        """Return the results with the plan's digest and what departed from it."""
        return self.plan.followed(results, plan_of(configuration, cases, settings, seed, self.plan.salt))


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


def write_plan(
    file: Path, configuration: Configuration, cases: tuple[NumberedCase, ...], settings: AuditSettings
) -> Result:
    """Write the plan of a configuration, and its seed into a file that its owner alone reads; show the digest."""
    seed, secret = drawn_seed(settings.seed, note), _seed_file(file)
    plan = plan_of(configuration, cases, settings, seed)
    write(file, plan.to_json())
    write(secret, f"{seed}\n")
    secret.chmod(_SECRET)
    kept = f"The seed is in {secret}: keep it secret until the audit. Publish the digest now; then --planned {file}."
    return Result(text=lambda: f"plan {file}, digest {plan.digest}", then=lambda: note(kept))


def plan_exit(results: tuple[AuditResult, ...]) -> Exit:
    """Return the exit code that the plan alone gives: an audit that departed from it is inconclusive."""
    departed = any(result.plan is not None and result.plan.departures for result in results)
    return Exit.INCONCLUSIVE if departed else Exit.PASS


def _seed_file(file: Path) -> Path:
    """Return the file that holds the seed of a plan."""
    return file.with_name(f"{file.name}.seed")
