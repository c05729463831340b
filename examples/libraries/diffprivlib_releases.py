"""diffprivlib: whole-number noise, a histogram and a count. `[library]`, `object = "diffprivlib_releases:noise"`."""

import numpy as np
from diffprivlib import mechanisms, tools

from dpaudit.adapters import adapt


def noise():
    return adapt(mechanisms.Geometric(epsilon=1.0, sensitivity=1), neighbours="replace_one", pair=(0, 1))


def histogram():
    pair = np.array([0.1]), np.array([0.1, 0.9])
    return adapt(tools.histogram, neighbours="add_remove", pair=pair, epsilon=1.0, bins=2, range=(0.0, 1.0))


def nonzero():
    pair = np.array([1.0, 0.0]), np.array([1.0, 1.0])
    return adapt(tools.count_nonzero, neighbours="replace_one", pair=pair, epsilon=1.0)
