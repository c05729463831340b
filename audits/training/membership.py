"""The check of a whole training run: which canaries were trained on?

The guesses use the sums of the released gradients. The share of canaries that is guessed, and the direction of the
guess, are fixed beforehand.
"""

import math

import numpy as np

from audits.bounds.bisection import least_count
from audits.bounds.one_run import one_run_bound, one_run_p_value
from audits.training.check import TrainingCheck, largest_factor, power_sentence, quiet_verdict
from dpaudit import Claim, Training
from dpaudit.model.mechanism import Array

GUESSED = 1 / 3
"""The share of canaries that are guessed, those with extreme scores."""

_SIMULATED = 100


def check_run(
    scores: Array, included: Array, training: Training, claim: Claim, significance: float, rng: np.random.Generator
) -> TrainingCheck:
    """Return the check of the whole run: a bound on its epsilon that holds for every algorithm.

    Shape: `scores` (m,), larger where a canary was probably trained on; `included` (m,), true for those.
    Guarantee: as for `one_run_bound`. Edge cases: without canaries the check is inconclusive.
    """
    canaries = len(included)
    half = max(1, round(canaries * GUESSED / 2)) if canaries > 1 else 0
    correct = _correct(scores[None], included[None], half)
    guesses = 2 * half
    if not guesses:
        return TrainingCheck(
            name="whole run", verdict="inconclusive", noise_caught=0.0, sentence="No canary was planted."
        )
    bound = one_run_bound(canaries, guesses, int(correct[0]), claim.delta, significance)
    wrong = bound.epsilon > claim.epsilon
    needed = least_count(
        lambda right: one_run_p_value(canaries, guesses, right, claim.epsilon, claim.delta) < significance,
        -1,
        guesses + 1,
    )
    seed = int(rng.integers(2**63))

    def power(factor: float) -> float:
        # One stream for all factors, so that the estimated power is nearly monotone in the factor.
        right = _simulated(training, canaries, half, factor, np.random.Generator(np.random.PCG64(seed)))
        return float((right >= needed).mean())

    caught = largest_factor(power)
    sentence = (
        f"{correct[0]} of {guesses} guesses were right: the run leaks epsilon {bound.epsilon:.4g} at delta "
        f"{claim.delta:g} at least; {claim.epsilon:.4g} is claimed."
        if wrong
        else f"{correct[0]} of {guesses} guesses were right. {power_sentence(caught)}"
    )
    return TrainingCheck(
        name="whole run",
        verdict="violation" if wrong else quiet_verdict(caught),
        noise_caught=caught,
        sentence=sentence,
        epsilon_lower=bound.epsilon,
        epsilon=claim.epsilon,
        rule="DPA331" if wrong else "",
    )


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
    correct: Array = right[:, len(right[0]) - half :].sum(axis=1) + half - right[:, :half].sum(axis=1)
    return correct
