"""Audits of single messages, leaf by leaf: everything but one user's record is known to the adversary.

Server sums are not audited: the noise of all other users hides everything there. Each case fixes the public state and
two records that differ most for one leaf, and scores the messages by the likelihood ratio of the declared noise.
"""

import numpy as np

from algorithms.lplr.likelihood_ratio import MessageRatio
from algorithms.lplr.message import Record, confidence_answers, sent, update_answers
from algorithms.lplr.plan import Plan, plan_of
from algorithms.lplr.settings import LplrSettings
from algorithms.lplr.stages import Stage, stages_of
from dpaudit import AuditCase, Recorder
from dpaudit.model.mechanism import Array
from mechanisms import Gaussian


def cases_of(settings: LplrSettings) -> tuple[AuditCase, ...]:
    """Return the audits of every kind of message that the settings allow."""
    plan = plan_of(settings)
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


def answers_of(plan: Plan, stage: Stage, record: Record) -> dict[str, Array]:
    """Return the exact entries of the leaves that `stage` audits."""
    compute = confidence_answers if stage.labels == ("width",) else update_answers
    answers = compute(plan, stage.bins, record)
    return {label: answers[label] for label in stage.labels}
