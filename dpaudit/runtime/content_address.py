"""One content address for all evidence: code, files, data, versions and settings by value."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpaudit.runtime.provenance import digest_of_parts, versions
from dpaudit.runtime.sources import digest_of_sources


def content_address(*facts: str | bytes, subjects: Iterable[Any] = (), files: Iterable[Path] = ()) -> str:
    """Return the SHA-256 over facts, the source that `subjects` reach, the content of `files`, and the versions.

    The versions are those of Python, dpaudit, numpy, scipy and dp-accounting. Evidence under one address says nothing
    of what has another.

    >>> content_address("a", "b") == content_address("ab", "")
    False
    """
    read = [part for path in sorted(set(files)) for part in (path.name.encode(), _content(path))]
    own = digest_of_sources(*subjects).encode(), repr(versions()).encode()
    return digest_of_parts((*map(_bytes, facts), *own, *read))


def _bytes(fact: str | bytes) -> bytes:
    """Return a fact as bytes."""
    return fact if isinstance(fact, bytes) else fact.encode("utf-8", "surrogatepass")


def _content(path: Path) -> bytes:
    """Return the digest of a regular file's content; nothing for what is gone, or is no file."""
    try:
        return hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b""
    except OSError:
        return b""
