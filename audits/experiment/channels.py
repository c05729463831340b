"""What a block of code shows beside what it returns: printed text, warnings, log records, files, commands."""

import io
import logging
import sys
import warnings
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from audits.experiment.written import written_files

_MOST_TEXT = 1 << 16


@dataclass(slots=True, eq=False)
class Shown:
    """What a block showed, by the name of the channel; complete when the block has ended. Silent ones are absent."""

    channels: dict[str, Any] = field(default_factory=dict[str, Any])


@contextmanager
def shown_beside() -> Generator[Shown, None, None]:
    """Yield what the block shows in Python's standard output and error, warnings, log records, files and commands.

    Printed text is passed on; no warning becomes an exception. Records of a level that is off are read as well, and
    their channel says so; nobody else gets them.

    >>> with shown_beside() as shown:
    ...     logging.getLogger("run").debug("sum %s", 3)
    >>> shown.channels
    {'log records of level DEBUG, which is off here': ['run sum 3']}
    """
    shown, warned, logged = Shown(), list[str](), _Records()
    printed = _Copy(sys.stdout)
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(printed))
        stack.enter_context(redirect_stderr(_Copy(sys.stderr, printed)))
        stack.enter_context(_warnings(warned))
        stack.enter_context(_logging(logged))
        written = stack.enter_context(written_files())
        yield shown
    heard = {"printed text": printed.getvalue(), "warnings": warned, **logged.texts, **written.channels}
    shown.channels = {name: what for name, what in heard.items() if what}


class _Copy(io.StringIO):
    """A stream that keeps what is written, and passes it on."""

    def __init__(self, target: Any, into: "_Copy | None" = None) -> None:
        super().__init__()
        self._target = target
        self._into = into

    def write(self, text: str, /) -> int:
        """Keep and pass on a text; of very long texts the beginning is kept."""
        if self._target is not None:
            self._target.write(text)
        if self._into is not None:
            return io.StringIO.write(self._into, text)
        return super().write(text) if self.tell() < _MOST_TEXT else len(text)


class _Records(logging.Handler):
    """A handler that keeps the text of each record by the channel that it is on. `level` is the root logger's."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = defaultdict(list)
        self.configured: int = _LISTENING[0].configured if _LISTENING else logging.getLogger().level

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record."""
        off = f" of level {record.levelname}, which is off here"
        channel = f"log records{'' if self.is_on(record) else off}"
        self.texts[channel].append(f"{record.name} {record.getMessage()}")

    def is_on(self, record: logging.LogRecord) -> bool:
        """Return whether the record would be emitted without this handler."""
        logger: logging.Logger | None = logging.getLogger(record.name)
        while logger is not None and logger.parent is not None and not logger.level:
            logger = logger.parent
        own = logger.level if logger is not None and logger.parent is not None else self.configured
        return record.levelno >= own


_LISTENING: list[_Records] = []


@contextmanager
def _logging(records: _Records) -> Generator[None, None, None]:
    """Add a handler for records of all levels to the root logger inside the block; no other one gets more of them."""
    root, others = logging.getLogger(), list(_handlers())
    for handler in others:
        handler.addFilter(records.is_on)
    _LISTENING.append(records)
    root.addHandler(records)
    root.setLevel(1)
    try:
        yield
    finally:
        _LISTENING.remove(records)
        if not _LISTENING:  # blocks of several threads may end in any order
            root.setLevel(records.configured)
        root.removeHandler(records)
        for handler in others:
            handler.removeFilter(records.is_on)


def _handlers() -> Iterator[logging.Handler]:
    """Yield the handlers of all loggers."""
    loggers = (*logging.Logger.manager.loggerDict.values(), logging.getLogger())
    for logger in loggers:
        if isinstance(logger, logging.Logger):
            yield from logger.handlers


@contextmanager
def _warnings(texts: list[str]) -> Generator[None, None, None]:
    """Keep the texts of all warnings inside the block; none becomes an exception there."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    texts += [f"{warning.category.__name__}: {warning.message}" for warning in caught]
