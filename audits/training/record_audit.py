"""The loss of one record over many models, each of which was trained with it by a fair coin."""

import numpy as np

from audits.bounds.trade_offs import TradeOff
from audits.scores import Split
from audits.scores.scores_audit import audit_scores
from audits.training.each_model import TrainModels
from dpaudit import Claim
from dpaudit.checks import count
from dpaudit.model.claim import require_finite
from dpaudit.model.scores_result import ScoresResult


def audit_record(
    losses: TrainModels,
    records: int,
    record: int,
    claim: Claim,
    *,
    rng: np.random.Generator,
    models: int = 1000,
    declared: TradeOff | None = None,
    significance: float = 0.01,
) -> ScoresResult:
    """Return what the loss of one record shows over many models, each of which has it by a fair coin.

    All other records are in always, so that the two laws are those of neighbours. A record that no other resembles,
    such as one with a wrong label, is the sharpest. Three tenths of the models choose the threshold.
    Guarantee: as for `audit_scores` with sampling "runs" and `Split`; models are independent, given the records.
    Raises: ValueError: no such record, fewer than 40 models, or a claim under replace_one.

    >>> from audits.examples import SOFTMAX
    >>> claim = Claim(epsilon=1, neighbours="add_remove")
    >>> audit_record(SOFTMAX.losses, 100, 0, claim, rng=np.random.default_rng(0), models=200).verdict
    'violation'
    """
    count("models", models, at_least=40)
    if not 0 <= record < count("records", records):
        raise ValueError(f"Expected record={record} to be from 0 to records={records} less 1.")
    require_added(claim)
    coins, training, splitting = rng.spawn(3)
    included = np.ones((models, records), dtype=bool)
    included[:, record] = coins.random(models) < 0.5
    inside = included[:, record]
    scores = -np.asarray(losses(included, training), dtype=float)[:, record]
    return audit_scores(
        scores[inside],
        scores[~inside],
        claim,
        sampling="runs",
        rng=splitting,
        rule=Split(),
        declared=declared,
        significance=significance,
    )


def require_added(claim: Claim) -> None:
    """Refuse a claim that coins of records are not about.

    Raises: ValueError: another relation than add_remove.
    """
    require_finite(claim, "an audit")
    if claim.neighbours != "add_remove":
        raise ValueError(
            f"Expected neighbours={claim.neighbours!r} to be 'add_remove': a coin puts a record in or leaves it out."
        )
