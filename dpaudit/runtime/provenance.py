"""The provenance of a result: a digest of the source, and the versions of the distributions beneath it."""

import hashlib
import platform
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.runtime.package_guard import PACKAGES, root

_DISTRIBUTIONS = ("dpaudit", "dp-accounting", "numpy", "scipy")


@cache
def source_digest() -> str:
    """Return the digest of the four packages as they were when the process first asked."""
    return digest_below(root())


def digest_below(folder: Path) -> str:
    """Return the SHA-256 over the four packages' Python files and tables below `folder`.

    Guarantee: it depends on the files' names relative to `folder` and on their content, on nothing else (line
    ends of either kind count the same). Each name and each content is preceded by its length, so no two
    different sets of files feed the hash the same bytes.
    """
    named = ((path.relative_to(folder).as_posix().encode(), path.read_bytes()) for path in source_files(folder))
    return digest_of_parts(part for name, content in named for part in (name, content.replace(b"\r\n", b"\n")))


def digest_of_parts(parts: Iterable[bytes], begin: bytes = b"") -> str:
    """Return the SHA-256 of `begin` and of parts, each preceded by its length."""
    digest = hashlib.sha256(begin)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def source_files(folder: Path) -> tuple[Path, ...]:
    """Return the four packages' Python files and tables below `folder`, sorted by their relative names."""
    files = (path for package in PACKAGES for path in (folder / package).rglob("*") if path.suffix in (".py", ".toml"))
    return tuple(sorted(files, key=lambda path: path.relative_to(folder).as_posix()))


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return (name, version) of Python, of dpaudit and of the numerical libraries, sorted by name.

    They are those that were installed when the process first asked. A distribution that runs without being installed
    says so in place of a version.
    """
    distributions = {name: distribution_version(name) for name in _DISTRIBUTIONS}
    return tuple(sorted({**distributions, "python": platform.python_version()}.items()))


def environment() -> tuple[tuple[str, str], ...]:
    """Return what else a result depends on: operating system, linear algebra, and a digest of all that is installed.

    The digest is the SHA-256 of the sorted lines `name==version`.
    """
    installed = {f"{entry.metadata['Name']}=={entry.version}".lower() for entry in distributions()}
    settings: Any = np.show_config(mode="dicts")
    blas = settings.get("Build Dependencies", {}).get("blas", {})
    return (
        ("operating system", f"{platform.system()} {platform.machine()}"),
        ("linear algebra", f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()),
        ("installed distributions", hashlib.sha256("\n".join(sorted(installed)).encode()).hexdigest()),
    )


def distribution_version(distribution: str) -> str:
    """Return the installed version of a distribution, or say that there is none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
