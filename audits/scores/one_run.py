"""Evidence from one run: coins decided which canaries were in, and the surest guesses are counted."""

from dataclasses import dataclass, field, replace

import numpy as np

from audits.bounds.one_run import one_run_bound, one_run_guesses
from audits.bounds.one_run_order import one_run_order_bound
from audits.bounds.one_run_trade_off import one_run_gaussian_bound, one_run_refutes, one_run_trade_off_bound
from audits.bounds.trade_offs import TradeOff, equal_error_mu
from audits.scores.cuts import Scores
from dpaudit.checks import count
from dpaudit.model.audit_result import Counts, LowerBound
from dpaudit.model.mechanism import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """The rule that the `number` surest guesses are counted; where it is None the claim decides how many.

    Guarantee: valid if the number was fixed before the run.

    >>> Guesses(number=100).number
    100
    """

    number: int | None = None

    def __post_init__(self) -> None:
        if self.number is not None:
            count("guesses", self.number)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneRunEvidence:
    """Right guesses of one run. `magnitudes` and `right` describe every possible guess, for bets in their order."""

    counts: Counts
    magnitudes: Array = field(repr=False)
    right: Array = field(repr=False)

    @property
    def rule(self) -> str:
        """What was counted, in words."""
        return f"the {self.counts.guesses} surest guesses, a number fixed beforehand"

    def refutes(self, trade_off: TradeOff, significance: float) -> bool:
        """Return whether so many right guesses refute a trade-off."""
        return one_run_refutes(self.counts.runs, self.counts.guesses, self.counts.correct, trade_off, significance)

    def bound(self, delta: float, significance: float) -> LowerBound:
        """Return the bound of the recursion over right guesses."""
        return one_run_trade_off_bound(self.counts.runs, self.counts.guesses, self.counts.correct, delta, significance)

    def others(self, delta: float, significance: float) -> tuple[LowerBound, ...]:
        """Return the binomial bound, the one under a Gaussian trade-off, and for delta 0 the one that may stop."""
        numbers = self.counts.runs, self.counts.guesses, self.counts.correct
        ordered = (one_run_order_bound(self.magnitudes, self.right, significance),) if delta == 0 else ()
        return (
            one_run_bound(*numbers, delta, significance),
            one_run_gaussian_bound(*numbers, delta, significance),
            *ordered,
        )

    def perfect(self) -> "OneRunEvidence":
        """Return the evidence of guesses that are all right."""
        return replace(self, counts=replace(self.counts, correct=self.counts.guesses))


def canary_evidence(scores: Scores, rule: Guesses, hypothesis: TradeOff) -> OneRunEvidence:
    """Return the evidence of canaries that were in or out by independent fair coins.

    The highest scores are guessed in, the lowest out, as many of one as of the other. Among equal scores the wrong
    guesses are counted first.
    """
    pooled = np.concatenate([scores.ins, scores.outs])
    included = np.arange(len(pooled)) < len(scores.ins)
    half = max(1, _number(rule, len(pooled), hypothesis) // 2)
    if 2 * half > len(pooled):
        raise ValueError(f"Expected guesses={rule.number} to be at most the number of canaries, {len(pooled)}.")
    highest = included[np.lexsort((included, -pooled))]  # among equal scores those that are out come first
    lowest = ~included[np.lexsort((~included, pooled))]
    hits = int(highest[:half].sum())
    counts = Counts(
        runs=len(pooled),
        guesses=2 * half,
        correct=hits + int(lowest[:half].sum()),
        true_positives=hits,
        false_positives=half - hits,
        positives=len(scores.ins),
        negatives=len(scores.outs),
    )
    ranks = _signed_ranks(pooled)
    return OneRunEvidence(counts=counts, magnitudes=np.abs(ranks), right=(ranks > 0) == included)


def pair_evidence(scores: Scores, rule: Guesses, hypothesis: TradeOff) -> OneRunEvidence:
    """Return the evidence of pairs of canaries of which a fair coin put one in; the higher score is guessed in.

    Edge cases: equal scores of a pair are a wrong guess.
    Raises: ValueError: unequal numbers of scores.
    """
    pairs = len(scores.ins)
    if len(scores.outs) != pairs:
        raise ValueError(
            f"Expected pairs: as many scores out as in, one line a pair; got {len(scores.outs)} and {pairs}."
        )
    number = _number(rule, pairs, hypothesis)
    if number > pairs:
        raise ValueError(f"Expected guesses={number} to be at most the number of pairs, {pairs}.")
    with np.errstate(invalid="ignore"):
        gaps = np.nan_to_num(scores.ins - scores.outs, nan=0.0, posinf=np.inf, neginf=-np.inf)
    right = gaps > 0
    surest = right[np.lexsort((right, -np.abs(gaps)))][:number]
    hits = int(surest.sum())
    counts = Counts(
        runs=pairs,
        guesses=number,
        correct=hits,
        true_positives=hits,
        false_positives=number - hits,
        positives=pairs,
        negatives=pairs,
    )
    _, ranks = np.unique(np.abs(gaps), return_inverse=True)
    return OneRunEvidence(counts=counts, magnitudes=ranks + 1.0, right=right)


def _number(rule: Guesses, canaries: int, hypothesis: TradeOff) -> int:
    """Return how many guesses are counted: the stated number, or the best for the hypothesis; no score is read."""
    if rule.number is not None:
        return rule.number
    chosen = one_run_guesses(canaries, max(0.05, equal_error_mu(hypothesis)), 0.05)
    return min(canaries, max(1, chosen))


def _signed_ranks(pooled: Array) -> Array:
    """Return how far each score lies from the middle, in ranks of distinct values; reads the scores alone."""
    _, ranks = np.unique(pooled, return_inverse=True)
    return ranks - float(np.median(ranks))
