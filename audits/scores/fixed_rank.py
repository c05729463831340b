"""Evidence from the threshold of a rank among the others' scores that was fixed beforehand."""

from dataclasses import dataclass, replace

import numpy as np

from audits.bounds.credible import credible_bound
from audits.bounds.error_rates import threshold_counts
from audits.bounds.rank import rank_bound, rank_gaussian_bound, rank_p_value
from audits.bounds.trade_offs import TradeOff
from audits.scores.cuts import Scores
from dpaudit.checks import count
from dpaudit.model.audit_result import Counts, LowerBound


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """The rule that the `rank`-th largest score of the others is the threshold; no score is spent on choosing.

    Guarantee: valid if `rank` was fixed before the scores were seen.
    Raises: ValueError: no whole number of at least 1.

    >>> Rank(rank=10).rank
    10
    """

    rank: int

    def __post_init__(self) -> None:
        count("rank", self.rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankEvidence:
    """How many members lie strictly above the `rank`-th largest score of the others."""

    rank: int
    counts: Counts

    @property
    def rule(self) -> str:
        """What was counted, in words."""
        return f"members above the others' score of rank {self.rank}, fixed beforehand"

    def refutes(self, trade_off: TradeOff, significance: float) -> bool:
        """Return whether so many members above the threshold refute a trade-off."""
        held = self.counts
        return rank_p_value(self.rank, held.negatives, held.true_positives, held.positives, trade_off) <= significance

    def bound(self, delta: float, significance: float) -> LowerBound:
        """Return the bound of the exact test."""
        held = self.counts
        return rank_bound(self.rank, held.negatives, held.true_positives, held.positives, delta, significance)

    def others(self, delta: float, significance: float) -> tuple[LowerBound, ...]:
        """Return the bound under a Gaussian trade-off, and the credible one."""
        held = self.counts
        return (
            rank_gaussian_bound(self.rank, held.negatives, held.true_positives, held.positives, delta, significance),
            credible_bound(held, delta, significance),
        )

    def perfect(self) -> "RankEvidence":
        """Return the evidence of members that all lie above the threshold."""
        held = self.counts
        return replace(
            self, counts=threshold_counts(held.positives, held.false_positives, held.positives, held.negatives)
        )


def rank_evidence(scores: Scores, rule: Rank) -> RankEvidence:
    """Return the evidence at the score of the rank.

    Raises: ValueError: fewer others than the rank.
    """
    if rule.rank > len(scores.outs):
        raise ValueError(
            f"Expected rank={rule.rank} to be at most the number of the others' scores, {len(scores.outs)}."
        )
    threshold = float(np.sort(scores.outs)[len(scores.outs) - rule.rank])
    above = int((scores.ins > threshold).sum())
    strictly = int((scores.outs > threshold).sum())
    return RankEvidence(rank=rule.rank, counts=threshold_counts(above, strictly, len(scores.ins), len(scores.outs)))
