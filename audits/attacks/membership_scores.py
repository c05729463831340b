"""Membership scores of records from the confidences of a trained model and of shadow models, all records at once.

A confidence is the probability that a model gives the true class. Shadow models are trained like the target, each on a
random part of the records. Scores are larger where membership is more likely; `audit_scores` says what they show. The
shadows must not be the models that are counted.
"""

import numpy as np

from dpaudit.model.mechanism import Array

_LEAST_SPREAD = 1e-6
_SMALLEST = 1e-12


def scaled_confidence(confidence: Array) -> Array:
    """Return ln(p / (1 - p)), which is nearly normal over models; confidences of 0 and 1 are moved by 1e-12.

    >>> scaled_confidence(np.array([0.5, 1.0])).round(1).tolist()
    [0.0, 27.6]
    """
    p = np.clip(np.asarray(confidence, dtype=float), _SMALLEST, 1 - _SMALLEST)
    return np.log(p) - np.log1p(-p)


def loss_scores(confidence: Array) -> Array:
    """Return minus the loss of each record under the target model: the attack without shadows.

    Shape: (records,). Source: Yeom et al. (2018).

    >>> loss_scores(np.array([1.0, 0.5])).round(3).tolist()
    [0.0, -0.693]
    """
    return np.log(np.maximum(np.asarray(confidence, dtype=float), _SMALLEST))


def online_scores(confidence: Array, shadows: Array, included: Array) -> Array:
    """Return the log likelihood ratio of two normal laws, fitted to shadows with and without each record.

    Shape: `confidence` (records,) of the target, `shadows` and `included` (models, records).
    Edge cases: both laws of a record have one variance, at least 1e-12; a record without a shadow on one side gets 0.
    Source: Carlini et al. (2022), online attack, with a shared variance.

    >>> shadows = np.array([[0.9, 0.5], [0.8, 0.5], [0.4, 0.6], [0.5, 0.5]])
    >>> included = np.array([[True, True], [True, False], [False, True], [False, False]])
    >>> bool(online_scores(np.array([0.9, 0.5]), shadows, included)[0] > 0)
    True
    """
    target, values = scaled_confidence(confidence), scaled_confidence(shadows)
    with_record, first = _mean(values, included)
    without, second = _mean(values, ~included)
    residuals = values - np.where(included, with_record, without)
    variance = np.maximum((residuals**2).mean(axis=0), _LEAST_SPREAD**2)
    scores: Array = ((target - without) ** 2 - (target - with_record) ** 2) / (2 * variance)
    return np.where(first & second, scores, 0.0)


def offline_scores(confidence: Array, shadows: Array, included: Array) -> Array:
    """Return how far the target's scaled confidence lies above that of shadows without the record, in deviations.

    Shape and edge cases: as for `online_scores`; only shadows without a record are read.
    Source: Carlini et al. (2022), offline attack.

    >>> shadows = np.array([[0.4, 0.5], [0.5, 0.6], [0.45, 0.55]])
    >>> scores = offline_scores(np.array([0.9, 0.5]), shadows, np.zeros((3, 2), dtype=bool))
    >>> bool(scores[0] > 5 > scores[1])
    True
    """
    target, values = scaled_confidence(confidence), scaled_confidence(shadows)
    without, has_shadow = _mean(values, ~included)
    squares, _ = _mean((values - without) ** 2, ~included)
    scores: Array = (target - without) / np.sqrt(np.maximum(squares, _LEAST_SPREAD**2))
    return np.where(has_shadow, scores, 0.0)


def relative_scores(
    confidence: Array, shadows: Array, included: Array, population: Array, shadow_population: Array
) -> Array:
    """Return the share of population records over which a record's confidence has risen more than theirs.

    The rise of a record is its confidence over its average, half of it from shadows with the record and half from
    those without. Shape: `population` (others,) under the target, `shadow_population` (models, others).
    Source: Zarifzadeh, Liu and Shokri (2024), RMIA with gamma 1.

    >>> shadows, included = np.array([[0.8, 0.5], [0.4, 0.5]]), np.array([[True, True], [False, False]])
    >>> relative_scores(np.array([0.9, 0.4]), shadows, included, np.array([0.5, 0.5]), np.full((2, 2), 0.5)).tolist()
    [1.0, 0.0]
    """
    with_record, first = _mean(np.asarray(shadows, dtype=float), included)
    without, second = _mean(np.asarray(shadows, dtype=float), ~included)
    average = np.where(first & second, (with_record + without) / 2, with_record + without)
    rise = np.asarray(confidence, dtype=float) / np.maximum(average, _SMALLEST)
    others = np.asarray(population, dtype=float) / np.maximum(np.mean(shadow_population, axis=0), _SMALLEST)
    below = np.searchsorted(np.sort(others), rise, side="left")
    return below / len(others)


def _mean(values: Array, chosen: Array) -> tuple[Array, Array]:
    """Return the mean of the chosen models for each record, and whether there is one; 0 where there is none."""
    numbers = chosen.sum(axis=0)
    means: Array = np.where(chosen, values, 0.0).sum(axis=0) / np.maximum(numbers, 1)
    return means, numbers > 0
