"""Output streams: the result alone goes to stdout; progress and notes go to stderr.

Every text leaves through this file. No control, direction override or escape sequence of a foreign text reaches a
terminal, a pipe or a file; the colours are the program's own.
"""

import json
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.text import Text

from dpaudit.cli.common.options import Format
from dpaudit.documents.document import Document
from dpaudit.documents.markdown import markdown
from dpaudit.documents.terminal import terminal, to_text
from dpaudit.errors import ConfigError
from dpaudit.runtime.whole_files import replace_file, write_folder
from dpaudit.wording.escaping import clean, one_line

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A result whose text is cleaned after it is laid out; styles and widths stay."""

    inner: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the segments of the result, each with its text cleaned."""
        for segment in console.render(self.inner, options):
            yield Segment(clean(segment.text), segment.style)


def emit(
    document: Callable[[], Document],
    data: Callable[[], Any],
    style: Format,
    file: Path | None,
) -> None:
    """Write a result in one format, to `file` or to stdout; `data` is plain data, or a document's own JSON text.

    Raises: ConfigError: the file cannot be written.
    """
    if style == "text" and file is None:
        show(document())
        return
    forms = {
        "text": lambda: as_text(document()),
        "md": lambda: clean(markdown(document())),
        "json": lambda: _json(data()).replace("\x7f", "\\u007f"),  # the one control that JSON leaves as it is
    }
    put(forms[style](), file)


def put(text: str, file: Path | None) -> None:
    """Write a text that ends with a line end to `file`, or to stdout.

    Raises: ConfigError: the file cannot be written.
    """
    content = text if text.endswith("\n") else f"{text}\n"
    if file is None:
        sys.stdout.write(content)
    else:
        write(file, content)


def _json(data: Any) -> str:
    """Return plain data as JSON text; a text is one already."""
    return data if isinstance(data, str) else json.dumps(data, indent=2, sort_keys=True)


def as_text(document: Document) -> str:
    """Return a result as text of 100 columns."""
    return to_text(Cleaned(terminal(document)), _WIDTH)


def show(document: Document) -> None:
    """Print a result to stdout, at most 100 columns wide; a terminal shows colours unless NO_COLOR is set."""
    if not sys.stdout.isatty():
        sys.stdout.write(as_text(document))
        return
    console = Console(file=sys.stdout, highlight=False, legacy_windows=False)
    console.width = min(console.width, _WIDTH)
    console.print(Cleaned(terminal(document)), crop=False)


def say(line: str) -> None:
    """Print one line of a result to stdout."""
    sys.stdout.write(f"{_single(line)}\n")


def _single(line: str) -> str:
    """Return a text without anything that a terminal obeys, line ends included."""
    return clean(line).replace("\n", "\ufffd")


class _Runs(MofNCompleteColumn):
    """Runs done and in all; nothing before their number is known."""

    def render(self, task: Task) -> Text:
        return super().render(task) if task.total is not None else Text()


@contextmanager
def progress(description: str) -> Generator[Callable[[int, int], None], None, None]:
    """Yield `advance(done, total)`, which moves a progress bar on stderr; without a terminal it shows nothing."""
    console = Console(file=sys.stderr, legacy_windows=False)
    columns = (TextColumn("{task.description}"), BarColumn(), _Runs(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(one_line(description), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def doing(what: str) -> Generator[None, None, None]:
    """Show on stderr what is being done until it is done, on one line of a terminal; elsewhere it shows nothing.

    The line is erased at the end.
    """
    stream = sys.stderr
    shown = f"{one_line(what)} …" if stream.isatty() else ""
    stream.write(shown)
    stream.flush()
    try:
        yield
    finally:
        if shown:
            stream.write(f"\r{' ' * len(shown)}\r")
            stream.flush()


def note(text: str) -> None:
    """Write one line that is not part of the result to stderr, terminal or not."""
    sys.stderr.write(f"{one_line(text)}\n")


def write(file: Path, content: str) -> None:
    """Write `content` to `file`, whole or not at all.

    Raises: ConfigError: the folder is missing or nothing may be written there; what was there is left as it was.
    """
    try:
        replace_file(file, content.encode("utf-8", "replace"))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be written ({error.strerror}).") from None


def write_files(folder: Path, files: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the paths of the texts of `files`, by their names, once they are written to `folder`.

    Raises: ConfigError: nothing may be written there; what was there is left as it was.
    """
    return write_folder(folder, {name: content.encode("utf-8", "replace") for name, content in files.items()})


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
