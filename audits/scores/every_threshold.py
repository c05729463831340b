"""Evidence from all thresholds at once: limits on both error rates that hold at every one of them together."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from audits.bounds.band import tail_limits
from audits.bounds.error_rates import threshold_counts
from audits.bounds.gaussian import ASSUMPTION, gaussian_epsilon
from audits.bounds.trade_offs import TradeOff
from audits.scores.cuts import Cuts, Scores
from dpaudit.model.audit_result import Counts, LowerBound
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The rule that every threshold counts, each at the local level of simultaneous limits.

    >>> Band()
    Band()
    """


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BandEvidence:
    """Limits at every threshold; the counts are those of the threshold with the largest bound on epsilon."""

    cuts: Cuts
    delta: float
    significance: float

    @property
    def rule(self) -> str:
        """What was counted, in words."""
        return "all thresholds at once, by simultaneous limits; the counts are those of the sharpest one"

    @property
    def counts(self) -> Counts:
        """The counts of the threshold with the largest bound."""
        best = int(np.argmax(_epsilons(*error_limits(self.cuts, self.significance), self.delta)))
        hits, alarms = int(self.cuts.true_positives[best]), int(self.cuts.false_positives[best])
        return threshold_counts(hits, alarms, self.cuts.ins, self.cuts.outs)

    def refutes(self, trade_off: TradeOff, significance: float) -> bool:
        """Return whether the limits of any threshold lie above a trade-off."""
        false, missed = error_limits(self.cuts, significance)
        return bool((1 - missed > trade_off(false)).any())

    def bound(self, delta: float, significance: float) -> LowerBound:
        """Return the largest bound of any threshold."""
        epsilon = max(0.0, float(_epsilons(*error_limits(self.cuts, significance), delta).max()))
        return LowerBound(name="band", epsilon=epsilon, significance=significance)

    def others(self, delta: float, significance: float) -> tuple[LowerBound, ...]:
        """Return the bound under a Gaussian trade-off."""
        false, missed = error_limits(self.cuts, significance)
        mu = float((-ndtri(false) - ndtri(missed)).max())
        epsilon = gaussian_epsilon(max(0.0, mu), delta)
        return (LowerBound(name="band_gaussian", epsilon=epsilon, significance=significance, assumption=ASSUMPTION),)

    def perfect(self) -> "BandEvidence":
        """Return the evidence of members that all score above all others."""
        separated = Scores(ins=np.ones(self.cuts.ins), outs=np.zeros(self.cuts.outs))
        return BandEvidence(cuts=Cuts.of(separated), delta=self.delta, significance=self.significance)


def error_limits(cuts: Cuts, significance: float) -> tuple[Array, Array]:
    """Return upper limits on the false positive and the false negative rate of every threshold.

    Shape: (cuts,), (cuts,). Guarantee: all of them together are wrong with probability at most `significance`.
    """
    false = tail_limits(cuts.false_positives, cuts.outs, significance / 2)
    missed = tail_limits(cuts.ins - cuts.true_positives, cuts.ins, significance / 2)
    return false, missed


def reached_limits(cuts: Cuts, significance: float) -> tuple[Array, Array]:
    """Return lower limits on the false positive rate and upper limits on the true positive rate of every threshold.

    Shape: (cuts,), (cuts,). Guarantee: all of them together are wrong with probability at most `significance`.
    """
    low = 1 - tail_limits(cuts.outs - cuts.false_positives, cuts.outs, significance / 2)
    high = tail_limits(cuts.true_positives, cuts.ins, significance / 2)
    return low, high


def area_lower(cuts: Cuts, significance: float) -> float:
    """Return a lower limit of the area under the ROC curve: the limits of all thresholds, integrated.

    Guarantee: wrong with probability at most `significance`.
    """
    false, missed = error_limits(cuts, significance)
    order = np.argsort(false, kind="stable")
    heights = np.maximum.accumulate(np.clip(1 - missed, 0, 1)[order])
    widths = np.diff(np.r_[false[order], 1.0])
    return float(max(0.0, (heights * widths).sum()))


def _epsilons(false: Array, missed: Array, delta: float) -> Array:
    """Return the bound on epsilon of every threshold; minus infinity where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(1 - delta > missed, np.log(np.maximum(1 - delta - missed, 0)) - np.log(false), -np.inf)
        high = np.where(1 - delta > false, np.log(np.maximum(1 - delta - false, 0)) - np.log(missed), -np.inf)
    return np.maximum(low, high)
