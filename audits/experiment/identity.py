"""The content address of an audit: what its chunks depend on, so that stored chunks lapse when any of it changes."""

import hashlib
import platform
from dataclasses import replace
from typing import Any

import numpy as np

from audits.experiment.chunk_store import ChunkStore
from audits.experiment.execution import Execution
from audits.experiment.readings import AsReturned, reading_of
from audits.outputs.calls import CallRaisedError, called
from audits.outputs.conversion import columns_of
from audits.outputs.values import record
from dpaudit import AuditCase, Claim, DPAuditError

_RUNS, _STREAM = 8, 2_903


def stored_under(how: Execution, case: AuditCase, claim: Claim, rng: np.random.Generator, *facts: object) -> Execution:
    """Return `how` with the part of its store that belongs to this audit."""
    if not isinstance(how.store, ChunkStore):
        return how
    return replace(how, store=how.store.under(address_of(case, claim, rng, how, *facts)))


def address_of(case: AuditCase, claim: Claim, rng: np.random.Generator, how: Execution, *facts: object) -> str:
    """Return the address of an audit: a digest of its case, claim, random stream, versions, and `facts`.

    The case is known by its neighbours, by value, and by the outputs and scores of eight runs on either of them with
    fixed streams: code, files and settings that change what it returns change the address. A change that none of these
    runs shows is not seen here; callers that know the source add its digest. A function that does not repeat itself
    has a new address every time.
    """
    digest = hashlib.sha256()
    stream = getattr(rng.bit_generator, "seed_seq", None)
    parts = (case.name, case.view, case.relation, repr(claim), repr(stream), how.chunk_runs, how.run_seconds, *facts)
    for part in (*parts, np.__version__, platform.python_version()):
        _add(digest, repr(part).encode())
    for side, data in enumerate(case.neighbours):
        _add(digest, _value(data))
        _add(digest, _sample(case, data, np.random.default_rng([_STREAM, side]), how))
    return digest.hexdigest()


def _sample(case: AuditCase, data: Any, rng: np.random.Generator, how: Execution) -> bytes:
    """Return what a few runs give: their columns and scores, or the name of the exception."""
    try:
        outputs = called(case.run, data, rng, _RUNS)
        fields = columns_of(outputs, _RUNS)
        scored = case.score is not None and isinstance(reading_of(case, how), AsReturned)
        scores = np.asarray(case.score(outputs), dtype=float).tobytes() if scored and case.score is not None else b""
    except CallRaisedError as error:
        return error.exception.encode()
    except (DPAuditError, ValueError, TypeError) as error:
        return repr(error).encode()
    return b"".join(name.encode() + fields[name].tobytes() for name in sorted(fields)) + scores


def _value(data: Any) -> bytes:
    """Return a data set by value; by its text where its type has no reading."""
    if isinstance(data, np.ndarray) and not data.dtype.hasobject:
        return f"{data.dtype} {data.shape}".encode() + np.ascontiguousarray(data).tobytes()
    try:
        return repr(sorted(record(data).items())).encode()
    except DPAuditError:
        return f"{type(data).__module__}.{type(data).__qualname__}".encode()


def _add(digest: Any, part: bytes) -> None:
    """Feed one part, preceded by its length."""
    digest.update(len(part).to_bytes(8, "big"))
    digest.update(part)
