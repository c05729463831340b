"""`dpaudit init`: a configuration, its tests and a pipeline, by three questions or by options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from dpaudit.cli.common.exits import Exit, ending
from dpaudit.cli.common.options import Host, flag, number, option
from dpaudit.errors import ConfigError
from dpaudit.model.claim import Neighbours
from dpaudit.runtime.plugins import suggestion

if TYPE_CHECKING:
    from dpaudit.cli.common.starter import Starter

_UNIT = "What does one person contribute?"
_CLAIM = "Epsilon and delta of the claim (one number: delta is 0)"
_HOST = "Which pipeline: github, gitlab or none?"


@ending
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The project's folder.")] = Path(),
    unit: Annotated[str | None, option("--unit", "TEXT", "What one person contributes: the unit of the claim.")] = None,
    epsilon: Annotated[float | None, number("--epsilon", "E", "Epsilon of the claim, in nats.")] = None,
    delta: Annotated[
        float, number("--delta", "D", "Delta of the claim, beside --epsilon; 0 means Laplace noise.")
    ] = 0.0,
    rho: Annotated[float | None, number("--rho", "R", "Rho of the claim, in place of epsilon and delta.")] = None,
    neighbours: Annotated[Neighbours, flag("--neighbours", "Which data sets the claim compares.")] = "replace_one",
    ci: Annotated[Host | None, flag("--ci", "The host of the pipeline.")] = None,
    force: Annotated[  # noqa: FBT002 - typer's flag
        bool, flag("--force", "Replace files that are there.")
    ] = False,
) -> Exit:
    """Write a configuration, its tests and a pipeline, for a new project.

    On a terminal it asks for what no option says: the unit, the claim and the host of the pipeline. The noise is the
    smallest that meets the claim, so that every check passes; then put your own code in its place.
    """
    from dpaudit.cli.common.output import say

    if rho is not None and (epsilon is not None or delta):
        raise ConfigError("--rho stands in place of --epsilon and --delta; give one claim.")
    if epsilon is None and delta:
        raise ConfigError("--delta needs --epsilon; give both.")
    given = {"--unit": unit, "--epsilon": epsilon if rho is None else rho, "--ci": ci}
    missing = [option for option, value in given.items() if value is None]
    if missing and not _terminal():
        raise ConfigError(f"No terminal to ask on; give {', '.join(missing)}.")
    starter = _starter(unit, (epsilon, delta, rho), neighbours, ci)
    for line in _told(_written(starter, folder, replacing=force)):
        say(line)
    return Exit.PASS


def _starter(
    unit: str | None, numbers: tuple[float | None, float, float | None], neighbours: Neighbours, ci: Host | None
) -> Starter:
    """Return what is written; epsilon, delta and rho are `numbers`, and what no option says is asked."""
    from dpaudit.cli.common.starter import Starter

    epsilon, delta, rho = numbers
    named = _asked(_UNIT, "one person's value") if unit is None else unit
    if rho is None and epsilon is None:
        epsilon, delta = _claimed(_asked(_CLAIM, "1.0 1e-5"))
    host = _hosted(_asked(_HOST, "github")) if ci is None else ci
    return Starter(unit=named, epsilon=epsilon, delta=delta, rho=rho, neighbours=neighbours, host=host)


def _terminal() -> bool:
    """Return whether somebody can answer."""
    return sys.stdin.isatty()


def _asked(question: str, default: str) -> str:
    """Return the answer to a question, which is asked on stderr.

    Raises: ConfigError: the input ended without one.
    """
    try:
        answer: Any = typer.prompt(question, default=default, err=True)
    except typer.Abort:
        raise ConfigError("The questions were not answered; nothing was written.") from None
    return str(answer)


def _claimed(answer: str) -> tuple[float, float]:
    """Return epsilon and delta as they were typed.

    Raises: ConfigError: not one number or two.
    """
    words = answer.replace(",", " ").split()
    try:
        epsilon, delta = map(float, words if len(words) == 2 else [*words, "0"])
    except ValueError:
        raise ConfigError(f"Expected {answer!r:.80} to be one number or two, as in 1.0 1e-5.") from None
    return epsilon, delta


def _hosted(answer: str) -> Host:
    """Return the host that was typed.

    Raises: ConfigError: no such host.
    """
    hosts: tuple[Host, ...] = get_args(Host)
    for host in hosts:
        if host == answer.strip().lower():
            return host
    raise ConfigError(f"Unknown pipeline {answer!r:.80}{suggestion(answer, hosts)}")


def _written(starter: Starter, folder: Path, *, replacing: bool) -> list[Path]:
    """Return the files once all are written; none is written where one is there already and may not be replaced."""
    from dpaudit.cli.common.output import write

    contents = {folder / name: text for name, text in starter.contents().items()}
    there = [str(path) for path in contents if path.exists() or path.is_symlink()]
    if there and not replacing:
        raise ConfigError(f"{', '.join(there)}: already there, and nothing was written; give --force to replace.")
    for path, text in contents.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{path.parent}: cannot be made ({error.strerror}).") from None
        write(path, text)
    return list(contents)


def _told(paths: list[Path]) -> list[str]:
    """Return what was written, and what to do next."""
    lines = [f"  {path}" for path in paths]
    configuration, tests = paths[0], paths[1]
    following = [
        f"  dpaudit check {configuration}    certify the declaration",
        f"  pytest --dp-profile ci {tests}    test and attack the code; needs pytest",
    ]
    return ["Written:", *lines, "Next:", *following]
