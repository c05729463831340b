"""Witness files of violations: `dpaudit audit` writes them, `dpaudit verify` checks them on fresh runs.

A witness holds the refutation (event, seed, counts, claim), the text of the configuration, the number of the case, and
the content address of the case. The case can be rebuilt from it. It holds no data.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.cli.common.output import output_folder, write
from dpaudit.configuration.config import config_of
from dpaudit.configuration.configuration import Configuration
from dpaudit.configuration.files import json_value, object_in
from dpaudit.errors import CertificateError
from dpaudit.model.audit_result import AuditResult
from dpaudit.model.case import AuditCase
from dpaudit.model.claim import Claim
from dpaudit.runtime.plugins import load_package
from dpaudit.workflow import NumberedCase, audits_in, cases_of, certificate_of, confirming_rng

_MOST_TEXT = 2**20
_MOST_RUNS, _TIMES = 1_000_000, 10
_CLOSE = 1e-9
_SIGNIFICANCE = 0.01
"""The probability that fresh runs refute a true claim; no file of somebody else's may raise it."""
_COUNTED = ("guessing", "gaussian")
"""The bounds that a witness can show again."""


def write_witnesses(
    configuration: Configuration,
    cases: tuple[NumberedCase, ...],
    results: tuple[AuditResult, ...],
    seed: int,
    folder: Path,
) -> tuple[Path, ...]:
    """Return the files written to `folder`, one for each violation that counted guesses show."""
    refute = load_package("audits").refute
    address_of = load_package("audits.experiment.identity").address_of
    files = []
    for (number, case), result in zip(cases, results, strict=True):
        if result.verdict != "violation" or result.bound not in _COUNTED:
            continue
        refutation = refute(case, result, confirming_rng(seed, number))
        text = json.dumps(
            {
                "witness": json.loads(refutation.to_json()),
                "configuration": {"name": configuration.path.name, "text": configuration.text, "place": number},
                "address": address_of(case, result.claim),
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
    data = object_in(text) or {}
    return "witness" in data and "schema" not in data


def check_witness(file: Path, text: str, seed: int) -> dict[str, Any]:
    """Return the result of fresh runs, seeded by `seed`, for the witness in `file`, as plain data.

    The configuration is certified afresh: claim, delta and target are its own, never the witness's. The significance is
    this command's, .01, whatever the configuration in the file says.
    `stands` says whether the fresh runs refute that target. Paths in the configuration are relative to the folder of
    `file`.
    Raises: CertificateError: no witness, one whose claim, target or significance is not the configuration's, one of
        other code or data, or one that is too large.
    """
    configuration, number, refutation, address = _read(file, text)
    certificate = certificate_of(configuration, None)
    cases = dict(cases_of(configuration, None))
    if number not in cases:
        raise CertificateError(f"{file}: the algorithm has no case number {number}; code or versions differ.")
    case, claim = cases[number], certificate.claim
    certified = certificate.tight.epsilon.upper
    _require_own(file, refutation, configuration, case, claim, certified)
    if address != load_package("audits.experiment.identity").address_of(case, claim):
        raise CertificateError(
            f"{file}: the witness is about other code, data or versions than are here; audit the configuration again."
        )
    taught = np.random.default_rng(list(refutation.seed))
    bound = load_package("audits.procedures.witness").recheck(
        refutation, case, np.random.default_rng([seed, 1]), taught=taught, significance=_SIGNIFICANCE
    )
    target = min(claim.epsilon, certified)
    return {
        "case": refutation.case,
        "stands": bound.epsilon > target,
        "epsilon_lower": bound.epsilon,
        "then": refutation.epsilon_lower,
        "against": target,
        "bound": bound.name,
        "assumption": bound.assumption,
        "significance": bound.significance,
        "runs": refutation.counts.runs,
        "seed": seed,
    }


def _read(file: Path, text: str) -> tuple[Configuration, int, Any, str]:
    """Return configuration, number of the case, refutation and content address. Raises: CertificateError."""
    if len(text) > _MOST_TEXT:
        raise CertificateError(f"{file}: no witness that can be checked: it has more than {_MOST_TEXT} characters.")
    try:
        data = json_value(text)
        if set(data) != {"witness", "configuration", "address"}:
            raise ValueError("expected the keys witness, configuration and address")
        written = data["configuration"]
        path, content, number = file.parent / Path(str(written["name"])).name, written["text"], written["place"]
        if not isinstance(content, str) or type(number) is not int:
            raise ValueError("expected the configuration as text, and a whole number as the place of the case")
        refutation = load_package("audits.procedures.witness").Refutation.from_json(json.dumps(data["witness"]))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise CertificateError(f"{file}: no witness that can be checked: {error}.") from None
    return config_of(path, content), number, refutation, str(data["address"])


def _require_own(
    file: Path, refutation: Any, configuration: Configuration, case: AuditCase, claim: Claim, certified: float
) -> None:
    """Refuse a refutation whose claim, target, significance or bound is not its configuration's, or too large a one."""
    audit, target = configuration.audit, min(claim.epsilon, certified)
    gaussian = case.gaussian and certified <= claim.epsilon
    level = audit.significance / max(1, audits_in(configuration))
    share = level / 2 if gaussian else level
    most = max(_MOST_RUNS, _TIMES * audit.runs)
    wrong = (
        (refutation.claim != claim, "its claim is not the configuration's"),
        (not math.isclose(refutation.against, target, rel_tol=_CLOSE), f"its target is not {target:.6g}"),
        (refutation.significance > share * (1 + _CLOSE), f"its significance is above the configuration's {share:g}"),
        (refutation.bound == "gaussian" and not gaussian, "the case declares no Gaussian loss that is certified"),
        (refutation.runs > most, f"it has more than {most} runs"),
        (refutation.counts.runs > refutation.runs, "it counts more runs than it has"),
    )
    said = [reason for differs, reason in wrong if differs]
    if said:
        raise CertificateError(
            f"{file}: the witness refutes nothing of its configuration: {said[0]}. Audit the configuration again."
        )


def witness_sentence(recheck: dict[str, Any]) -> str:
    """Return the result in one sentence."""
    word = "falls again" if recheck["stands"] else "does not fall again"
    return (
        f"{recheck['case']}: epsilon {recheck['against']:.4g} {word}; {recheck['runs']} fresh runs show "
        f"{recheck['epsilon_lower']:.4g} or more (the audit showed {recheck['then']:.4g}), wrong "
        f"with probability at most {recheck['significance']:.2g}."
    )
