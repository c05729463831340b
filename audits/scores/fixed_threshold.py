"""Evidence from one threshold: chosen by a random part of the scores, or of a rank that was fixed beforehand."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from audits.bounds.binomial import proportion_upper
from audits.bounds.credible import credible_bound
from audits.bounds.error_rates import error_rate_bound, threshold_counts
from audits.bounds.joint import joint_bound, joint_gaussian_bound, joint_p_value
from audits.bounds.rank import rank_bound, rank_gaussian_bound, rank_p_value
from audits.bounds.trade_offs import PrivateTradeOff, TradeOff
from audits.scores.cuts import Cuts, Scores
from dpaudit.arguments import settled
from dpaudit.checks import Count, OpenProbability
from dpaudit.model.audit_result import Counts, LowerBound
from dpaudit.model.mechanism import Array


@settled
class Split:
    """The rule that a random `share` of the scores chooses the threshold, and the others are counted.

    Raises: ValueError: `share` outside (0, 1).

    >>> Split().share
    0.3
    """

    share: OpenProbability = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdEvidence:
    """The counts at a threshold that other scores chose."""

    rule: str
    counts: Counts

    def refutes(self, trade_off: TradeOff, significance: float) -> bool:
        """Return whether the two error rates together refute a trade-off."""
        return joint_p_value(self.counts, trade_off, significance) <= significance

    def bound(self, delta: float, significance: float) -> LowerBound:
        """Return the bound of the exact joint test."""
        return joint_bound(self.counts, delta, significance)

    def others(self, delta: float, significance: float) -> tuple[LowerBound, ...]:
        """Return the bounds by two limits, under a Gaussian trade-off, and the credible one."""
        kinds = (error_rate_bound, joint_gaussian_bound, credible_bound)
        return tuple(kind(self.counts, delta, significance) for kind in kinds)

    def perfect(self) -> "ThresholdEvidence":
        """Return the evidence of a threshold without errors."""
        return replace(
            self,
            counts=threshold_counts(self.counts.positives, 0, self.counts.positives, self.counts.negatives),
        )


def split_evidence(scores: Scores, split: Split, hypothesis: TradeOff, rng: np.random.Generator) -> ThresholdEvidence:
    """Return the evidence at the threshold that exceeds the hypothesis by most on the part that chooses.

    Guarantee: given the order of the scores, which `rng` shuffles, the threshold does not depend on what is counted.
    Raises: ValueError: fewer than two scores on one side.
    """
    if min(len(scores.ins), len(scores.outs)) < 2:
        raise ValueError("Expected two scores or more on either side: one part chooses a threshold, one is counted.")
    teaching_ins, counted_ins = _parted(scores.ins, split.share, rng)
    teaching_outs, counted_outs = _parted(scores.outs, split.share, rng)
    cuts = Cuts.of(Scores(ins=teaching_ins, outs=teaching_outs))
    threshold = _threshold(cuts, hypothesis, len(counted_ins), len(counted_outs))
    counts = threshold_counts(
        int((counted_ins >= threshold).sum()),
        int((counted_outs >= threshold).sum()),
        len(counted_ins),
        len(counted_outs),
    )
    rule = f"the threshold {threshold:.6g}, which {len(teaching_ins) + len(teaching_outs)} other scores chose"
    return ThresholdEvidence(rule=rule, counts=counts)


def _parted(sample: Array, share: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return a random share of a sample and the rest, neither of them empty."""
    shuffled = rng.permutation(sample)
    size = min(len(sample) - 1, max(1, round(share * len(sample))))
    return shuffled[:size], shuffled[size:]


def _threshold(cuts: Cuts, hypothesis: TradeOff, ins: int, outs: int) -> float:
    """Return the threshold whose rates would exceed the hypothesis by most on `ins` and `outs` scores.

    Against (epsilon, delta) the measure is the bound on epsilon, whatever the claim; against a shape it is mu.
    """
    false = proportion_upper(cuts.false_positives * (outs / cuts.outs), float(outs), 0.05)
    missed = proportion_upper((cuts.ins - cuts.true_positives) * (ins / cuts.ins), float(ins), 0.05)
    if isinstance(hypothesis, PrivateTradeOff) and len(hypothesis.points) == 1:
        ((_, delta),) = hypothesis.points
        low = np.log(np.maximum(1 - delta - missed, 1e-300)) - np.log(false)
        high = np.log(np.maximum(1 - delta - false, 1e-300)) - np.log(missed)
        excess = np.maximum(low, high)
    else:
        excess = -ndtri(false) - ndtri(missed)
    return float(cuts.thresholds[int(np.argmax(excess))])


@settled
class Rank:
    """The rule that the `rank`-th largest score of the others is the threshold; no score is spent on choosing.

    Guarantee: valid if `rank` was fixed before the scores were seen.
    Raises: ValueError: no whole number of at least 1.

    >>> Rank(rank=10).rank
    10
    """

    rank: Count


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
        counts = self.counts
        return (
            rank_p_value(self.rank, counts.negatives, counts.true_positives, counts.positives, trade_off)
            <= significance
        )

    def bound(self, delta: float, significance: float) -> LowerBound:
        """Return the bound of the exact test."""
        counts = self.counts
        return rank_bound(self.rank, counts.negatives, counts.true_positives, counts.positives, delta, significance)

    def others(self, delta: float, significance: float) -> tuple[LowerBound, ...]:
        """Return the bound under a Gaussian trade-off, and the credible one."""
        counts = self.counts
        return (
            rank_gaussian_bound(
                self.rank, counts.negatives, counts.true_positives, counts.positives, delta, significance
            ),
            credible_bound(counts, delta, significance),
        )

    def perfect(self) -> "RankEvidence":
        """Return the evidence of members that all lie above the threshold."""
        counts = self.counts
        return replace(
            self, counts=threshold_counts(counts.positives, counts.false_positives, counts.positives, counts.negatives)
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
