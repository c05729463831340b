"""Other records for the replay of a loop: of the same number and shape, made from those that are given."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.model.mechanism import Array
from dpaudit.training import Watch

_FAR = 5
"""One record in so many is far from the others; they stand last, so that they are last in sorted batches."""

ALL_ALIKE = "records that are all alike"
"""How the kind of such records ends."""

FITTED = "records that the model fits"
"""Their gradients are short at the end of training, so that clipping does not hide what else moves them."""

_FARTHEST, _EASY, _TABLE = 1e3, 5.0, 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """What a loop trains on. Shape: features (n, ...), labels (n, ...)."""

    features: Array
    labels: Array


def other_records(records: Records) -> Records:
    """Return records of which none stands in its former place: reversed, first near 0, last far, with other labels.

    Features that are whole numbers keep their values, as they may be places in a table.

    >>> other = other_records(Records(features=np.array([[1, 2], [3, 4]]), labels=np.array([0, 1])))
    >>> other.features.tolist(), other.labels.tolist()
    ([[3, 4], [1, 2]], [0, 1])
    """
    features = np.array(records.features[::-1])
    if _is_measured(features):
        last = max(1, len(features) // _FAR)
        sizes = np.geomspace(1.0, _FARTHEST, last) * (-1.0) ** np.arange(last)
        scale = np.ones(len(features))
        scale[:last] = 1 / _FARTHEST  # gradients that no clipping changes
        scale[-last:] = np.random.Generator(np.random.PCG64(0)).permutation(sizes)
        features = (features * scale.reshape(-1, *[1] * (features.ndim - 1))).astype(features.dtype)
    return Records(features=features, labels=_next_label(np.array(records.labels[::-1])))


def one_changed(records: Records, batches: Sequence[Array]) -> tuple[Array, Records]:
    """Return the place of one record that is in many batches, and the records with another one there.

    It is on the other side and much farther away, so that it moves sums and means of all records, of their sizes too.
    """
    features, labels = np.array(records.features), np.array(records.labels)
    times = np.bincount(np.concatenate([np.arange(0), *batches]).astype(np.int64), minlength=len(labels))
    last = len(labels) - max(1, len(labels) // _FAR)
    index = last + int(times[last:].argmax())
    features[index] = -_FARTHEST * features[index] if _is_measured(features) else features[0]
    labels[index] = _next_label(labels)[index]
    return np.array([index]), Records(features=features, labels=labels)


def alike_records(records: Records) -> dict[str, Records]:
    """Return, by their kind, records that are all the same, but for one of each other label: far from 0 and near it.

    The sum of such a batch is as many times one clipped gradient as there are records in it, so that its length shows
    the clipping of one gradient over all parameters. Far ones have the first label and near ones the last, so that
    every count of a label is large in some batches and next to nothing in others.
    """
    features, labels = np.asarray(records.features), np.asarray(records.labels)
    _, firsts = np.unique(labels.reshape(len(labels), -1), axis=0, return_index=True)
    others = np.setdiff1d(np.arange(len(labels)), firsts)
    measured = {"far": (_EASY, firsts[0]), "near": (1 / _FARTHEST, firsts[-1])}
    as_they_are = {"first": (1, firsts[0]), "last": (1, firsts[-1])}
    made: dict[str, Records] = {}
    for kind, (factor, like) in (measured if _is_measured(features) else as_they_are).items():
        equal, named = np.array(features), np.array(labels)
        equal[others] = (factor * features[like]).astype(features.dtype)
        named[others] = labels[like]
        made[f"{kind} {ALL_ALIKE}"] = Records(features=equal, labels=named)
    return made


def relabelled(records: Records, watch: Watch) -> dict[str, Records]:
    """Return, by their kind, records with the labels that the trained model finds most likely and least likely.

    They make exact losses and accuracies as good and as bad as can be. Nothing where no model is known, or where it
    takes other inputs than the features.
    """
    if watch.predict is None or np.ndim(records.labels) != 1:
        return {}
    features = np.array(records.features)
    features = (features * _EASY).astype(features.dtype) if _is_measured(features) else features
    try:
        scores = np.asarray(watch.predict(features), dtype=np.float64)
    except Exception:  # a model that takes other inputs than the features is not asked
        return {}
    classes = np.unique(records.labels)
    if scores.ndim != _TABLE or len(scores) != len(features) or not 0 <= classes[0] <= classes[-1] < scores.shape[1]:
        return {}
    likely = scores[:, classes.astype(np.int64)]
    chosen = {
        FITTED: likely.argmax(axis=1),
        "records that it does not fit": likely.argmin(axis=1),
    }
    return {what: Records(features=features, labels=classes[at]) for what, at in chosen.items()}


def _is_measured(features: Array) -> bool:
    """Return whether features are real numbers rather than whole ones."""
    return features.dtype.kind == "f" and bool((features != np.round(features)).any())


def _next_label(labels: Array) -> Array:
    """Return each label's next one among those that occur; real numbers change their sign."""
    if labels.dtype.kind == "f" and bool((labels != np.round(labels)).any()):
        return -labels
    values, places = np.unique(labels, return_inverse=True)
    return values[(places.reshape(labels.shape) + 1) % len(values)]
