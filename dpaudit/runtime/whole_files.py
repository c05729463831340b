"""Files that are written whole or not at all: beside the old one, then renamed."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Write `content` to `path`; a failure on the way leaves what was there.

    A link is followed, and the permissions of an earlier file stay. Devices and pipes are written to directly.
    Raises: OSError: nothing can be written there, or the disk is full.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    mode = target.stat().st_mode if target.exists() else 0o666 & ~_umask()
    number, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:50]}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode & 0o7777)
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    """Return the mask that new files of this process get."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
