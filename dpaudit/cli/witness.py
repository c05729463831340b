"""Witness files of violations: `dpaudit audit` writes them, `dpaudit verify` checks them on fresh runs.

A witness holds the refutation (event, seed, counts, claim), the text of the configuration and the number of the case.
The case can be rebuilt from it. It holds no data.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.cli.common.output import output_folder, write
from dpaudit.configuration.config import config_of
from dpaudit.configuration.configuration import Configuration
from dpaudit.errors import CertificateError
from dpaudit.model.audit_result import AuditResult
from dpaudit.runtime.plugins import load_package
from dpaudit.workflow import NumberedCase, cases_of


def write_witnesses(
    configuration: Configuration,
    cases: tuple[NumberedCase, ...],
    results: tuple[AuditResult, ...],
    seed: int,
    folder: Path,
) -> tuple[Path, ...]:
    """Return the files written to `folder`, one for each violation."""
    refute = load_package("audits").refute
    files = []
    for (number, case), result in zip(cases, results, strict=True):
        if result.verdict != "violation":
            continue
        refutation = refute(case, result, np.random.default_rng([seed, number]))
        text = json.dumps(
            {
                "witness": json.loads(refutation.to_json()),
                "configuration": {"name": configuration.path.name, "text": configuration.text, "place": number},
            },
            indent=2,
            sort_keys=True,
        )
        name = re.sub(r"[^a-z0-9]+", "-", case.name.lower()).strip("-")
        files.append(output_folder(folder) / f"{number}-{name}.witness.json")
        write(files[-1], f"{text}\n")
    return tuple(files)


def is_witness(text: str) -> bool:
    """Return whether a file is a witness and not a certificate."""
    try:
        data = json.loads(text)
    except ValueError:
        return False
    return isinstance(data, dict) and "witness" in data and "schema" not in data


def check_witness(file: Path, text: str, seed: int) -> dict[str, Any]:
    """Return the result of fresh runs, seeded by `seed`, for the witness in `file`, as plain data.

    `stands` says whether the fresh runs refute the same epsilon again. Paths in the configuration are relative to the
    folder of `file`.
    Raises: CertificateError: no witness, or the case or its attack is another one than it was.
    """
    audits = load_package("audits")
    try:
        data = json.loads(text)
        written = data["configuration"]
        path, content = file.parent / Path(str(written["name"])).name, str(written["text"])
        number = int(written["place"])
        refutation = audits.Refutation.from_json(json.dumps(data["witness"]))
    except (KeyError, TypeError, ValueError) as error:
        raise CertificateError(f"{file}: no witness that can be checked: {error}.") from None
    cases = dict(cases_of(config_of(path, content), None))
    if number not in cases:
        raise CertificateError(f"{file}: the algorithm has no case number {number}; code or versions differ.")
    taught = np.random.default_rng(list(refutation.seed))
    bound = audits.recheck(refutation, cases[number], np.random.default_rng([seed, 1]), taught=taught)
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


def witness_sentence(recheck: dict[str, Any]) -> str:
    """Return the result in one sentence."""
    word = "falls again" if recheck["stands"] else "does not fall again"
    return (
        f"{recheck['case']}: epsilon {recheck['against']:.4g} {word}; {recheck['runs']} fresh runs show "
        f"{recheck['epsilon_lower']:.4g} or more (the audit showed {recheck['then']:.4g}), wrong "
        f"with probability at most {recheck['significance']:.2g}."
    )
