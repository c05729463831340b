"""Whoever alters one entry of a plan or a report, and computes all digests again, gains no better verdict."""

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from audits import audit as audited
from audits.examples import CLAIM
from dpaudit import AuditCase, Release, certify
from dpaudit.configuration.audit_plan import AuditPlan, received_plan
from dpaudit.errors import DPAuditError
from dpaudit.model.certificate import digest_of
from dpaudit.report import Report
from dpaudit.report.facts import gather
from dpaudit.report.received import verdict
from dpaudit.report.signed import signed
from dpaudit.report.training.report import verify_training_report
from dpaudit.verifier import verify
from mechanisms import Laplace
from tests.report.test_training_report import LEAK, Attack, Loop
from tests.report.test_training_report import report as training_report

STRENGTH = ("VIOLATION", "REFUTED", "NOT PROVED", "INCONCLUSIVE", "STATED", "CERTIFIED WITH CAVEATS", "CERTIFIED")
BETTER = STRENGTH[-2:]
TEXTS = (*STRENGTH, "consistent", "not_refuted", "inconclusive", "checked", "assumed", "certified", "", "replays")
OWN = ("verdict", "word", "caveats", "marks", "audits", "scores", "plan")


def entries(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every entry of plain data, but of digests and schemas."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        if key not in ("digest", "schema", "seed", "salt"):
            yield (*path, key)
            yield from entries(value, (*path, key))


def altered(data: Any, rng: np.random.Generator) -> Any:
    """Return data of which one entry is missing, emptied, taken twice, or another value of its type."""
    data = deepcopy(data)
    paths = list(entries(data))
    *way, key = paths[int(rng.integers(len(paths)))]
    held = data
    for step in way:
        held = held[step]
    value, kind = held[key], int(rng.integers(4))
    if kind == 0:
        del held[key]
    elif isinstance(value, list | dict):
        held[key] = type(value)() if kind == 1 or not isinstance(value, list) else [*value, *value[:1]][kind - 2 :]
    elif isinstance(value, bool) or value is None:
        held[key] = not value
    elif isinstance(value, int | float):
        held[key] = (0, value * 10, value / 10, -value, "inf", 1)[int(rng.integers(6))]
    else:
        held[key] = TEXTS[int(rng.integers(len(TEXTS)))]
    return data


@cache
def planned_report(*, lowered: bool) -> str:
    """Return the JSON of a report of one audit by its plan; `lowered` makes the audit inconclusive."""
    noise = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours=CLAIM.neighbours)
    case = AuditCase(
        name="sum", view="output", description="0 or 1", neighbours=(0.0, 1.0), relation=CLAIM.neighbours, run=_kept
    )
    plan = AuditPlan.of(((0, case),), CLAIM, runs=400, significance=0.01, seed=3, salt="00")
    result = replace(audited(case, claim=CLAIM, runs=400, rng=np.random.default_rng([3, 0])), seed=3)
    result = replace(result, verdict="inconclusive") if lowered else result
    report = Report(
        title="A sum",
        certificate=certify(Release(label="sum", mechanism=noise), CLAIM),
        audits=plan.followed((result,), plan),
        plan=plan,
        created="2026-01-02",
    )
    return json.dumps(signed(gather(report)))


def _kept(data: float, rng: np.random.Generator, n_runs: int) -> Any:
    """Keeps the claim."""
    return data + rng.laplace(size=n_runs)


def report_gains(number: int, seed: int, *, lowered: bool) -> int:
    """Return how often an altered report, with fresh digests, is accepted at a better word than it had."""
    base, rng, gains = json.loads(planned_report(lowered=lowered)), np.random.default_rng(seed), 0
    for _ in range(number):
        part = {key: base[key] for key in OWN} if rng.random() < 0.8 else {"certificate": base["certificate"]}
        data = base | altered(part, rng)
        better = [word for word in BETTER if STRENGTH.index(word) > STRENGTH.index(base["verdict"])]
        for word in better:
            called = data | {"verdict": word, "word": word}
            gains += _accepted(called) + _accepted(called | {"caveats": []})
    return gains


def _accepted(data: Any) -> bool:
    """Return whether a report passes all checks of its content, once its digests are computed again."""
    data = deepcopy(data)
    for key in ("certificate", "plan"):
        if isinstance(data.get(key), dict):
            data[key]["digest"] = digest_of(data[key])
    audits = data["audits"] if isinstance(data.get("audits"), list) else []
    for audit in audits:
        if isinstance(audit, dict) and isinstance(audit.get("plan"), dict) and data.get("plan"):
            audit["plan"]["digest"] = data["plan"]["digest"]
    complaints = [*verdict.contradictions(data), *received_plan(data.get("plan"), audits).complaints]
    return not complaints and _confirmed(json.dumps(data.get("certificate")))


@cache
def _confirmed(certificate: str) -> bool:
    """Return whether a certificate is derived again without a complaint."""
    try:
        return not verify(certificate).complaints
    except DPAuditError:
        return False


def training_gains(number: int, seed: int) -> int:
    """Return the same for training reports, or how often one is confirmed that was not."""
    loops = (
        (Loop(verdict="inconclusive", unseen=("noise",)), (("loss", Attack(verdict="not_refuted")),)),
        (Loop(verdict="violation", findings=(LEAK,)), (("loss", Attack(verdict="violation", epsilon_lower=2.0)),)),
        (Loop(), (("loss", Attack(verdict="inconclusive")),)),
    )
    rng, gains = np.random.default_rng(seed), 0
    for loop, attacks in loops:
        base = training_report(loop, attacks).to_dict()
        for _ in range(number // len(loops)):
            data = altered(base, rng)
            for word in BETTER:
                changed = data | {"verdict": word}
                if isinstance(changed.get("certificate"), dict):
                    changed["certificate"]["digest"] = digest_of(changed["certificate"])
                found = verify_training_report(json.dumps(changed | {"digest": digest_of(changed)}))
                better = STRENGTH.index(word) > STRENGTH.index(base["verdict"])
                gains += not found.complaints and better
    return gains


@pytest.mark.parametrize("seed", [pytest.param(0, id="a few"), pytest.param(1, id="more")])
@pytest.mark.parametrize("lowered", [False, True], ids=["passed", "inconclusive"])
def test_no_altered_report_gains_a_verdict(lowered: bool, seed: int) -> None:
    assert report_gains(10 if seed == 0 else 100, seed, lowered=lowered) == 0


@pytest.mark.parametrize("seed", [pytest.param(0, id="a few"), pytest.param(1, id="more")])
def test_no_altered_training_report_gains_a_verdict(seed: int) -> None:
    assert training_gains(6 if seed == 0 else 99, seed) == 0


def test_a_report_whose_verdict_is_read_as_it_stands_gains_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin that compares a report's word with a list of words alone."""
    monkeypatch.setattr(verdict, "contradictions", lambda data: iter(()))
    assert report_gains(5, 0, lowered=False) > 0
