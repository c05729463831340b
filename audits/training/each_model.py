"""Any training function as one that trains many models, and the loss of one record over many models.

What is measured on each of several models is averaged over models, with how far off the average may be.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.special import stdtrit

from audits.bounds.trade_offs import TradeOff
from audits.scores import Split
from audits.scores.cuts import Cuts, Scores
from audits.scores.scores_audit import audit_scores
from dpaudit import Claim
from dpaudit.checks import count
from dpaudit.model.claim import require_finite
from dpaudit.model.mechanism import Array
from dpaudit.model.scores_result import ScoresResult

TrainModels: TypeAlias = Callable[[Array, np.random.Generator], Array]
"""losses(included, rng): included (models, records) says which records each model is trained on; the result is the loss
of each record, and of each record that is never trained on, under each model, in nats: (models, records + others)."""


def each_model(
    train: Callable[[Any, np.random.Generator], Any],
    losses: Callable[[Any, Any], Any],
    data: tuple[Any, ...],
    others: tuple[Any, ...] | None = None,
) -> TrainModels:
    """Return what trains models one by one by `train(data, rng) -> model` and reads `losses(model, data)`.

    `data` holds arrays or tensors with one entry a record in front, such as features and labels; `train` gets the
    entries of the records that are in. `losses` returns minus the logarithm of the true class's probability for each
    record, in nats. `others` are records for comparison that are never trained on. `rng` is the only randomness that
    `train` may use if a result is to be repeated: seed a framework's generator from it.
    Raises: ValueError: no array, arrays of unequal lengths, or losses of another shape or that are NaN.

    >>> def train(data, rng):
    ...     return data[0].mean() + rng.normal(0, 0.1)
    >>> values = np.arange(4.0)
    >>> together = each_model(train, lambda model, data: (data[0] - model) ** 2 / 2, (values,))
    >>> together(np.ones((3, 4), dtype=bool), np.random.default_rng(0)).shape
    (3, 4)
    """
    records = _records(data)
    more = 0 if others is None else _records(others)

    def together(included: Array, rng: np.random.Generator) -> Array:
        if np.shape(included)[1:] != (records,):
            raise ValueError(f"Expected included (models, records={records}), got shape {np.shape(included)}.")
        table = np.empty((len(included), records + more))
        for place, coins in enumerate(included):
            inside = np.flatnonzero(coins)
            model = train(tuple(column[inside] for column in data), rng.spawn(1)[0])
            table[place, :records] = _read(losses(model, data), records)
            if others is not None:
                table[place, records:] = _read(losses(model, others), more)
        return table

    return together


def _records(data: tuple[Any, ...]) -> int:
    """Return the number of records."""
    lengths = {len(column) for column in data}
    if len(lengths) != 1:
        raise ValueError(f"Expected arrays with one entry a record each, got lengths {sorted(lengths)}.")
    return int(lengths.pop())


def _read(losses: Any, records: int) -> Array:
    """Return losses as an array, one for each record; a tensor gives up its gradient."""
    plain = losses.detach().cpu().numpy() if hasattr(losses, "detach") else losses
    values = np.asarray(plain, dtype=float)
    if values.shape != (records,) or np.isnan(values).any():
        raise ValueError(
            f"Expected losses(model, data) to return one number for each of {records} records, without NaN; got shape "
            f"{values.shape}{' with NaN' if np.isnan(values).any() else ''}. Do not average over the batch."
        )
    return values


RATES = (0.01, 0.1)
"""False positive rates at which a true positive rate is given."""

_INTERVAL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class OverModels:
    """The mean of a number over models, and Student's 95 % interval of the mean.

    The interval is approximate: it takes the mean as normal. It is absent for one model, and decides nothing.

    >>> OverModels.of([0.5, 0.7]).mean
    0.6
    """

    mean: float
    lower: float | None = None
    upper: float | None = None

    @classmethod
    def of(cls, values: list[float]) -> "OverModels":
        """Return the mean of `values`, one for each model, and the interval."""
        mean, models = float(np.mean(values)), len(values)
        if models < 2:
            return cls(mean=mean)
        reach = float(stdtrit(models - 1, 1 - _INTERVAL / 2) * np.std(values, ddof=1) / np.sqrt(models))
        return cls(mean=mean, lower=mean - reach, upper=mean + reach)


def true_positive_rate(ins: Array, outs: Array, false_positive_rate: float) -> float:
    """Return the largest true positive rate of a threshold with at most this false positive rate.

    >>> true_positive_rate(np.array([3.0, 1.0]), np.array([2.0, 0.0]), 0.5), true_positive_rate(
    ...     np.array([3.0, 1.0]), np.array([2.0, 0.0]), 0.1
    ... )
    (1.0, 0.5)
    """
    cuts = Cuts.of(Scores.of(ins, outs))
    allowed = cuts.false_positives <= false_positive_rate * cuts.outs
    return float(cuts.true_positives[allowed].max(initial=0) / cuts.ins)


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
