"""What canaries of one training run say: layer 1 about each step, layer 2 about the run, each with its power.

Layer 1 knows which batches a canary was in and asks how well one noisy step tells: with noise of multiplier z no test
of a fair coin is right more often than Phi(1 / (2 z)). Layer 2 guesses which canaries were trained on, from the sums
of what was released; the share that is guessed and the direction are fixed beforehand. The power of both is given as
the factor of missing noise that would have been caught nine times in ten.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc, ndtr

from audits.bounds.gaussian import gaussian_bound, gaussian_epsilon
from audits.bounds.one_run import one_run_bound, one_run_p_value
from dpaudit import Claim, Counts, Training, Watch
from dpaudit.model.audit_result import AuditVerdict
from dpaudit.model.mechanism import Array

GUESSED = 1 / 3
"""The share of canaries that layer 2 guesses, those with extreme scores."""

_POWER = 0.9
_SIMULATED = 100
_HALVINGS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer's verdict; `noise_caught` is the factor of missing noise that it would have caught, 0 if none.

    `epsilon_lower` and `epsilon` are what was shown and what is declared, of one step or of the whole run.
    """

    name: str
    verdict: AuditVerdict
    noise_caught: float
    sentence: str
    epsilon_lower: float = 0.0
    epsilon: float = 0.0
    rule: str = ""


def step_layer(
    watch: Watch, training: Training, delta: float, significance: float, rng: np.random.Generator
) -> tuple[Layer, ...]:
    """Return layer 1, or nothing where the loop did not report its batches or no canary was sampled.

    A canary's projection in a step is taken where it was in the batch on heads, where it was not on tails.
    Guarantee: steps with independent Gaussian noise of the declared size are accused with probability
    `significance` at most.
    """
    present = watch.presence()
    if present is None:
        return ()
    values = np.array(watch.projections)
    inside, outside = rng.permutation(values[present]), rng.permutation(values[~present])
    events = min(len(inside), len(outside))
    if events < 10 or delta == 0:
        return ()
    heads = rng.random(events) < 0.5
    guessed = np.where(heads, inside[:events], outside[:events]) > training.max_grad_norm / 2
    counts = _counts(heads, guessed)
    bound = gaussian_bound(counts, delta, significance)
    shift = 1 / training.noise_multiplier
    declared = gaussian_epsilon(shift, delta)
    wrong = bound.epsilon > declared
    needed = _least(lambda right: gaussian_bound(_right(right, events), delta, significance).epsilon > declared, events)
    caught = _largest_factor(
        lambda factor: float(bdtrc(needed - 1, events, ndtr(shift / factor / 2))) if needed <= events else 0.0
    )
    sentence = (
        f"One step is shown to leak epsilon {bound.epsilon:.4g} at delta {delta:g}; its declared noise allows "
        f"{declared:.4g}."
        if wrong
        else _power_sentence(caught)
    )
    return (
        Layer(
            name="one step",
            verdict=_verdict(wrong, caught),
            noise_caught=caught,
            sentence=sentence,
            epsilon_lower=bound.epsilon,
            epsilon=declared,
            rule="DPA330" if wrong else "",
        ),
    )


def run_layer(
    scores: Array, included: Array, training: Training, claim: Claim, significance: float, rng: np.random.Generator
) -> Layer:
    """Return layer 2: a bound on the whole run's epsilon that holds for every algorithm.

    Shape: `scores` (m,), larger where a canary was probably trained on; `included` (m,), the coins.
    Guarantee: as for `one_run_bound`. Edge cases: without canaries the layer is inconclusive.
    """
    canaries = len(included)
    half = max(1, round(canaries * GUESSED / 2)) if canaries > 1 else 0
    correct = _correct(scores[None], included[None], half)
    guesses = 2 * half
    if not guesses:
        return Layer(name="whole run", verdict="inconclusive", noise_caught=0.0, sentence="No canary was planted.")
    bound = one_run_bound(canaries, guesses, int(correct[0]), claim.delta, significance)
    wrong = bound.epsilon > claim.epsilon
    needed = _least(
        lambda right: one_run_p_value(canaries, guesses, right, claim.epsilon, claim.delta) < significance, guesses
    )
    seed = int(rng.integers(2**63))

    def power(factor: float) -> float:
        # One stream for all factors: the answer is monotone in the factor up to what a hundred runs can tell.
        right = _simulated(training, canaries, half, factor, np.random.Generator(np.random.PCG64(seed)))
        return float((right >= needed).mean())

    caught = _largest_factor(power)
    sentence = (
        f"{correct[0]} of {guesses} guesses were right: the run leaks epsilon {bound.epsilon:.4g} at delta "
        f"{claim.delta:g} at least; {claim.epsilon:.4g} is claimed."
        if wrong
        else f"{correct[0]} of {guesses} guesses were right. {_power_sentence(caught)}"
    )
    return Layer(
        name="whole run",
        verdict=_verdict(wrong, caught),
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
    """Return right guesses a run: the `half` largest scores are guessed in, the `half` smallest out."""
    order = np.argsort(scores, axis=1, kind="stable")
    right = np.take_along_axis(included, order, axis=1)
    found: Array = right[:, len(right[0]) - half :].sum(axis=1) + half - right[:, :half].sum(axis=1)
    return found


def _counts(heads: Array, guessed: Array) -> Counts:
    """Return the counts of one guess an event."""
    right = int((heads == guessed).sum())
    return Counts(
        runs=len(heads),
        guesses=len(heads),
        correct=right,
        true_positives=int((guessed & heads).sum()),
        false_positives=int((guessed & ~heads).sum()),
        positives=int(heads.sum()),
        negatives=int((~heads).sum()),
    )


def _right(right: int, events: int) -> Counts:
    """Return counts with `right` right guesses."""
    return _counts(np.ones(events, dtype=bool), np.arange(events) < right)


def _least(rejects: Callable[[int], bool], most: int) -> int:
    """Return the smallest count that is rejected, or `most` + 1 where none is."""
    low, high = 0, most + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle <= most and rejects(middle) else (middle + 1, high)
    return low


def _largest_factor(power: Callable[[float], float]) -> float:
    """Return the largest factor below 1 whose missing noise is caught with the wanted power; 0 where none is."""
    low, high = math.log(1e-3), 0.0
    if power(math.exp(low)) < _POWER:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if power(math.exp(middle)) >= _POWER else (low, middle)
    return math.exp(low)


def _verdict(wrong: bool, caught: float) -> AuditVerdict:  # noqa: FBT001 - a test's outcome
    """Return the verdict: nothing is called consistent that no missing noise would have changed."""
    if wrong:
        return "violation"
    return "consistent" if caught else "inconclusive"


def _power_sentence(caught: float) -> str:
    """Return what would have been caught, in words."""
    if not caught:
        return "Even a run with next to no noise would have passed: this says nothing."
    return f"Noise below {caught:.3g} times the declared would have been caught."
