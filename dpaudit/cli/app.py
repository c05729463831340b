"""The table of commands, in the order in which a newcomer meets them; the module of a command is imported on use."""

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
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


_ORDER = (
    *("init", "certify", "audit", "scores", "report", "verify", "calibrate", "explain", "curve", "list", "check"),
    *("compare", "doctor", "study", "demo", "ledger"),
)
_MODULES = {"list": "listing"}
"""The module of a command whose name is a word of the language."""


def _summary(module: str) -> str:
    """Return what a command says of itself first, from its source: importing all commands would cost the start."""
    source = (Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8")
    stated = re.search(rf'^def {module}\(.*?"""(.*?)(?:\n\n|""")', source, re.DOTALL | re.MULTILINE)
    of_group = re.search(r'help="(.*?)"', source)
    said = stated or of_group
    return " ".join(said[1].split()) if said else ""


COMMANDS = tuple(
    Command(name, module, _summary(module)) for name, module in ((name, _MODULES.get(name, name)) for name in _ORDER)
)
"""Every command of `dpaudit`."""


class LazyGroup(WrappedGroup):
    """A group whose help reads the table alone; the module of a command is imported when the command is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and remaining arguments, with the command itself in place of its placeholder."""
        name, placeholder, remaining_arguments = super().resolve_command(ctx, args)
        return name, _loaded(name) or placeholder, remaining_arguments

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
            said = one_line(vars(error)["message"]).replace("Value error, ", "")
            extra = said.startswith("Got unexpected extra argument")
            vars(error)["message"] = said + ". Only `dpaudit check` takes several configurations." * extra
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
