"""Digests of the source that a check depends on: the modules of the project that its subject reaches."""

import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.runtime.provenance import source_digest


def digest_of_sources(subject: Any) -> str:
    """Return the SHA-256 over the modules that `subject` is defined in and reaches, and over dpaudit's own source.

    A module reaches what stands in its namespace; imports inside functions are not seen, and installed packages and
    the standard library do not count.
    """
    digest = hashlib.sha256(source_digest().encode())
    home = sys.modules.get(getattr(subject, "__module__", None) or type(subject).__module__)
    for path in sorted({Path(str(module.__file__)) for module in _reached(home, set())}):
        digest.update(path.name.encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def _reached(module: ModuleType | None, seen: set[str]) -> Iterator[ModuleType]:
    """Yield `module` and the project's modules that its names lead to, each once."""
    if module is None or module.__name__ in seen or not _is_own(module):
        return
    seen.add(module.__name__)
    yield module
    for value in tuple(vars(module).values()):
        name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
        if isinstance(name, str):
            yield from _reached(sys.modules.get(name), seen)


def _is_own(module: ModuleType) -> bool:
    """Return whether a module is a file of the project: neither installed, nor Python's own, nor dpaudit's."""
    file = getattr(module, "__file__", None)
    if not file or module.__name__.partition(".")[0] in ("dpaudit", "mechanisms", "algorithms", "audits"):
        return False
    elsewhere = {sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")}
    return not any(Path(file).is_relative_to(folder) for folder in elsewhere)
