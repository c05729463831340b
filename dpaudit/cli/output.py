"""Output streams: the result alone goes to stdout; progress and notes go to stderr."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dpaudit.cli.options import Format
from dpaudit.errors import ConfigError
from dpaudit.render.layout import to_text

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
    if style is Format.TEXT and file is None:
        show(text())
        return
    written = {Format.TEXT: lambda: to_text(text(), _WIDTH), Format.MARKDOWN: markdown, Format.JSON: json}[style]()
    content = written if written.endswith("\n") else f"{written}\n"
    if file is None:
        sys.stdout.write(content)
    else:
        write(file, content)


def show(rendered: RenderableType) -> None:
    """Print a result to stdout, at most 100 columns wide; a terminal shows colours unless NO_COLOR is set."""
    if not sys.stdout.isatty():
        sys.stdout.write(to_text(rendered, _WIDTH))
        return
    console = Console(file=sys.stdout, highlight=False, legacy_windows=False)
    console.width = min(console.width, _WIDTH)
    console.print(rendered)


@contextmanager
def progress(description: str) -> Generator[Callable[[int, int], None], None, None]:
    """Yield `advance(done, total)`, which moves a progress bar on stderr; without a terminal it shows nothing."""
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
    """Return `folder` after creating it if necessary and testing that a file can be written in it.

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
