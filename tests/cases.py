"""Audit cases that tests write by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np

from audits.attacks.likelihood import LikelihoodRatio
from dpaudit import AuditCase, Mechanism


def case_of(name: str, run: Callable[..., Any], neighbours: tuple[Any, Any] = (0.0, 1.0), **more: Any) -> AuditCase:
    """Return a case of one function whose neighbours differ by a replaced record: 0 and 1 where none are given."""
    given = {"view": "output", "description": "", "relation": "replace_one"} | more
    return AuditCase(name=name, neighbours=neighbours, run=run, **given)


def released_case(mechanism: Mechanism, first: Any, second: Any) -> AuditCase:
    """Return a case that samples one mechanism on given answers of both neighbours, scored by its likelihood ratio."""
    answers = np.asarray(first), np.asarray(second)

    def run(answer: Any, rng: np.random.Generator, n_runs: int) -> dict[str, Any]:
        return {"released": mechanism.release(np.broadcast_to(answer, (n_runs, *answer.shape)), rng)}

    score = LikelihoodRatio(
        mechanisms=(("released", mechanism),), first={"released": answers[0]}, second={"released": answers[1]}
    )
    return case_of("released", run, answers, relation=mechanism.neighbours, score=score)
