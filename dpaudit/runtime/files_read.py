"""The files that code opens for reading while it runs."""

import sys
import sysconfig
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from dpaudit.runtime.package_guard import PACKAGES, root

_OF_THE_SYSTEM = tuple(map(Path, ("/dev", "/etc", "/proc", "/sys", "/usr/share")))
_OPENED: ContextVar[set[Path] | None] = ContextVar("opened", default=None)
_WRITING = frozenset("wax+")


@contextmanager
def files_read() -> Generator[set[Path], None, None]:
    """Yield a set that fills with the files that Python code opens for reading within the block.

    Files that C libraries open without asking Python, and files that were read before the block, are not seen.
    Source files and compiled ones do not count.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "data.txt"
    ...     _ = file.write_text("1")
    ...     with files_read() as seen:
    ...         _ = file.read_text()
    ...     [path.name for path in seen]
    ['data.txt']
    """
    _listen()
    opened: set[Path] = set()
    token = _OPENED.set(opened)
    try:
        yield opened
    finally:
        _OPENED.reset(token)


@cache
def _listen() -> None:
    """Have Python report each file that it opens, from now on; outside the blocks the report is dropped."""
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[object, ...]) -> None:
    """Add a file that is opened for reading to the set of the present block, if there is one."""
    if event != "open":
        return
    opened = _OPENED.get()
    if opened is None or not isinstance(arguments[0], str | bytes):
        return
    name = arguments[0] if isinstance(arguments[0], str) else arguments[0].decode(errors="replace")
    mode = arguments[1]
    if isinstance(mode, str) and _WRITING & set(mode):
        return
    if not name.endswith((".py", ".pyc", ".so")):
        opened.add(Path(name).absolute())


def is_own(path: Path) -> bool:
    """Return whether a regular file is the user's: not of Python, an installed package, dpaudit or the system.

    >>> is_own(Path("/proc/cpuinfo")), is_own(Path(__file__))
    (False, False)
    """
    folders = (*map(Path, sysconfig.get_paths().values()), *(root() / name for name in PACKAGES), *_OF_THE_SYSTEM)
    return path.is_file() and not any(path.is_relative_to(folder) for folder in folders)
