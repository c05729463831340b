"""Membership attacks on one trained model, from the losses of its records: which of them was it trained on?

LiRA and RMIA learn from shadow models. Models are trained by `losses(included, rng)`: `each_model` makes it from any
training function, and `SoftmaxTraining.losses` is one. `audit_record` attacks one record over many models;
`audit_training` plants gradient canaries, which look at the training itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import get_args

import numpy as np

from audits.attacks.membership_scores import loss_scores, offline_scores, online_scores, relative_scores
from audits.bounds.trade_offs import TradeOff
from audits.scores import Guesses
from audits.scores.scores_audit import audit_scores
from audits.training.each_model import TrainModels
from audits.training.record_audit import require_added
from dpaudit import Claim
from dpaudit.arguments import settled
from dpaudit.checks import TwoOrMore, one_of, open_probability
from dpaudit.model.mechanism import Array
from dpaudit.model.scores_result import ScoresResult, ScoresVerdict

ATTACKS = ("online", "offline", "relative", "loss")
"""LiRA with shadows that have a record and that do not; LiRA with the latter alone; RMIA; the loss alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAttack:
    """One attack, and what its scores of the audited model show."""

    name: str
    scores: ScoresResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAudit:
    """What membership attacks on one trained model show against its claim.

    Guarantee: if each record was in by an independent fair coin and the training keeps claim and declaration, the
    verdict is a violation with probability at most `significance`, over all attacks together.

    >>> from audits.examples import SOFTMAX
    >>> claim = Claim(epsilon=1, neighbours="add_remove")
    >>> models = Models(losses=SOFTMAX.losses, records=100, shadows=8)
    >>> audit = audit_model(models, claim, rng=np.random.default_rng(0), attacks=("loss",))
    >>> audit.attacks[0].scores.auroc.value > 0.9
    True
    """

    verdict: ScoresVerdict
    epsilon_lower: float
    attacks: tuple[ModelAttack, ...]
    claim: Claim
    significance: float
    shadows: int

    def text(self) -> str:
        """Return the audit in lines of plain text."""
        first = f"{self.verdict}: epsilon {self.epsilon_lower:.4g} at least, at delta {self.claim.delta:g}; "
        lines = [f"{first}{self.claim.epsilon:g} is claimed, significance {self.significance:g}"]
        for attack in self.attacks:
            area, shown = attack.scores.auroc.value, attack.scores.epsilon_lower
            rates = ", ".join(f"{rate.measured:.3f} at {rate.false_positive_rate:g}" for rate in attack.scores.rates)
            lines.append(f"  {attack.name}: AUROC {area:.3f}, true positive rate {rates}, epsilon {shown:.4g} at least")
        return "\n".join(lines)


@settled
class Models:
    """The models that an audit trains by `losses`, each on a random half of `records` records.

    The first is audited, and attacks learn from `shadows` further ones.
    """

    losses: TrainModels
    records: TwoOrMore
    shadows: TwoOrMore = 64


def audit_model(
    models: Models,
    claim: Claim,
    *,
    rng: np.random.Generator,
    declared: TradeOff | None = None,
    attacks: tuple[str, ...] = ATTACKS,
    rule: Guesses | None = None,
    significance: float = 0.01,
) -> ModelAudit:
    """Return what membership attacks show of one model.

    A fair coin decides for each record and model whether the model is trained on the record. The surest guesses of the
    coins of the first model are counted, and each attack has an equal share of `significance`. How many are counted
    follows from `rule`, where it is given, else from declaration and claim. `declared` is a trade-off that the training
    was declared to have, tested beside the claim.
    Guarantee: as for `audit_scores` with sampling "canaries". The claim is about a record added or removed.
    Edge cases: a claim with records * delta above the share of an attack is hardly ever refuted, since it allows that
    all records are given away so often; its declared trade-off still may be.
    Raises: ValueError: an unknown attack, a claim under replace_one, "relative" without records for comparison, or a
        table of losses of another shape.
    Source: Carlini et al. (2022); Zarifzadeh, Liu and Shokri (2024); Yeom et al. (2018); for the count of guesses
        Mahloujifar, Melis and Chaudhuri (2025).

    >>> from audits.examples import SOFTMAX
    >>> claim = Claim(epsilon=1, neighbours="add_remove")
    >>> models = Models(losses=SOFTMAX.losses, records=100, shadows=8)
    >>> audit_model(models, claim, rng=np.random.default_rng(0)).verdict
    'violation'
    """
    share = open_probability("significance", significance) / max(1, len(attacks))
    _require_attacks(attacks)
    require_added(claim)
    coins, training, splitting = rng.spawn(3)
    included = coins.random((1 + models.shadows, models.records)) < 0.5
    confidence = np.exp(-_table(models.losses(included, training), included, apart="relative" in attacks))
    judged = partial(
        audit_scores, claim=claim, sampling="canaries", rng=splitting, rule=rule, declared=declared, significance=share
    )
    told = {name: scorer(name, confidence[1:], included[1:])(confidence[0]) for name in attacks}
    results = tuple(
        ModelAttack(name=name, scores=judged(scores[included[0]], scores[~included[0]]))
        for name, scores in told.items()
    )
    return ModelAudit(
        verdict=next(v for v in get_args(ScoresVerdict) if v in {r.scores.verdict for r in results}),
        epsilon_lower=max(result.scores.epsilon_lower for result in results),
        attacks=results,
        claim=claim,
        significance=significance,
        shadows=models.shadows,
    )


def _table(losses: Array, included: Array, *, apart: bool) -> Array:
    """Return the losses (models, records) of all models, with further records beside those of the coins if `apart`.

    Raises: ValueError: a table of another shape.
    """
    (models, records), table = included.shape, np.asarray(losses, dtype=float)
    if table.ndim != 2 or len(table) != models or table.shape[1] < records:
        raise ValueError(f"Expected losses of {models} models and at least {records} records: {table.shape}.")
    if apart and table.shape[1] == records:
        raise ValueError("Expected losses of records that are never trained on: 'relative' compares with them.")
    return table


def scorer(name: str, shadows: Array, included: Array) -> Callable[[Array], Array]:
    """Return the function from the confidences of a model, all records, to the scores of those that may be in."""
    records = included.shape[1]
    inside, others = shadows[:, :records], shadows[:, records:]
    match name:
        case "online":
            return lambda model: online_scores(model[:records], inside, included)
        case "offline":
            return lambda model: offline_scores(model[:records], inside, included)
        case "relative":
            return lambda model: relative_scores(model[:records], inside, included, model[records:], others)
        case _:
            return lambda model: loss_scores(model[:records])


def _require_attacks(attacks: tuple[str, ...]) -> None:
    """Refuse no attack, and one that does not exist."""
    if not attacks:
        raise ValueError(f"Expected attacks to name one or more of {', '.join(ATTACKS)}.")
    for name in attacks:
        one_of("attacks", name, ATTACKS)
