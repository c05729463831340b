"""The JSON of a study: everything that it found, with settings, tuning, versions and seed."""

import math
from dataclasses import asdict
from typing import Any

from dpaudit.runtime.plugins import load_package
from dpaudit.runtime.provenance import source_digest, versions
from dpaudit.study.contrasts import AgainstFloor, Dominance
from dpaudit.study.digests import plain
from dpaudit.study.rows import Row
from dpaudit.study.running import Outcome
from dpaudit.study.study import Study

SCHEMA = "urn:dpaudit:schema:study:3"
"""The schema of what is written."""

_SETTINGS = ("name", "seed", "alpha", "delta", "runs", "problems", "horizons", "gap_factors")


def document_of(outcome: Outcome, problem: Any) -> dict[str, Any]:
    """Return the study as plain data in the published field names; `problem` is that of the first seed.

    What is no number is None, and infinity is "inf".
    """
    floors = {id(line.row): line for line in outcome.floors}
    data: dict[str, Any] = {
        "schema": SCHEMA,
        **_asked(outcome.study, problem),
        "rows": [_row(row, floors.get(id(row))) for row in outcome.rows],
        "dominance": [_dominance(pair) for pair in outcome.dominated],
        "exponents": outcome.exponents,
        "tuning": _tuning(outcome),
        "failed": [asdict(cell.cell) | {"error": cell.error} for cell in outcome.failed],
        "versions": dict(versions()),
        "source_digest": source_digest(),
    }
    return plain(data)


def _asked(study: Study, problem: Any) -> dict[str, Any]:
    """Return what the study asks, as plain data: its settings, its problem and its contenders."""
    settings = study.settings
    return {
        **{key: getattr(settings, key) for key in _SETTINGS},
        "relation": settings.neighbours,
        "problem": {
            **study.problem,
            "description": getattr(problem, "description", ""),
            "units_per_person": getattr(problem, "units_per_person", None),
            "users": "simulated",
            "origin": _origin(study),
        },
        "contenders": [
            {"label": c.label, "role": c.role, "algorithm": c.algorithm, "tune": c.tune} for c in study.contenders
        ],
    }


def _origin(study: Study) -> str | None:
    """Return where the problem comes from, in one line; None of a plug-in's problem."""
    origin = load_package("algorithms.problems").origin(str(study.problem["name"]), has_path="path" in study.problem)
    return None if origin is None else str(origin.words)


def _row(row: Row, against: AgainstFloor | None) -> dict[str, Any]:
    """Return one row as plain data."""
    certified = row.certified
    uniform = sum(row.uniform) / len(row.uniform)
    return {
        "label": row.label,
        "algorithm": row.name,
        "family": row.family,
        "role": row.role,
        "model": certified.model,
        "claim": row.epsilon,
        "epsilon": certified.epsilon if certified.model else None,
        "person_epsilon": certified.person,
        "unit": certified.unit,
        "certificate": certified.digest,
        "verdict": certified.verdict,
        "remark": certified.why if row.role == "private" else "",
        "config": row.config,
        "T": row.horizon,
        "regret": row.regret,
        "uniform": uniform,
        "myopic": sum(row.myopic) / len(row.myopic),
        "share": row.share,
        "lost": row.lost,
        "floor": against.floor if against else None,
        "minus_floor": against.difference if against else None,
        "visible": against.visible if against else None,
        "lower_bound": _lower_bound(row),
        "upper_bound": _upper_bound(row),
        "information_gain": row.gain and dict(zip(("lower", "upper", "without_kernel"), row.gain, strict=True)),
    }


def _lower_bound(row: Row) -> dict[str, Any] | None:
    """Return the lower bound on regret, and the measured worst instance where all of them were run."""
    bound = row.bound
    if bound is None:
        return None
    return {
        "regret": bound.value,
        "instances": bound.instances,
        "family": bound.family,
        "source": bound.source,
        "worst": row.worst,
        "ratio": row.worst.mean / bound.value if row.worst and bound.value > 0 else math.nan,
    }


def _upper_bound(row: Row) -> dict[str, Any] | None:
    """Return what is proved of the contender's regret; at `most` it says nothing, and `log10_from` says from when."""
    bound = row.upper
    if bound is None:
        return None
    return {"regret": bound.value, "most": bound.most, "log10_from": bound.log10, "source": bound.source}


def _dominance(pair: Dominance) -> dict[str, Any]:
    """Return one case of dominance as plain data."""
    return {
        "better": pair.better.label,
        "better_claim": pair.better.epsilon,
        "worse": pair.worse.label,
        "worse_claim": pair.worse.epsilon,
        "T": pair.better.horizon,
        "difference": pair.difference,
    }


def _tuning(outcome: Outcome) -> dict[str, Any]:
    """Return the trials of settings and the chosen ones as plain data."""
    study = outcome.study
    trials = [(cell.cell, cell.mean) for cell in outcome.tuned]
    return {
        "seeds": list(study.settings.tuning_seeds),
        "trials": [
            {**_choice(study, cell.label, cell.tuning), "T": cell.horizon, "problem": cell.problem, "regret": regret}
            for cell, regret in trials
        ],
        "chosen": [{**_choice(study, cell.label, cell.tuning), "T": cell.horizon} for cell in outcome.chosen],
    }


def _choice(study: Study, label: str, tuning: tuple[tuple[str, int], ...]) -> dict[str, Any]:
    """Return the settings that a trial chose."""
    values = study.contender(label).tune
    return {"label": label, "settings": {key: values[key][number] for key, number in tuning}}
