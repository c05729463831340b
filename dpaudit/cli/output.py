"""Where results and progress go: stdout carries the result and nothing else."""

import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console, RenderableType

from dpaudit.cli.options import Format
from dpaudit.errors import ConfigError

_FILE_WIDTH = 100


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
        console().print(text())
        return
    held = {Format.TEXT: lambda: _plain(text()), Format.MARKDOWN: markdown, Format.JSON: json}[style]()
    content = held if held.endswith("\n") else f"{held}\n"
    if file is None:
        sys.stdout.write(content)
    else:
        write(file, content)


def console() -> Console:
    """Return stdout as a console: colours on a terminal unless NO_COLOR is set, `COLUMNS` wide elsewhere."""
    return Console(file=sys.stdout, highlight=False, soft_wrap=False, legacy_windows=False)


def progress_console() -> Console:
    """Return stderr as a console that is silent unless it is a terminal."""
    return Console(file=sys.stderr, highlight=False, quiet=not sys.stderr.isatty(), legacy_windows=False)


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
    from dpaudit.render.text import to_text

    return to_text(rendered, _FILE_WIDTH)
