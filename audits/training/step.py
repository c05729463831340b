"""The check of one training step: was a canary in this batch?

The check knows which batches a canary was in and measures how well one noisy step shows it: with noise of multiplier z
no test of a fair coin is right more often than Phi(1 / (2 z)).
"""

import numpy as np
from scipy.special import bdtrc, ndtr

from audits.bounds.bisection import least_count
from audits.bounds.error_rates import guess_counts, threshold_counts
from audits.bounds.gaussian import gaussian_bound, gaussian_epsilon
from audits.training.check import concluded, largest_factor, power_sentence
from dpaudit.model.audit_result import Counts
from dpaudit.training import Training, Watch
from dpaudit.training.evidence import LoopCheck


def check_step(
    watch: Watch, training: Training, delta: float, significance: float, rng: np.random.Generator
) -> tuple[LoopCheck, ...]:
    """Return the check of one step; nothing where the loop did not report its batches or no canary was sampled.

    Nor is there a check where no direction of the canaries is known.

    A fair coin decides for each event whether to take a projection of a step with the canary in the batch or without.
    Guarantee: steps with independent Gaussian noise of the declared size are flagged with probability
    `significance` at most.
    """
    present = watch.presence()
    if present is None or not watch.slots.directed:
        return ()
    values = np.array(watch.projections)
    inside, outside = rng.permutation(values[present]), rng.permutation(values[~present])
    events = min(len(inside), len(outside))
    if events < 10 or delta == 0:
        return ()
    labels = rng.random(events) < 0.5
    guessed = np.where(labels, inside[:events], outside[:events]) > training.max_grad_norm / 2
    counts = guess_counts(labels, np.where(guessed, 1, -1), guessed)
    bound = gaussian_bound(counts, delta, significance)
    shift = 1 / training.noise_multiplier
    declared = gaussian_epsilon(shift, delta)
    wrong = bound.epsilon > declared
    needed = least_count(
        lambda right: gaussian_bound(_right(right, events), delta, significance).epsilon > declared, -1, events + 1
    )
    caught = largest_factor(
        lambda factor: float(bdtrc(needed - 1, events, ndtr(shift / factor / 2))) if needed <= events else 0.0
    )
    sentence = (
        f"One step is shown to leak epsilon {bound.epsilon:.4g} at delta {delta:g}; its declared noise allows "
        f"{declared:.4g}."
        if wrong
        else f"{counts.correct} of {events} guesses were right whether a step had a canary. {power_sentence(caught)}"
    )
    return (concluded("one step", sentence, wrong=wrong, caught=caught, epsilon_lower=bound.epsilon),)


def _right(right: int, events: int) -> Counts:
    """Return the counts of a test that is right on `right` of the events, all of which are positives."""
    return threshold_counts(right, 0, events, 0)
