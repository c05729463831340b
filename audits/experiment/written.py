"""Files that a block of code writes, and commands that it gives to the system, as Python's audit events name them.

An audit hook cannot be removed. One hook is added when the first block is watched; it does nothing outside a block.
"""

import io
import os
import stat
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_MOST_BYTES, _MOST_FILES, _MOST_OPEN = 1 << 16, 64, 256
_STANDARD, _ANCESTORS = 3, 16
_WRITING = os.O_WRONLY | os.O_RDWR
_COMMANDS = {
    "os.system": "commands",
    "subprocess.Popen": "commands",
    "urllib.Request": "web requests",
    "socket.connect": "connections",
    "os.mkdir": "names of files",
    "os.rename": "names of files",
    "os.link": "names of files",
    "os.symlink": "names of files",
}
"""Events whose arguments are a channel, by the words for the channel."""


@dataclass(slots=True, eq=False)
class Written:
    """The paths that one block opened for writing, with what each held before, and the commands of the block."""

    before: dict[str, bytes] = field(default_factory=dict[str, bytes])
    commands: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    channels: dict[str, Any] = field(default_factory=dict[str, Any])
    busy: bool = False

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note one audit event."""
        if event in _COMMANDS:
            self.commands.setdefault(_COMMANDS[event], []).append(f"{event} {arguments[:2]!r:.2000}")
        elif event == "open" and _writes(arguments) and len(self.before) < _MOST_FILES:
            with suppress(TypeError, ValueError):
                path = os.path.abspath(os.fsdecode(arguments[0]))  # noqa: PTH100 - no path object inside a hook
                if path not in self.before and not path.startswith(("/dev/", "/proc/")):
                    self.before[path] = _content(path)


_WATCHED: list[Written] = []
_HOOKED: list[bool] = []


@contextmanager
def written_files() -> Generator[Written, None, None]:
    """Yield what the block writes; its `channels` are complete when the block has ended.

    A channel is "the file 'path'", with what the block added to it, "new files in 'folder'", with the contents of files
    of any name in order, or a kind of command. Files that are gone at the end, and in the system's folder for temporary
    files those of varying names, are no channels. Seen are files opened inside the block, and those open already that
    this process moves on in and whose size changes, but for standard streams, which other processes may share.

    >>> import pathlib
    >>> with tempfile.TemporaryDirectory() as folder, written_files() as written:
    ...     _ = pathlib.Path(folder, "log").write_text("secret")
    >>> list(written.channels.values())
    [b'secret']
    """
    if not _HOOKED:
        _HOOKED.append(True)
        sys.addaudithook(_hook)
    written = Written()
    already = _open_files()
    _WATCHED.append(written)
    try:
        yield written
    finally:
        _WATCHED.remove(written)
        written.channels = _channels(written, already)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    """Hand an event to every watched block; what a block does to note it is not noted."""
    for written in _WATCHED:
        if not written.busy:
            written.busy = True
            try:
                written.note(event, arguments)
            finally:
                written.busy = False


def _writes(arguments: tuple[Any, ...]) -> bool:
    """Return whether the arguments of an `open` event open a file by its name for writing."""
    path, mode, flags = (*arguments, None, None, None)[:3]
    if isinstance(path, int) or path is None:
        return False
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITING)


def _content(path: str) -> bytes:
    """Return the first bytes of a regular file, nothing where it cannot be read."""
    with suppress(OSError, ValueError):
        if stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - no path object inside a hook
            with io.FileIO(path) as file:
                return file.read(_MOST_BYTES) or b""
    return b""


def _channels(written: Written, already: dict[int, "_Open"]) -> dict[str, Any]:
    """Return the channels of a block that has ended."""
    channels: dict[str, Any] = {name: tuple(texts) for name, texts in written.commands.items()}
    scratch = os.path.realpath(tempfile.gettempdir())
    folders: dict[str, list[bytes]] = {}
    for path, before in written.before.items():
        if os.path.isfile(path):  # noqa: PTH113 - paths are texts here
            after = _content(path)
            added = after[len(before) :] if before and after.startswith(before) and after != before else after
            channels[f"the file {path!r}"] = added
            folder = os.path.dirname(path)  # noqa: PTH120 - paths are texts here
            if not f"{os.path.realpath(folder)}/".startswith(f"{scratch}/"):
                folders.setdefault(f"new files in {folder!r}", []).append(added)
    for name, contents in folders.items():
        channels[name] = tuple(contents)
    grown = [(already[number], now) for number, now in _open_files().items() if _grew(already.get(number), now)]
    shared = _standard_streams() if grown else frozenset()
    for then, now in grown:
        if now.file not in shared:
            shown = _content(now.path)[then.size :] if now.size <= _MOST_BYTES else now.size
            channels[f"the file {now.path!r}"] = shown
    return channels


class _Open(NamedTuple):
    """An open file: its device and number, its path, its size, and where this process stands in it."""

    file: tuple[int, int]
    path: str
    size: int
    position: str


def _grew(then: _Open | None, now: _Open) -> bool:
    """Return whether a file was open already, and this process moved on in it while its size changed."""
    return then is not None and then.path == now.path and then.size != now.size and then.position != now.position


def _open_files() -> dict[int, _Open]:
    """Return the regular files with a name that are open, by their numbers, from 3 on; Linux only."""
    numbers: list[str] = []
    with suppress(OSError):
        numbers = os.listdir("/proc/self/fd")[:_MOST_OPEN]  # noqa: PTH208 - names are numbers here
    files = {int(number): _open_file(int(number)) for number in numbers if int(number) >= _STANDARD}
    return {number: file for number, file in files.items() if file is not None}


def _open_file(number: int) -> _Open | None:
    """Return an open file that is regular and has a name; None for any other."""
    with suppress(OSError):
        status = os.fstat(number)
        if stat.S_ISREG(status.st_mode) and status.st_nlink:
            position = _content(f"/proc/self/fdinfo/{number}").decode().partition("\n")[0]
            path = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115 - paths are texts here
            file = status.st_dev, status.st_ino
            return _Open(file=file, path=path, size=status.st_size, position=position)
    return None


def _standard_streams() -> frozenset[tuple[int, int]]:
    """Return the files behind the standard streams of this process and of those that started it, by device and number.

    A process inherits them under other numbers, too, and whoever writes there moves all of them on.
    """
    streams: set[tuple[int, int]] = set()
    process = str(os.getpid())
    for _ in range(_ANCESTORS):
        for number in range(_STANDARD):
            with suppress(OSError):
                status = os.stat(f"/proc/{process}/fd/{number}")  # noqa: PTH116 - paths are texts here
                streams.add((status.st_dev, status.st_ino))
        fields = _content(f"/proc/{process}/stat").rpartition(b")")[2].split()
        if len(fields) < 2 or fields[1] == b"0":
            break
        process = fields[1].decode()
    return frozenset(streams)
