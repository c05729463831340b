"""The content address of an audit: evidence lapses when its code, files, data, claim, versions or seed change."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from audits.experiment.digests import content_of
from audits.experiment.readings import reading_of
from audits.experiment.settings import Settings
from audits.outputs.calls import CallRaisedError, called
from audits.outputs.conversion import columns_of
from dpaudit import AuditCase, Claim, DPAuditError
from dpaudit.runtime.content_address import content_address
from dpaudit.runtime.files_read import files_read

_RUNS, _STREAM = 8, 2_903


def stored_under(
    how: Settings,
    case: AuditCase,
    claim: Claim,
    rng: np.random.Generator,
    *facts: object,
) -> Settings:
    """Return `how` with the part of its store that belongs to this audit."""
    if how.store is None:
        return how
    stream = repr(getattr(rng.bit_generator, "seed_seq", None))
    address = address_of(case, claim, stream, *how.facts, *facts, how=how, subjects=(how.learner,))
    return replace(how, store=how.store.under(address))


def address_of(
    case: AuditCase, claim: Claim, *facts: object, how: Settings | None = None, subjects: Iterable[Any] = ()
) -> str:
    """Return the content address of an audit of `case` for `claim` under the settings `facts`.

    The case is known by the source that its function and score reach, by its neighbours, by value, and by the outputs,
    scores and files read of eight runs on either neighbour with fixed streams. `subjects` are further objects whose
    source counts. Not seen are installed packages other than those whose versions count, and files that only other
    runs read. A function that does not repeat itself has a new address every time.

    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> facts = {"name": "sum", "view": "output", "description": "One value is 0 or 1.", "neighbours": (0.0, 1.0)}
    >>> wide = AuditCase(**facts, relation="replace_one", run=lambda data, rng, n: data + rng.laplace(size=n))
    >>> less = AuditCase(**facts, relation="replace_one", run=lambda data, rng, n: data + rng.laplace(0, 0.5, size=n))
    >>> address_of(wide, claim) == address_of(wide, claim), address_of(wide, claim) == address_of(less, claim)
    (True, False)
    """
    parts: list[bytes] = []
    with files_read() as read:
        for side, data in enumerate(case.neighbours):
            parts.append(value_of(data))
            parts.append(_sample(case, data, np.random.default_rng([_STREAM, side]), how or Settings()))
    stated = (case.name, case.view, case.relation, repr(claim), *map(repr, facts))
    return content_address(*stated, *parts, subjects=(case.run, case.score, *subjects), files=read)


def value_of(data: Any) -> bytes:
    """Return a data set by value; by its text or the name of its type where that has no reading."""
    try:
        return content_of(data)
    except DPAuditError:
        text = repr(data)
        return f"{type(data).__module__}.{type(data).__qualname__} {'' if ' at 0x' in text else text}".encode()


def _sample(case: AuditCase, data: Any, rng: np.random.Generator, how: Settings) -> bytes:
    """Return what a few runs give: their columns and scores, or the name of the exception."""
    try:
        outputs = called(case.run, data, rng, _RUNS)
        fields = columns_of(outputs, _RUNS)
        scored = case.score is not None and not reading_of(case, how).alone
        scores = np.asarray(case.score(outputs), dtype=float).tobytes() if scored and case.score is not None else b""
    except CallRaisedError as error:
        return error.exception.encode()
    except (DPAuditError, ValueError, TypeError) as error:
        return repr(error).encode()
    return b"".join(name.encode() + fields[name].tobytes() for name in sorted(fields)) + scores
