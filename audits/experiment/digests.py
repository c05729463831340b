"""Digests of data and of states, to see whether a call changed them: arrays by their bytes, all else as outputs are."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from audits.outputs.values import described, record

_DEEPEST = 8


def digest_of(value: Any) -> str:
    """Return a digest of `value`: equal values give equal digests, in one process.

    Raises: UnsupportedError: a part whose type has no reading.

    >>> digest_of({"sums": np.zeros(3)}) == digest_of({"sums": np.ones(3)})
    False
    """
    digest = hashlib.sha256()
    for part in _parts(value, _DEEPEST):
        digest.update(part)
    return digest.hexdigest()


def _parts(value: Any, deepest: int) -> Iterator[bytes]:
    """Yield the bytes of a value, part by part."""
    yield f"{described(value)} ".encode()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield np.ascontiguousarray(value).tobytes()
    elif deepest and type(value) in (list, tuple):
        for part in value:
            yield from _parts(part, deepest - 1)
    elif deepest and isinstance(value, Mapping):
        for name, part in value.items():
            yield repr(name).encode()
            yield from _parts(part, deepest - 1)
    elif deepest and is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _parts(getattr(value, field.name), deepest - 1)
    else:
        yield repr(sorted(record(value).items())).encode()
