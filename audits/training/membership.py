"""The check of a whole training run: which canaries were trained on?

The guesses use the sums of the released gradients. How many canaries are guessed, and the direction of each guess, are
fixed beforehand, for the declared run.
"""

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from audits.bounds.bisection import least_count
from audits.bounds.one_run import sensitive_guesses
from audits.bounds.one_run_trade_off import one_run_refutes, one_run_trade_off_bound
from audits.bounds.trade_offs import PrivateTradeOff
from audits.training.check import concluded, largest_factor, power_sentence, without_result
from dpaudit import Claim, training_curve
from dpaudit.model.mechanism import Array
from dpaudit.training import Training
from dpaudit.training.evidence import LoopCheck

_SIMULATED = 100


def check_run(
    scores: Array, included: Array, training: Training, claim: Claim, significance: float, rng: np.random.Generator
) -> LoopCheck:
    """Return the check of the whole run: against its claim, and against the privacy curve of its declaration.

    Shape: `scores` (m,), larger where a canary was probably trained on; `included` (m,), true for those.
    Both are tested by the recursion over right guesses, each at half the significance. The bound on epsilon holds for
    every algorithm.
    Guarantee: as for `one_run_refutes`. Edge cases: without canaries the check is inconclusive.
    """
    canaries = len(included)
    if canaries < 2:
        return without_result("whole run", "No canary was planted.")
    share = significance / 2
    declared = PrivateTradeOff(points=training_curve(training))
    guesses, right = right_guesses(scores, included, training, claim, significance)
    bound = one_run_trade_off_bound(canaries, guesses, right, claim.delta, share)
    claimed = PrivateTradeOff.of(claim.epsilon, claim.delta)

    def refuted(count: int, trade_off: PrivateTradeOff) -> bool:
        return one_run_refutes(canaries, guesses, count, trade_off, share)

    false_claim, other_run = refuted(right, claimed), refuted(right, declared)
    needed = least_count(lambda n: refuted(n, claimed) or refuted(n, declared), -1, guesses + 1)
    seed = int(rng.integers(2**63))

    def power(factor: float) -> float:
        # One stream for all factors, so that the estimated power is nearly monotone in the factor.
        simulated = _simulated(training, canaries, guesses // 2, factor, np.random.Generator(np.random.PCG64(seed)))
        return float((simulated >= needed).mean())

    caught = largest_factor(power)
    counted = f"{right} of {guesses} guesses were right which canaries the run was trained on"
    if false_claim:
        shown = f"epsilon {bound.epsilon:.4g} at delta {claim.delta:g} at least"
        sentence = f"{counted}: the run leaks {shown}; {claim.epsilon:.4g} is claimed."
    elif other_run:
        sentence = f"{counted}: more than the declared noise, sampling and steps allow."
    else:
        sentence = f"{counted}. {power_sentence(caught)}"
    wrong = false_claim or other_run
    return concluded("whole run", sentence, wrong=wrong, caught=caught, epsilon_lower=bound.epsilon)


def right_guesses(
    scores: Array, included: Array, training: Training, claim: Claim, significance: float
) -> tuple[int, int]:
    """Return how many guesses the check of the whole run counts, and how many of them are right."""
    half = max(1, _guesses(len(included), claim, training, significance / 2) // 2)
    return 2 * half, int(_correct(scores[None], included[None], half)[0])


@lru_cache(maxsize=64)
def _guesses(canaries: int, claim: Claim, training: Training, share: float) -> int:
    """Return the number of guesses that catches the smallest violation; it follows from what is declared alone."""
    curves = PrivateTradeOff.of(claim.epsilon, claim.delta), PrivateTradeOff(points=training_curve(training))
    return sensitive_guesses(
        canaries,
        lambda guesses, right: any(one_run_refutes(canaries, guesses, right, curve, share) for curve in curves),
    )


def without_direction(check: LoopCheck) -> LoopCheck:
    """Return the check where no direction of the canaries is known: its power is not known either."""
    if check.verdict == "violation":
        return check
    sentence = (
        f"{check.sentence.partition('.')[0]}. The directions of canaries in this network are not known, nor the power."
    )
    return replace(check, verdict="inconclusive", noise_caught=0.0, sentence=sentence)


def _simulated(training: Training, canaries: int, half: int, factor: float, rng: np.random.Generator) -> Array:
    """Return right guesses of runs that clip and sample as declared and add `factor` times the declared noise."""
    shape = (_SIMULATED, canaries)
    included = rng.random(shape) < 0.5
    taken = rng.binomial(training.steps, min(training.sample_rate, 1.0), shape) * included
    noise = rng.standard_normal(shape) * (factor * training.noise_multiplier * math.sqrt(training.steps))
    return _correct(taken + noise, included, half)


def _correct(scores: Array, included: Array, half: int) -> Array:
    """Return right guesses a run: the `half` largest scores are guessed included, the `half` smallest not."""
    order = np.argsort(scores, axis=1, kind="stable")
    right = np.take_along_axis(included, order, axis=1)
    return right[:, len(right[0]) - half :].sum(axis=1) + half - right[:, :half].sum(axis=1)
