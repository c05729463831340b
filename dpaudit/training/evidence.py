"""What an audit of a training loop and attacks on its model showed, in the form of the report of a training."""

from typing import Literal

from dpaudit.arguments import settled
from dpaudit.checks import NonNegative, NonNegativeOrInfinite, OpenProbability
from dpaudit.model.audit_result import AuditVerdict
from dpaudit.model.condition import Condition
from dpaudit.model.trace import Finding

TrainingVerdict = AuditVerdict | Literal["more_noise"]
"""The verdict of an audit, or *more_noise*: no violation, and the loop adds more noise than it declares. Then the
declared epsilon holds, and the declaration is not the loop's."""


@settled
class LoopCheck:
    """One check of a training loop.

    `noise_caught`: the largest factor of missing noise that the check would have found with probability 0.9; 0 if none.
    `epsilon_lower`: a lower bound on the epsilon of what the check looks at, which is one step with a given batch in
    the check of one step, and else the whole run; it assumes what `sentence` says.
    """

    name: str
    verdict: TrainingVerdict
    epsilon_lower: NonNegativeOrInfinite
    noise_caught: NonNegative
    sentence: str


@settled
class LoopAudit:
    """The audit of a training loop; `conditions` is what it says of those of the certificate.

    `watched` names what was compared in replays, `not_trained` what was to be trained and no step
    moved, or noise alone.
    """

    verdict: TrainingVerdict
    significance: OpenProbability
    watched: tuple[str, ...]
    not_observed: tuple[str, ...]
    not_trained: tuple[str, ...]
    findings: tuple[Finding, ...]
    checks: tuple[LoopCheck, ...]
    conditions: tuple[Condition, ...]


@settled
class ModelAttack:
    """One attack on the trained model."""

    name: str
    verdict: TrainingVerdict
    epsilon_lower: NonNegativeOrInfinite
    significance: OpenProbability
