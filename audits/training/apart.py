"""The check of canaries that have rows of their own: each is guessed, and right guesses are counted.

Every step adds fresh Gaussian noise of the same size to each row, and a canary that is sampled moves its own row by at
most the clipping norm, whatever came before. So the score of an included canary is at most k C + N and that of a
left-out one is N, where k (how often it was sampled) and N (its noise) are independent between canaries. A guess
"included" above a threshold is right no more often than in this game, pathwise: right guesses are stochastically at
most Bin(m, accuracy), with no assumption on the model and on how canaries influence it. More noise than declared is a
post-processing, so that the best threshold's accuracy bounds it too.
"""

import math
from dataclasses import replace

import numpy as np
from scipy.special import bdtrc, ndtr
from scipy.stats import binom, chi2

from audits.bounds.binomial import proportion_lower
from audits.bounds.bisection import bisected, least_count
from audits.training.check import concluded, largest_factor, power_sentence
from dpaudit import Claim, training_epsilon
from dpaudit.model.mechanism import Array
from dpaudit.training import Training, Watch
from dpaudit.training.evidence import LoopCheck

APART = "the run clips, samples and takes steps as declared and adds Gaussian noise of one size, fresh in every row"
"""What the bound on epsilon rests on; the verdict against the declaration does not."""

_LEVEL = 1e-6
_LEAST, _HALVINGS = 1e-2, 30
_ROUNDING = 1e-12


def apart_accuracy(training: Training) -> tuple[float, float]:
    """Return how often the best guess of one canary is right under `training`, rounded up, and its threshold.

    Unit: of the threshold, clipping norms. Guarantee: no test of a fair coin for one record added is right more often,
    from the sum of the released rows.
    Source: Neyman and Pearson (1933): the likelihood ratio of a mixture of larger means rises with the sum.

    >>> training = Training(noise_multiplier=4, max_grad_norm=1, sample_rate=1, steps=16, records=100)
    >>> [round(number, 4) for number in apart_accuracy(training)]  # mu = 1: Phi(1/2)
    [0.6915, 8.0]
    """
    counts, shares = _sampled(training)
    spread = training.noise_multiplier * math.sqrt(training.steps)

    def falls_short(threshold: float) -> bool:
        return float((shares * np.exp(np.minimum(counts * (threshold - counts / 2) / spread**2, 700.0))).sum()) < 1

    threshold = bisected(falls_short, 0.0, float(training.steps), 100)[0]
    return min(1.0, _accuracy(training, 1.0, threshold) + _ROUNDING), threshold


def check_apart(watch: Watch, included: Array, training: Training, claim: Claim, significance: float) -> LoopCheck:
    """Return the check of canaries with rows of their own, against the declared noise, sampling and steps.

    Shape: `included` (m,) says which canaries were trained on. All canaries are guessed at the declared run's best
    threshold, which is fixed before the run. It decides only where the loop reported sums without noise, no row of an
    absent canary moved, and the noise of the rows has no part in common (at level 1e-6).
    `epsilon_lower` is the epsilon of the declared run with the largest noise that the guesses refute, see `assumption`.
    Guarantee: a run that is what it declares is flagged with probability at most `significance`.
    """
    canaries = len(included)
    seen = _seen(watch, training)
    accuracy, threshold = apart_accuracy(training)
    guessed = watch.scores() / training.max_grad_norm > threshold
    right = int((guessed == np.asarray(included, dtype=bool)).sum())
    needed = least_count(lambda count: bool(bdtrc(count - 1, canaries, accuracy) <= significance), -1, canaries + 1)
    wrong = not seen and right >= needed
    caught = 0.0
    if not seen and needed <= canaries:
        caught = largest_factor(
            lambda factor: float(bdtrc(needed - 1, canaries, _accuracy(training, factor, threshold)))
        )
    counted = f"{right} of {canaries} guesses about canaries in rows of their own were right"
    if seen:
        sentence = f"{counted}. {seen}"
    elif wrong:
        sentence = (
            f"{counted}: more than the declared noise, sampling and steps allow, {accuracy:.4g} of them on average."
        )
    else:
        sentence = f"{counted}. {power_sentence(caught)}"
    shown = 0.0 if seen else apart_epsilon(right, canaries, training, claim.delta, significance)
    if shown >= 0.01:
        least = math.floor(100 * shown) / 100
        sentence += f" They show epsilon {least:g} at delta {claim.delta:g} at least, if {APART}."
    return concluded("canaries apart", sentence, wrong=wrong, caught=caught, epsilon_lower=shown)


def apart_epsilon(right: int, canaries: int, training: Training, delta: float, significance: float) -> float:
    """Return the least epsilon at `delta` of the declared run with another size of noise that the guesses allow.

    Guarantee: under `APART`, exceeds epsilon with probability at most `significance`, if the canaries' rows are their
    own and the threshold of the guesses was fixed before the run.
    Edge cases: 0 at delta 0, at which Gaussian noise has no epsilon.

    >>> training = Training(noise_multiplier=4, max_grad_norm=1, sample_rate=1, steps=16, records=100)
    >>> round(apart_epsilon(6_915, 10_000, training, 1e-5, 0.05), 2)  # the run has 4.377
    4.16
    """
    accuracy = float(proportion_lower(right, canaries, significance))
    if delta == 0 or accuracy <= 0.5:
        return 0.0

    def refuted(log_factor: float) -> bool:
        return apart_accuracy(_with_noise(training, math.exp(log_factor)))[0] < accuracy

    low, high = math.log(_LEAST), -math.log(_LEAST)
    if not refuted(high):
        return 0.0
    factor = math.exp(bisected(lambda x: not refuted(x), low, high, _HALVINGS)[1])
    return training_epsilon(_with_noise(training, factor), delta)[0]


def _with_noise(training: Training, factor: float) -> Training:
    """Return the training with `factor` times its noise."""
    return replace(training, noise_multiplier=factor * training.noise_multiplier)


def _sampled(training: Training) -> tuple[Array, Array]:
    """Return how often a record may be sampled in the run, and with which probabilities."""
    counts = np.arange(training.steps + 1, dtype=float)
    return counts, np.asarray(binom.pmf(counts, training.steps, training.sample_rate))


def _accuracy(training: Training, factor: float, threshold: float) -> float:
    """Return how often guesses at `threshold` are right with `factor` times the declared noise."""
    counts, shares = _sampled(training)
    spread = factor * training.noise_multiplier * math.sqrt(training.steps)
    hit = float((shares * ndtr((counts - threshold) / spread)).sum())
    return (hit + float(ndtr(threshold / spread))) / 2


def _seen(watch: Watch, training: Training) -> str:
    """Return why the canaries are not known to be apart; nothing where the run showed it."""
    rows = watch.rows()
    absent = 0 if rows is None else int((~rows.present).sum())
    if rows is None or not absent:
        return "Whether other records move these rows is not known: report `summed`."
    strange = int((rows.norms[~rows.present] > 0).sum())
    if strange:
        looks = f"{strange} of {absent} looks"
        return f"Other records move these rows ({looks}), so that guesses depend on each other."
    scaled = float(np.square(rows.common).sum()) / (len(watch.slots.canaries) * training.stddev**2)
    if scaled > chi2.isf(_LEVEL, len(rows.common)):
        return "The noise of these rows has a part in common, so that guesses depend on each other."
    return ""
