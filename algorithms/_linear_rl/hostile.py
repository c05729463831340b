"""Users whose features or targets are out of all bounds, or no numbers: what replays feed in beside the usual ones."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from dpaudit.model.mechanism import Array

FACTORS = (np.nan, np.inf, 1e150, 3.0)
"""What features and targets are multiplied by."""

User = TypeVar("User", bound=Any)
"""A frozen record of one user with the fields `features` and `targets`."""


def times(values: Array, factor: float) -> Array:
    """Return multiplied values; 0 times infinity is not a number."""
    with np.errstate(invalid="ignore"):
        return values * factor


def features_times(user: User, factor: float) -> User:
    """Return the user with multiplied features."""
    return replace(user, features=times(user.features, factor))


def targets_times(user: User, factor: float) -> User:
    """Return the user with multiplied targets."""
    return replace(user, targets=times(user.targets, factor))


def features_in_a_corner(user: User) -> User:
    """Return the user with features whose entries are all as large as the largest, which a bound on entries admits."""
    features = np.asarray(user.features)
    corner = np.where(features < 0, -1.0, 1.0) * np.abs(features).max(axis=-1, keepdims=True)
    return replace(user, features=corner)
