"""The wall night by night: evidence against each row's claim accumulates, and may be looked at whenever one likes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.wall.evidence_folder import EvidenceFolder, Kept
from benchmarks.wall.measuring import measured
from benchmarks.wall.row import Row, RowResult
from dpaudit.adapters.release import LibraryRelease
from dpaudit.errors import ConfigError
from dpaudit.runtime.plugins import load_package

_SHOWN = 0.01


def measure_night(
    rows: Sequence[Row],
    folder: EvidenceFolder,
    *,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[RowResult, ...]:
    """Return one result for each row: of all its nights, the present one among them, which is kept in `folder`.

    Guarantee: with probability at least 1 - `folder.significance` no row whose claim holds for its pair is ever
    accused, in any night, of any version (Ville's inequality for a row, a union over rows and versions), if every night
    draws fresh randomness. Streams follow from seed, row and number of the night, so that a repeated seed is fresh.
    Raises: ConfigError: the folder holds another error rate, or a file that is no evidence.
    """
    folder.open()
    results: list[RowResult] = []
    for number, row in enumerate(rows):
        results.append(measured(row, partial(_tonight, row=row, folder=folder, seed=seed)))
        if progress is not None:
            progress(number + 1, len(rows))
    return tuple(results)


def _tonight(known: RowResult, release: LibraryRelease, *, row: Row, folder: EvidenceFolder, seed: int) -> RowResult:
    """Return the audit of a release on top of the evidence of earlier nights; a claim that has fallen is not run."""
    audits = load_package("audits")
    key = (row.library, row.name, row.pair)
    before = folder.read(key, release.version, release.claim)
    if before.refuted:
        return _result(known, before, "violation")
    rng = np.random.default_rng([seed, before.generation, before.nights, *" ".join(key).encode()])
    audited, evidence = audits.continue_audit(
        release.case(),
        _wealth(folder, before, release),
        runs=row.runs,
        rng=rng,
        significance=folder.level(before.generation),
        first_block=max(8, row.runs // 4),
    )
    after = replace(
        before,
        nights=before.nights + 1,
        runs=evidence.runs,
        refuted=audited.verdict == "violation",
        lower=max(before.lower, _lower(evidence, audited.verdict)),
        wealth=evidence.to_dict(),
    )
    if not folder.keep(key, before, after):
        note = f"{known.note} Another night was added meanwhile; this one is not kept.".strip()
        return replace(known, outcome="not run", note=note)
    return _result(known, after, audited.verdict)


def _lower(evidence: Any, verdict: str) -> float:
    """Return the bound of all nights at .01; not above a claim that is not refuted."""
    survivor = load_package("audits.bounds.e_process").lowest_survivor(np.array(evidence.best), _SHOWN)
    return float(survivor if verdict == "violation" else min(survivor, evidence.claim.epsilon))


def _wealth(folder: EvidenceFolder, kept: Kept, release: LibraryRelease) -> Any:
    """Return the wealth that the audit continues with; none before the first night."""
    kind = load_package("audits.procedures.prior_evidence").PriorEvidence
    if kept.wealth is None:
        return kind.nothing(release.claim)
    try:
        return kind.from_dict(release.claim, kept.wealth)
    except ValueError as error:
        raise ConfigError(f"{folder.path}: holds evidence that cannot be read: {error}") from None


def _result(known: RowResult, kept: Kept, outcome: str) -> RowResult:
    """Return the result of a row after the nights that are kept."""
    nights = "1 night" if kept.nights == 1 else f"{kept.nights} nights"
    note = f"{known.note} Evidence of {nights} on version {known.version}.".strip()
    return replace(
        known,
        outcome=outcome,  # type: ignore[arg-type]  # a verdict of an audit is an outcome
        epsilon_lower=kept.lower,
        runs=kept.runs,
        accused=kept.refuted,
        note=note,
    )
