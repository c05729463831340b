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
from typing import Any

_MOST_BYTES, _MOST_FILES, _MOST_OPEN = 1 << 16, 64, 256
_STANDARD = 3
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
    files those of varying names, are no channels. Seen are files opened inside the block, and those open already whose
    size changes.

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


def _channels(written: Written, already: dict[int, tuple[str, int]]) -> dict[str, Any]:
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
    for number, (path, size) in _open_files().items():
        if already.get(number, (path, size)) != (path, size) and already[number][0] == path:
            channels[f"the file {path!r}"] = _content(path)[already[number][1] :] if size <= _MOST_BYTES else size
    return channels


def _open_files() -> dict[int, tuple[str, int]]:
    """Return path and size of the regular files with a name that are open, by their numbers; Linux only."""
    numbers: list[str] = []
    with suppress(OSError):
        numbers = os.listdir("/proc/self/fd")[:_MOST_OPEN]  # noqa: PTH208 - names are numbers here
    held = {int(number): _open_file(int(number)) for number in numbers if int(number) >= _STANDARD}
    return {number: file for number, file in held.items() if file is not None}


def _open_file(number: int) -> tuple[str, int] | None:
    """Return path and size of an open file that is regular and has a name; None for any other."""
    with suppress(OSError):
        status = os.fstat(number)
        if stat.S_ISREG(status.st_mode) and status.st_nlink:
            return os.readlink(f"/proc/self/fd/{number}"), status.st_size  # noqa: PTH115 - paths are texts here
    return None
