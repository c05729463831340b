"""Audits of single messages, leaf by leaf: everything but one user's record is known to the adversary.

Server sums are audited where messages are shuffled, and only there: other users' noise hides nearly everything. Each
other case fixes the public state and two records that differ most for one leaf, and scores the messages by the
likelihood ratio of the declared noise.
"""

from typing import Any

import numpy as np

from algorithms.lplr.leaves import fewest_shuffled
from algorithms.lplr.likelihood_ratio import MessageRatio
from algorithms.lplr.message import Record, confidence_answers, sent, update_answers
from algorithms.lplr.plan import Plan, plan_of
from algorithms.lplr.settings import LplrSettings
from algorithms.lplr.stages import Stage, cells_stage, stages_of
from algorithms.lplr.sums import released_sum
from dpaudit import AuditCase, Recorder
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian


def cases_of(settings: LplrSettings, problem: Any = None) -> tuple[AuditCase, ...]:
    """Return the audits of every kind of message that the settings allow; `problem` does not matter to them."""
    plan = plan_of(settings)
    if settings.model == "shuffle":
        return (sums_case(plan, fewest_shuffled(settings)),)
    return tuple(case_of(plan, stage) for stage in stages_of(plan))


def case_of(plan: Plan, stage: Stage) -> AuditCase:
    """Return the audit of one stage under `plan`."""
    first, second = (answers_of(plan, stage, record) for record in stage.records)

    def run(record: Record, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        return sent(plan, Recorder(rng), answers_of(plan, stage, record), n_runs)

    leaves = tuple((label, plan.leaves.of(label)) for label in stage.labels)
    return AuditCase(
        name=f"lplr {stage.name}",
        view="message",
        description=stage.description,
        neighbours=stage.records,
        relation="replace_one",
        run=run,
        score=MessageRatio(leaves=leaves, first=first, second=second),
        gaussian=all(isinstance(mechanism, Gaussian) for _, mechanism in leaves),
    )


def sums_case(plan: Plan, users: int) -> AuditCase:
    """Return the audit of the server's counts in a shuffled phase: one user's record lies in one of two cells.

    All other users' cells are empty. The score is the difference of both counts, which is no likelihood ratio.
    """
    stage = cells_stage(plan, "shuffled counts", ("count",))
    first, second = (answers_of(plan, stage, record)["count"] for record in stage.records)

    def run(record: Record, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
        exact = answers_of(plan, stage, record)["count"]
        shape = (n_runs, *exact.shape)
        mechanism = plan.leaves.of("count")
        return {"sums": released_sum(Recorder(rng), "count", mechanism, np.broadcast_to(exact, shape), users)}

    return AuditCase(
        name="lplr shuffled counts",
        view="sums",
        description="The server's counts of a shuffled phase; one user's record lies in one of two cells.",
        neighbours=stage.records,
        relation="replace_one",
        run=run,
        score=lambda view: (view["sums"] * (second - first)).reshape(len(view["sums"]), -1).sum(axis=1),
    )


def answers_of(plan: Plan, stage: Stage, record: Record) -> dict[str, Array]:
    """Return the exact entries of the leaves that `stage` audits."""
    compute = confidence_answers if stage.labels == ("width",) else update_answers
    answers = compute(plan, stage.bins, record)
    return {label: answers[label] for label in stage.labels}
