"""Witnesses of violations: written by an audit, checked again by `dpaudit verify` on fresh runs.

A witness is the refutation (event, seed, counts, claim) beside the text of the configuration and the case's place in
it: enough to build the case again, and no data.
"""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.cli.output import output_folder, write
from dpaudit.configuration.config import config_of
from dpaudit.configuration.configuration import Configuration
from dpaudit.errors import CertificateError
from dpaudit.model.audit_result import AuditResult
from dpaudit.workflow import PlacedCase, cases_of


def write_witnesses(
    configuration: Configuration,
    cases: tuple[PlacedCase, ...],
    results: tuple[AuditResult, ...],
    seed: int,
    folder: Path,
) -> tuple[Path, ...]:
    """Return the files written to `folder`, one for each violation."""
    refute = import_module("audits").refute
    files = []
    for (place, case), result in zip(cases, results, strict=True):
        if result.verdict != "violation":
            continue
        refutation = refute(case, result, np.random.default_rng([seed, place]))
        text = json.dumps(
            {
                "witness": json.loads(refutation.to_json()),
                "configuration": {"name": configuration.path.name, "text": configuration.text, "place": place},
            },
            indent=2,
            sort_keys=True,
        )
        name = re.sub(r"[^a-z0-9]+", "-", case.name.lower()).strip("-")
        files.append(output_folder(folder) / f"{place}-{name}.witness.json")
        write(files[-1], f"{text}\n")
    return tuple(files)


def is_witness(text: str) -> bool:
    """Return whether a file is a witness and not a certificate."""
    try:
        data = json.loads(text)
    except ValueError:
        return False
    return isinstance(data, dict) and "witness" in data


def check_witness(file: Path, text: str, seed: int) -> dict[str, Any]:
    """Return what fresh runs, seeded by `seed`, say of the witness in `file`, as plain data.

    `stands` says whether what fell in the audit falls again. Paths in the configuration are read beside `file`.
    Raises: CertificateError: no witness, or the case or its attack is another one than it was.
    """
    audits = import_module("audits")
    try:
        data = json.loads(text)
        held = data["configuration"]
        path, written, place = file.parent / Path(str(held["name"])).name, str(held["text"]), int(held["place"])
        refutation = audits.Refutation.from_json(json.dumps(data["witness"]))
    except (KeyError, TypeError, ValueError) as error:
        raise CertificateError(f"{file}: no witness that can be checked: {error}.") from None
    cases = dict(cases_of(config_of(path, written), None))
    if place not in cases:
        raise CertificateError(f"{file}: the algorithm has no case number {place}; code or versions differ.")
    taught = np.random.default_rng(list(refutation.seed))
    bound = audits.recheck(refutation, cases[place], np.random.default_rng([seed, 1]), taught=taught)
    return {
        "case": refutation.case,
        "stands": refutation.falls_again(bound),
        "epsilon_lower": bound.epsilon,
        "then": refutation.epsilon_lower,
        "against": refutation.against,
        "bound": bound.name,
        "assumption": bound.assumption,
        "significance": bound.significance,
        "runs": refutation.counts.runs,
        "seed": seed,
    }


def witness_sentence(found: dict[str, Any]) -> str:
    """Return the outcome in one sentence."""
    word = "falls again" if found["stands"] else "does not fall again"
    return (
        f"{found['case']}: epsilon {found['against']:.4g} {word}; {found['runs']} fresh runs show "
        f"{found['epsilon_lower']:.4g} or more (the audit showed {found['then']:.4g}), wrong with probability at most "
        f"{found['significance']:.2g}."
    )
