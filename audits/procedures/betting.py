"""The state of an anytime audit: e-processes of several scores, mixed by fixed shares.

A given score bets from the first run. A learner bets beside it, taught by earlier blocks only: the one of three
learners that explained the labels best so far. The wealth of the audit is the average of both wealths with fixed
shares, so it is at least the larger one times its share. A small share bets on the last bits of floating-point
outputs where these are part of the claim.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from audits.attacks.classifier import learn_score
from audits.attacks.logistic import log_likelihood
from audits.attacks.low_bits import learn_bit_odds
from audits.attacks.thresholds import learn_thresholds, learn_violation
from audits.bounds.e_process import LEVELS, EProcess, lowest_survivor, run_gains
from audits.decision.events import rounded
from audits.experiment.execution import Observed
from audits.experiment.function_case import FunctionCase
from audits.experiment.trials import together
from audits.procedures.prior_evidence import PriorEvidence
from dpaudit import AuditCase, Claim
from dpaudit.model.case import Score
from dpaudit.model.mechanism import Array

_MOST_LEARNED = 20_000
_GIVEN_SHARE = 0.9
_BITS_SHARE = 0.02
_BOOSTED_FROM = 200


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Betting:
    """What a stopped audit needs to continue: the e-processes, their scores so far, and the runs to learn from.

    `processes` and `scores` have one entry a bettor; the last one reads last bits of a function's outputs, and of noise
    on a coarse grid alone where the claim takes exact arithmetic for granted. Its share is 0 for other cases. `credit`
    is the log likelihood of the labels under each learner.
    `stopped` is the number of runs after which the claim was refuted, None while it is not. `interrupted` says that
    Ctrl-C ended the audit.
    """

    claim: Claim
    before: PriorEvidence
    shares: Array
    credit: Array
    processes: tuple[EProcess, ...]
    mixed: Array
    best: Array
    against: float
    scores: Array
    labels: Array
    seen: tuple[Observed, ...]
    stopped: int | None = None
    interrupted: bool = False

    @classmethod
    def fresh(cls, case: AuditCase, before: PriorEvidence) -> "Betting":
        """Return the state before the first run, with the wealth that earlier audits left."""
        attack = np.array([1.0]) if case.score is None else np.array([_GIVEN_SHARE, 1 - _GIVEN_SHARE])
        read = isinstance(case, FunctionCase) and case.score is None
        bits = _BITS_SHARE if read else 0.0
        shares = np.append((1 - bits) * attack, bits)
        return cls(
            claim=before.claim,
            before=before,
            shares=shares,
            credit=np.zeros(3),
            processes=tuple(EProcess.fresh(before.claim.delta) for _ in shares),
            mixed=np.array(before.wealth),
            best=np.array(before.best),
            against=before.against,
            scores=np.zeros((len(shares), 0)),
            labels=np.zeros(0, dtype=bool),
            seen=(),
        )

    @property
    def runs(self) -> int:
        """How many runs were counted."""
        return len(self.labels)

    @property
    def evidence(self) -> PriorEvidence:
        """What the next audit may continue with."""
        return PriorEvidence(
            claim=self.claim,
            against=self.against,
            wealth=tuple(self.mixed.tolist()),
            best=tuple(self.best.tolist()),
            runs=self.before.runs + self.runs,
        )

    def lower(self, significance: float) -> float:
        """Return the lower bound of an audit at `significance`; it holds at every stopping time.

        The claim is one of the levels. Until it is refuted, levels at or above it do not count; it is refuted only
        after all levels below it. So the bound exceeds the truth only if one fixed level is refuted: the first at or
        above the truth.
        """
        grid = lowest_survivor(self.best, significance)
        if self.stopped is None:
            return min(grid, float(LEVELS[self.claim.epsilon > LEVELS].max(initial=0.0)))
        return max(grid, math.nextafter(self.claim.epsilon, math.inf))

    @property
    def leader(self) -> int:
        """The bettor with the largest wealth; last bits only where they have the largest wealth against the claim."""
        if self.led_by_bits:
            return len(self.processes) - 1
        return int(np.argmax([process.wealth.max() for process in self.processes[:-1]]))

    @property
    def led_by_bits(self) -> bool:
        """Whether the last bits have the largest wealth against the claim, counted with their share."""
        level = min(int(np.searchsorted(LEVELS, self.claim.epsilon)), len(LEVELS) - 1)
        wealth = np.array([process.wealth[level] for process in self.processes]) + _logarithm(self.shares)
        return self.runs > 0 and int(np.argmax(wealth)) == len(wealth) - 1

    def bits_lower(self, significance: float) -> float:
        """Return the bound that last bits alone show at their share of `significance`, or at all of it without one."""
        return self.processes[-1].lower(significance * (float(self.shares[-1]) or 1.0))

    def advanced(
        self,
        block: Observed,
        given: Score | None,
        learners: tuple[Score | None, ...],
        bits: Score | None,
        significance: float,
    ) -> "Betting":
        """Return the state after one block, scored by a given score and by learners that have not seen the block."""
        learned = np.stack([_scored(learner, block) for learner in learners])
        bets = learned[int(np.argmax(self.credit))]
        scores = np.stack([*(() if given is None else (_scored(given, block),)), bets, _scored(bits, block)])
        processes = tuple(p.extended(s, block.labels, looks=1) for p, s in zip(self.processes, scores, strict=True))
        mixed = np.array(self.before.wealth) + _log_average([p.wealth for p in processes], self.shares)
        all_scores = np.concatenate([self.scores, scores], axis=1)
        labels = np.concatenate([self.labels, block.labels])
        path = self._against(all_scores, labels)
        best = np.maximum(self.best, mixed)
        room = sum(map(len, self.seen)) < _MOST_LEARNED
        return replace(
            self,
            processes=processes,
            credit=self.credit + log_likelihood(learned, block.labels),
            mixed=mixed,
            best=best,
            against=float(path[-1]),
            scores=all_scores,
            labels=labels,
            seen=(*self.seen, block) if room else self.seen,
            stopped=self._stopped(path, best, -math.log(significance)),
        )

    def _against(self, scores: Array, labels: Array) -> Array:
        """Return the logarithm of the wealth against the claim after each run. Shape: (bettors, n), (n,) to (n,)."""
        gains = np.stack([run_gains(s, labels, self.claim.epsilon, self.claim.delta) for s in scores])
        return self.before.against + _log_average(list(np.cumsum(gains, axis=1)), self.shares)

    def _stopped(self, path: Array, best: Array, enough: float) -> int | None:
        """Return after how many runs the wealth against the claim, and at all levels below, was enough."""
        crossed = np.flatnonzero(path >= enough)
        all_below = bool((best[self.claim.epsilon > LEVELS] >= enough).all())
        return int(crossed[0]) + 1 if len(crossed) and all_below else None


def learners_of(state: Betting, rng: np.random.Generator) -> tuple[Score | None, ...]:
    """Return three learners taught by earlier blocks: one that assumes a violation, a quick one, a thorough one.

    An untrained learner is None.
    """
    if not state.seen:
        return (None, None, None)
    lesson = together(*state.seen)
    view, labels = lesson.kept, lesson.labels
    thorough = learn_score(view, labels, rng) if len(labels) >= _BOOSTED_FROM else None
    return (learn_violation(view, labels, state.claim.epsilon), learn_thresholds(view, labels, rng), thorough)


def bits_of(state: Betting, *, rounded: bool, exact: bool = False) -> Score | None:
    """Return the log odds from last bits that earlier blocks taught, or None.

    Of outputs that are known to be `rounded` by their data, those are taken that promise an epsilon above the claim.
    With `exact` arithmetic, noise on a coarse grid alone is read.
    """
    if not state.seen:
        return None
    lesson = together(*state.seen)
    above = state.claim.epsilon if rounded and not exact else math.inf
    return learn_bit_odds(lesson.kept, lesson.labels, rounded_above=above, exact=exact)


def _logarithm(shares: Array) -> Array:
    """Return logarithms; minus infinity for 0."""
    with np.errstate(divide="ignore"):
        return np.log(shares)


def _log_average(log_wealth: list[Array], shares: Array) -> Array:
    """Return the logarithm of the average wealth of several bettors, with the given shares."""
    return np.logaddexp.reduce(np.stack(log_wealth) + _logarithm(shares)[:, None], axis=0)


def _scored(score: Score | None, block: Observed) -> Array:
    """Return the scores of a block; an untrained learner scores 0."""
    return np.zeros(len(block)) if score is None else rounded(score(block.kept))
