"""The table of commands, in the order in which a newcomer meets them; the module of a command is imported on use."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.main import get_command

from dpaudit.cli.common.exits import internal_error
from dpaudit.cli.common.groups import HELP_OPTIONS, WrappedGroup
from dpaudit.wording.escaping import one_line


class Command(NamedTuple):
    """One line of the table: the module in `dpaudit.cli` defines an object of its own name; `help` is its summary."""

    name: str
    module: str
    help: str

    def load(self) -> Any:
        """Return the command as click calls it, once its module is imported."""
        subject = getattr(import_module(f"dpaudit.cli.{self.module}"), self.module)
        if isinstance(subject, typer.Typer):
            return get_command(subject)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name=self.name)(subject)
        return get_command(single)


COMMANDS = (
    Command("init", "init", "Write a configuration, its tests and a pipeline, for a new project."),
    Command("certify", "certify", "Prove or refute a claim on paper."),
    Command("audit", "audit", "Attack the code: run it on neighbouring data and bound epsilon from below."),
    Command(
        "scores",
        "scores",
        "Audit membership-inference scores that were computed elsewhere: bound epsilon from below.",
    ),
    Command("report", "report", "Write certificate and audits as one report: HTML, Markdown and JSON."),
    Command("verify", "verify", "Check a certificate or a received report again from its files alone."),
    Command("calibrate", "calibrate", "Find the smallest noise that certifies the claim, and what it saves."),
    Command(
        "explain",
        "explain",
        "Show how the claim is derived, node by node, and where it is loose; or what a rule or a node says.",
    ),
    Command(
        "curve",
        "curve",
        "Compute a privacy curve of a declaration with both sides proved: tradeoff, gdp, renyi, zcdp, tail, group.",
    ),
    Command(
        "list", "listing", "List the algorithms, mechanisms, audits, problems and schemas there are, plug-ins included."
    ),
    Command("check", "check", "Certify and audit several configurations and say whether a pipeline may go on."),
    Command(
        "compare",
        "compare",
        "Show what changed between two reports, where a change for the worse is a finding; or what many documents said "
        "over time.",
    ),
    Command(
        "doctor",
        "doctor",
        "Check one plug-in, or the installation: packages, versions, engines, noise, auditor, plug-ins.",
    ),
    Command("study", "study", "Measure what privacy costs in usefulness, at equal certified epsilon."),
    Command("demo", "demo", "Tell the whole story in under a minute and write a report."),
    Command("ledger", "ledger", "Keep budgets: book certificates against what a data set may spend in all."),
)
"""Every command of `dpaudit`."""


class LazyGroup(WrappedGroup):
    """A group whose help reads the table alone; the module of a command is imported when the command is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and remaining arguments, with the command itself in place of its placeholder."""
        name, placeholder, rest = super().resolve_command(ctx, args)
        return name, _loaded(name) or placeholder, rest

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of a command line; what is wrong with it is said without its hidden characters."""
        with _cleaned_usage():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what is wrong with its arguments is said without their hidden characters."""
        with _cleaned_usage():
            return super().invoke(ctx)


@contextmanager
def _cleaned_usage() -> Generator[None, None, None]:
    """Clean the message of a usage error, which repeats what was typed."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message") and isinstance(getattr(error, "message", None), str):
            vars(error)["message"] = one_line(vars(error)["message"]).replace("Value error, ", "")
        raise


def _loaded(name: str | None) -> Any:
    """Return the command of a name, or None; a module that cannot be imported ends the process with exit code 3."""
    command = next((entry for entry in COMMANDS if entry.name == name), None)
    try:
        return command and command.load()
    except Exception as error:
        raise typer.Exit(internal_error(error)) from None


app = typer.Typer(
    name="dpaudit",
    cls=LazyGroup,
    help="Certify, audit and report the privacy of differentially private algorithms.",
    epilog="Exit codes: 0 pass, 1 finding, 2 usage or configuration, 3 internal error, 4 inconclusive.",
    add_completion="_DPAUDIT_COMPLETE" in os.environ,  # a shell asks for completions; it costs the help nothing
    context_settings=HELP_OPTIONS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback
    """Print the version and stop; the module that reads it costs a sixth of the start, so it is imported on use too."""
    if wanted:
        typer.echo(import_module("dpaudit.runtime.provenance").distribution_version("dpaudit"))
        raise typer.Exit


@app.callback()
def common(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version and stop.")
    ] = False,
) -> None:
    """Certify, audit and report the privacy of differentially private algorithms."""


def _placeholder() -> None:
    """Stand for a command in the help, until its module is imported."""


for _command in COMMANDS:
    app.command(name=_command.name, help=_command.help)(_placeholder)
