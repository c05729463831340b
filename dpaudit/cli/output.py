"""Where results and progress go: stdout carries the result and nothing else."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, RenderableType

from dpaudit.cli.options import Format
from dpaudit.errors import ConfigError

_WIDTH = 100


def emit(
    text: Callable[[], RenderableType],
    markdown: Callable[[], str],
    json: Callable[[], str],
    style: Format,
    file: Path | None,
) -> None:
    """Write a result in one format, to `file` or to stdout.

    Raises: ConfigError: the file cannot be written.
    """
    if style is Format.TEXT and file is None and sys.stdout.isatty():
        terminal().print(text())
        return
    held = {Format.TEXT: lambda: _plain(text()), Format.MARKDOWN: markdown, Format.JSON: json}[style]()
    content = held if held.endswith("\n") else f"{held}\n"
    if file is None:
        sys.stdout.write(content)
    else:
        write(file, content)


def terminal() -> Console:
    """Return stdout as a console no wider than is comfortable to read; NO_COLOR is honoured."""
    console = Console(file=sys.stdout, highlight=False, legacy_windows=False)
    console.width = min(console.width, _WIDTH)
    return console


@contextmanager
def progress(description: str) -> Generator[Callable[[int, int], None], None, None]:
    """Yield `advance(done, total)`, which moves a bar on stderr; without a terminal there it shows nothing."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=sys.stderr, legacy_windows=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def note(text: str) -> None:
    """Write one line that is not part of the result to stderr, terminal or not."""
    sys.stderr.write(f"{text}\n")


def write(file: Path, content: str) -> None:
    """Write `content` to `file`.

    Raises: ConfigError: the folder is missing or nothing may be written there.
    """
    try:
        file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be written ({error.strerror}).") from None


def output_folder(folder: Path) -> Path:
    """Return `folder`, made where it is missing, once a file could be written in it.

    Raises: ConfigError: it is a file, or nothing may be written there.
    """
    probe = folder / ".dpaudit-write-check"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written to ({error.strerror}); name another folder.") from None
    return folder


def _plain(rendered: RenderableType) -> str:
    """Return the text form of a result for a file."""
    from dpaudit.render.layout import to_text

    return to_text(rendered, _WIDTH)
