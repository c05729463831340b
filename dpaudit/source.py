"""Which code a certificate speaks of: a digest of the four packages' sources, and the versions around them."""

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("algorithms", "audits", "dpaudit", "mechanisms")


@cache
def source_digest() -> str:
    """Return the SHA-256 over the Python sources of the four packages, by relative path and content."""
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            content = path.read_bytes().replace(b"\r\n", b"\n")
            digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def versions() -> tuple[tuple[str, str], ...]:
    """Return (name, version) of Python and of the libraries that computed the numbers."""
    found = [("python", platform.python_version())]
    for name in ("dpaudit", "numpy", "scipy"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "not installed"))
    return tuple(found)
