"""Running rows under one family-wise error rate."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from benchmarks.other_significance import epsilon_at
from benchmarks.wall.row import Replay, Row, RowResult
from benchmarks.wall.two_rates import audit_rates
from dpaudit.adapters.release import LibraryRelease
from dpaudit.certification.verdict import certify
from dpaudit.errors import DPAuditError, UnsupportedError
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.declaration import Stated
from dpaudit.runtime.plugins import load_package

_SHOWN = 0.01
_AGAIN = 1e-4


def measure(
    rows: Sequence[Row],
    *,
    family: int,
    significance: float,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[RowResult, ...]:
    """Return one result for each row, each at level `significance` / `family`.

    `family` is the number of rows of the whole list, also of those that run elsewhere. Guarantee: with probability at
    least 1 - `significance` no row is flagged whose claim holds for its pair.
    """
    results: list[RowResult] = []
    for number, row in enumerate(rows):
        rng = np.random.default_rng([seed, number])
        results.append(measured(row, partial(_attacked, level=significance / max(1, family), rng=rng)))
        if progress is not None:
            progress(number + 1, len(rows))
    return tuple(results)


Attack: TypeAlias = Callable[[RowResult, LibraryRelease], RowResult]
"""From what is known of a row, with claim and version, and from its release to what an audit of it found."""


def measured(row: Row, attacked: Attack) -> RowResult:
    """Return the result of one row: of its replay, of its certificate, or of the audit that `attacked` makes.

    What cannot run says why.
    """
    started = time.perf_counter()
    empty = RowResult(
        library=row.library,
        version="",
        name=row.name,
        pair=row.pair,
        standing=row.standing,
        source=row.source,
        outcome="not run",
        runs=row.runs,
    )
    try:
        built = row.build()
        found = _replayed(empty, built) if isinstance(built, Replay) else _released(empty, built, attacked)
    except UnsupportedError as error:
        return replace(empty, note=str(error))
    except DPAuditError as error:
        return replace(empty, note=f"{type(error).__name__}: {error}")
    except Exception as error:  # a library refuses its own object: the row says so, and the wall goes on
        return replace(empty, note=f"The library raised {type(error).__name__}: {' '.join(str(error).split())[:200]}")
    return replace(found, seconds=time.perf_counter() - started)


def _replayed(empty: RowResult, replay: Replay) -> RowResult:
    """Return the result of a replay: deterministic, so that it has no error rate."""
    wrong = replay.seen > replay.claimed * (1 + 1e-12)
    return replace(
        empty,
        version=replay.version,
        outcome="violation" if wrong else "consistent",
        accused=wrong,
        runs=1,
        note=f"{replay.text[:1].upper()}{replay.text[1:]}: claimed {replay.claimed:.6g}, seen {replay.seen:.6g}",
    )


def _released(empty: RowResult, release: LibraryRelease, attacked: Attack) -> RowResult:
    """Return the certificate of a release and the audit of it, where it runs."""
    certificate = certify(release.declaration, release.claim)
    known = replace(
        empty,
        version=release.version,
        claim=release.claim,
        claimed_by=release.source,
        stated=isinstance(release.declaration, Stated),
        note=" ".join(release.notes),
    )
    refuted = certificate.verdict == "refuted"
    if release.function is None or release.pair is None:
        return replace(known, outcome=certificate.verdict, accused=refuted, runs=0)
    found = attacked(known, release)
    return replace(found, accused=found.accused or refuted)


def _attacked(known: RowResult, release: LibraryRelease, *, level: float, rng: np.random.Generator) -> RowResult:
    """Return the audit of a release, and its repetition where it is flagged."""
    outcome, lower, power, why = _audited(release, known.runs, level, rng)
    again = None
    if outcome == "violation":
        again = _audited(release, known.runs, _AGAIN, rng.spawn(1)[0])[0] == "violation"
    return replace(
        known,
        outcome=outcome,
        epsilon_lower=lower,
        power=power,
        accused=outcome == "violation",
        again=again,
        note=f"{known.note} {why}".strip(),
    )


def _audited(release: LibraryRelease, runs: int, level: float, rng: np.random.Generator) -> Any:
    """Return verdict at `level`, bound at .01, the epsilon that would have been seen, and why it is inconclusive.

    Where runs times delta exceeds one, two error rates decide; else the guesses. The choice reads no output.
    """
    audits = load_package("audits")
    case, claim = release.case(), release.claim
    if runs * claim.delta > 1:
        result = audit_rates(case, claim, runs=runs, rng=rng, significance=level)
        shown = audits.load("joint")(result.counts, result.delta, _SHOWN).epsilon
        return result.verdict, float(shown), None, ""
    result = audits.audit(case, claim=claim, runs=runs, rng=rng, significance=level)
    shown = epsilon_at(result, _SHOWN)
    power = result.power.epsilon if math.isfinite(result.power.epsilon) else None
    return result.verdict, shown, power, _why(result)


def _why(result: AuditResult) -> str:
    """Return the first remark of an inconclusive audit, such as that every run raised an exception."""
    return " ".join(result.remarks[:1]) if result.verdict == "inconclusive" else ""
