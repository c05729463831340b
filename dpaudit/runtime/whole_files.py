"""Files that are written whole or not at all: beside the old ones, then renamed."""

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from dpaudit.errors import ConfigError

_HIDDEN = ".dpaudit-"
_MINUTE = 60.0


def replace_file(path: Path, content: bytes) -> None:
    """Write `content` to `path`; a failure on the way leaves what was there.

    A link is followed, and the permissions of an earlier file stay. Devices and pipes are written to directly. What a
    killed process left on its way to the same file is removed.
    Raises: OSError: nothing can be written there, or the disk is full.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    kind = f".{target.name[:50]}."
    _remove_left(target.parent, kind)
    number, name = tempfile.mkstemp(dir=target.parent, prefix=f"{kind}{os.getpid()}-")
    try:
        os.close(number)
        _write(Path(name), content, target)
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def replace_files(folder: Path, files: Mapping[str, bytes], *, earlier: Iterable[str] = ()) -> None:
    """Write `files`, by their paths below `folder`, so that files of two calls never lie there together.

    All are written whole into a hidden folder first. Then the earlier files of these paths are removed, and those that
    the patterns `earlier` match; then the new ones take their places. So the folder of a process that is killed holds
    files of one call only, all of them but for the moment of the renames. A failure on the way leaves what was there;
    the hidden folder of a killed process is removed by the next call. Other files stay.
    Raises: OSError: nothing can be written there, a folder has the path of a file, or the disk is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _remove_left(folder, _HIDDEN)
    beside = Path(tempfile.mkdtemp(dir=folder, prefix=f"{_HIDDEN}{os.getpid()}-"))
    try:
        for name, content in files.items():
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            _write(beside / name, content, folder / name)
            if (folder / name).is_dir():
                raise IsADirectoryError(errno.EISDIR, "a folder has the path of a file", str(folder / name))
        before = {folder / name for name in files} | {path for pattern in earlier for path in folder.glob(pattern)}
        for path in before:
            path.unlink(missing_ok=True)
        for name in files:
            (beside / name).replace(folder / name)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_folder(folder: Path, files: Mapping[str, bytes], *, earlier: Iterable[str] = ()) -> tuple[Path, ...]:
    """Return the paths of the files that `replace_files` has written.

    Raises: ConfigError: nothing can be written there; what was there is left as it was.
    """
    try:
        replace_files(folder, files, earlier=earlier)
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError(f"{folder}: cannot be written to ({why}); name another folder.") from None
    return tuple(folder / name for name in files)


def _write(file: Path, content: bytes, target: Path) -> None:
    """Write a file to the disk, with the permissions of `target`, or of a new file if there is none."""
    mode = target.stat().st_mode if target.exists() else 0o666 & ~_umask()
    with file.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    file.chmod(mode & 0o7777)


def _remove_left(folder: Path, kind: str) -> None:
    """Remove what processes that are gone left in `folder`: hidden files and folders named `kind`, process, text."""
    with suppress(OSError):
        for path in folder.iterdir():
            process, dash, _ = path.name.removeprefix(kind).partition("-")
            if not path.name.startswith(kind) or not dash or not process.isdecimal() or _writes(int(process), path):
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _writes(process: int, path: Path) -> bool:
    """Return whether the process of this number may still write to `path`; on Windows, which does not tell, it may.

    In containers each process has the number of the one before: what has this process's own number is another thread's
    if it is younger than a minute, and left otherwise.
    """
    if process == os.getpid():
        return time.time() - path.stat().st_mtime < _MINUTE
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _umask() -> int:
    """Return the mask that new files of this process get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
